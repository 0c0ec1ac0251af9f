/** Webhooks between host and wire. */
import { CONFLICT_SCOPES, ON_CONFLICT } from '../../../engine/model/start-options.js';
import { toChoice } from '../../../engine/values/convert-input.js';
import { setField, type Json, type JsonObject } from '../../../engine/values/json.js';
import type * as host from '../../../runtime/webhooks/webhook-types.js';
import type * as wire from '../models/webhook.js';
import { asJson } from '../../http/body-reader.js';
import { invalidMember, membersOf, refuseUnknown } from './body-members.js';
import { checkedName } from './name.js';
import { toWireTime } from './time.js';

const MEMBERS = membersOf<wire.WebhookRequest>({
  scheme: true,
  secret: true,
  publish: true,
  start: true,
  header: true,
  algorithm: true,
  encoding: true,
  prefix: true,
  idHeader: true,
});
const OF_HMAC = ['header', 'algorithm', 'encoding', 'prefix', 'idHeader'] as const;
const PUBLISH_MEMBERS = membersOf<wire.WebhookPublish>({ name: true, key: true, data: true });
const START_MEMBERS = membersOf<wire.WebhookStart>({
  definitionId: true,
  data: true,
  reference: true,
  onConflict: true,
  conflictScope: true,
});
/** The characters of a header name: RFC 9110, 5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const PREFIX_LENGTH_MAX = 100;
/** Characters that a header value can begin with: parsers strip leading blanks. */
const PREFIX = /^(?:[!-~][ -~]*)?$/;
/** Keeps its URL free of escapes. */
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** @throws AppError `invalid_request` */
export function checkedWebhookName(name: string): string {
  if (NAME.test(name)) return name;
  throw invalidMember(
    'The name of a webhook must have 1 to 100 letters, digits, dots, hyphens and underscores, and begin with a letter or digit',
    '',
  );
}

/** @throws AppError `invalid_request` */
export function toWebhookRequest(body: wire.WebhookRequest, actor: string): host.WebhookRequest {
  refuseUnknown(body, MEMBERS, '');
  return {
    signing: toScheme(body),
    effect: toEffect(body),
    secret: body.secret ?? null,
    actor,
  };
}

function toScheme(body: wire.WebhookRequest): host.WebhookScheme {
  const { algorithm = 'sha256', encoding = 'hex', header, idHeader, prefix = '', scheme } = body;
  if (scheme !== 'hmac') {
    const foreign = OF_HMAC.find((name) => body[name] !== undefined);
    if (foreign === undefined) return { scheme };
    throw invalidMember(`${foreign} belongs to the scheme hmac, not to ${scheme}`, `/${foreign}`);
  }
  if (header === undefined) {
    throw invalidMember('header is missing: the scheme hmac needs the header of the signature', '');
  }
  if (prefix.length > PREFIX_LENGTH_MAX) {
    const message = `prefix must have at most ${PREFIX_LENGTH_MAX} characters`;
    throw invalidMember(message, '/prefix');
  }
  if (!PREFIX.test(prefix)) {
    const message =
      'prefix must have ASCII characters only and not begin with a blank: no call could have it';
    throw invalidMember(message, '/prefix');
  }
  return {
    scheme,
    header: checkedHeader(header, 'header'),
    algorithm,
    encoding,
    prefix,
    idHeader: idHeader === undefined ? null : checkedHeader(idHeader, 'idHeader'),
  };
}

function checkedHeader(name: string, member: 'header' | 'idHeader'): string {
  if (!HEADER_NAME.test(name)) {
    throw invalidMember(`${member} is not the name of a header`, `/${member}`);
  }
  const lower = name.toLowerCase();
  if (!PRIVATE_HEADERS.has(lower) && !FRAMING_HEADERS.has(lower)) return name;
  const reason = PRIVATE_HEADERS.has(lower)
    ? 'it is for credentials, which webhooks do not read'
    : 'it says how a request is sent';
  const what = member === 'header' ? 'signature' : 'id of a delivery';
  throw invalidMember(
    `${member} must not be ${name}: ${reason}, so no ${what} can be in it`,
    `/${member}`,
  );
}

function toEffect({ publish, start }: wire.WebhookRequest): host.WebhookEffect {
  if ((publish === undefined) === (start === undefined)) {
    throw invalidMember('Exactly one of publish and start is required', '');
  }
  if (publish !== undefined) {
    refuseUnknown(publish, PUBLISH_MEMBERS, '/publish');
    const { data, key, name } = publish;
    return { publish: { name, key, ...(data !== undefined && { data: asJson(data) }) } };
  }
  const { conflictScope, data, definitionId = '', onConflict, reference } = start ?? {};
  refuseUnknown(start ?? {}, START_MEMBERS, '/start');
  return {
    start: {
      definitionId: checkedName(definitionId, 'definitionId'),
      ...(data !== undefined && { data: asJson(data) }),
      ...(reference !== undefined && { reference }),
      ...(onConflict !== undefined && {
        onConflict: chosen(onConflict, ON_CONFLICT, 'onConflict'),
      }),
      ...(conflictScope !== undefined && {
        conflictScope: chosen(conflictScope, CONFLICT_SCOPES, 'conflictScope'),
      }),
    },
  };
}

/** @throws AppError `invalid_request` */
function chosen<Choice extends string>(
  text: string,
  choices: readonly Choice[],
  member: string,
): Choice {
  const choice = toChoice(text, choices);
  if (choice.ok) return choice.value;
  throw invalidMember(`${member} must be one of ${choices.join(', ')}`, `/start/${member}`);
}

export function toWebhook({
  changedAt,
  changedBy,
  effect,
  name,
  signing,
}: host.WebhookView): wire.Webhook {
  return {
    name,
    path: `/hooks/${name}`,
    ...schemeOf(signing),
    // Each in the form in which it was set up.
    ...(effect as Pick<wire.Webhook, 'publish' | 'start'>),
    changedBy,
    changedTime: toWireTime(changedAt),
  };
}

function schemeOf(signing: host.WebhookScheme): Pick<wire.Webhook, 'scheme'> {
  if (signing.scheme !== 'hmac') return signing;
  const { idHeader, ...others } = signing;
  return { ...others, ...(idHeader !== null && { idHeader }) };
}

/** The request headers that expressions can read. */
export function headersOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      if (value === undefined || PRIVATE_HEADERS.has(name)) return [];
      return [[name, typeof value === 'string' ? value : value.join(', ')]];
    }),
  );
}

/** They hold secrets of the caller or a proxy, which must not become data. */
const PRIVATE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
]);

/** They belong to the connection or the body. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The query of a call: the values of a repeated name become a list. */
export function queryOf(url: string): Readonly<Record<string, string | readonly string[]>> {
  const query: JsonObject = {};
  const at = url.indexOf('?');
  if (at < 0) return {};
  const values = new Map<string, Json[]>();
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else before.push(value);
  }
  for (const [name, all] of values) setField(query, name, all.length === 1 ? (all[0] ?? '') : all);
  return query as Record<string, string | readonly string[]>;
}
