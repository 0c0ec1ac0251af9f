/** The content of the webhook form, and the resulting request. */
import type { Webhook, WebhookRequest } from '@stepwright/sdk';

type Scheme = Webhook['scheme'];
type Effect = 'start' | 'publish';

export const SCHEMES: readonly { readonly scheme: Scheme; readonly label: string }[] = [
  { scheme: 'standard', label: 'Standard Webhooks' },
  { scheme: 'github', label: 'GitHub' },
  { scheme: 'stripe', label: 'Stripe' },
  { scheme: 'slack', label: 'Slack' },
  { scheme: 'hmac', label: 'HMAC in a header' },
];

export const EFFECTS: Readonly<Record<Effect, string>> = {
  start: 'Start a run',
  publish: 'Publish an event',
};

const SECRET_BYTES = 32;

export interface WebhookChoices {
  readonly name: string;
  readonly scheme: Scheme;
  /** Empty to keep the current one. */
  readonly secret: string;
  readonly effect: Effect;
  readonly definitionId: string;
  readonly reference: string;
  readonly eventName: string;
  readonly eventKey: string;
  /** An expression, or JSON; empty: the body of the call. */
  readonly data: string;
  readonly header: string;
  readonly algorithm: NonNullable<Webhook['algorithm']>;
  readonly encoding: NonNullable<Webhook['encoding']>;
  readonly prefix: string;
  readonly idHeader: string;
}

export function choicesOf(existing: Webhook | null): WebhookChoices {
  const { publish, start } = existing ?? {};
  return {
    name: existing?.name ?? '',
    scheme: existing?.scheme ?? 'standard',
    secret: '',
    effect: publish === undefined ? 'start' : 'publish',
    definitionId: start?.definitionId ?? '',
    reference: start?.reference ?? '',
    eventName: publish?.name ?? '',
    eventKey: publish?.key ?? '',
    data: textOf(publish?.data ?? start?.data),
    header: existing?.header ?? '',
    algorithm: existing?.algorithm ?? 'sha256',
    encoding: existing?.encoding ?? 'hex',
    prefix: existing?.prefix ?? '',
    idHeader: existing?.idHeader ?? '',
  };
}

export function requestOf(choices: WebhookChoices): WebhookRequest {
  const { data, definitionId, effect, eventKey, eventName, reference, scheme, secret } = choices;
  const given = data.trim() === '' ? {} : { data: dataOf(data) };
  return {
    scheme,
    ...(secret !== '' && { secret: secret.trim() }),
    ...(scheme === 'hmac' && hmacOf(choices)),
    ...(effect === 'publish'
      ? { publish: { name: eventName, key: eventKey, ...given } }
      : { start: { definitionId, ...(reference !== '' && { reference }), ...given } }),
  };
}

export function newSecret(scheme: Scheme): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const text = btoa(String.fromCharCode(...bytes));
  return scheme === 'standard' ? `whsec_${text}` : text;
}

function hmacOf(choices: WebhookChoices): Partial<WebhookRequest> {
  const { algorithm, encoding, header, idHeader, prefix } = choices;
  return {
    header: header.trim(),
    algorithm,
    encoding,
    ...(prefix !== '' && { prefix }),
    ...(idHeader.trim() !== '' && { idHeader: idHeader.trim() }),
  };
}

function textOf(data: unknown): string {
  if (data === undefined) return '';
  return typeof data === 'string' ? data : JSON.stringify(data, null, 2);
}

/** Objects and lists are JSON; everything else is an expression. */
function dataOf(text: string): NonNullable<WebhookRequest['start']>['data'] {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text) as NonNullable<WebhookRequest['start']>['data'];
  } catch {
    // A Python list or dictionary.
    return text;
  }
}
