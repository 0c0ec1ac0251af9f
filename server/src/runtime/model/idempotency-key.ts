/** The caller's Idempotency-Key, with a hash of its request. */
export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: string;
}
