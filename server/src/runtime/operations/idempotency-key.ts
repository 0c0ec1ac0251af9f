/** The caller's Idempotency-Key and a hash of the request that it came with. */
export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: string;
}
