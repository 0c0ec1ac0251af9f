/** Small documents that are found by their name: what people have set up, such as webhooks, and notes that expire. */

/**
 * `webhook-delivery`: a delivery that a webhook has accepted, so that it has no effect twice. `secret-key`: what the marks of
 * secrets in stored inputs are made of. `audit-entry`: who changed what; it is only added, and expires.
 * `limit`: a limit that steps share, see slots.ts. `api-key-name`: which API key has a name, by the hash of the name.
 * `version-author`: who stored a version of a definition or a custom step. `event-reach`: the definitions allowed to the
 * publisher of an event; expires with the event.
 */
export type ResourceKind =
  | 'webhook'
  | 'webhook-delivery'
  | 'limit'
  | 'api-key'
  | 'api-key-name'
  | 'secret-key'
  | 'audit-entry'
  | 'version-author'
  | 'event-reach';

export interface ResourceRecord {
  readonly kind: ResourceKind;
  /** Unique among the resources of its kind. */
  readonly name: string;
  /** Incremented by every change. */
  readonly revision: number;
  /** When it may be removed; null: never by itself. */
  readonly expiresAt: number | null;
  /** Opaque text. */
  readonly body: string;
}
