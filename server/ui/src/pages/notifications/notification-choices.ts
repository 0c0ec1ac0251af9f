/** The content of the notification form, and the resulting request. */
import type { Notification, NotificationRequest } from '@stepwright/sdk';

type NotifiedChange = Notification['on'][number];

const LABELS: Readonly<Record<NotifiedChange, string>> = {
  started: 'started',
  completed: 'completed',
  failed: 'failed (ended by an error)',
  terminated: 'been terminated by a user or another run',
  suspended: 'been suspended',
};
// Object.entries loses the type of the keys.
export const CHANGES = (Object.entries(LABELS) as [NotifiedChange, string][]).map(
  ([change, label]) => ({ change, label }),
);

const SECRET_BYTES = 32;

export interface NotificationChoices {
  readonly name: string;
  readonly url: string;
  readonly on: readonly NotifiedChange[];
  readonly definitionId: string;
  /** One condition per line. */
  readonly where: string;
  readonly include: Notification['include'];
  /** Empty to keep the current one. */
  readonly secret: string;
}

export function choicesOf(existing: Notification | null): NotificationChoices {
  return {
    name: existing?.name ?? '',
    url: existing?.url ?? '',
    on: existing?.on ?? ['failed'],
    definitionId: existing?.definitionId ?? '',
    where: existing?.where.join('\n') ?? '',
    include: existing?.include ?? 'summary',
    secret: '',
  };
}

export function requestOf(choices: NotificationChoices): NotificationRequest {
  const { definitionId, include, on, secret, url, where } = choices;
  return {
    url: url.trim(),
    on: [...on],
    include,
    where: where
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    ...(definitionId !== '' && { definitionId }),
    ...(secret !== '' && { secret: secret.trim() }),
  };
}

export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
