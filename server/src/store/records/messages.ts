/** Messages to instances. */

/** A message to an instance, kept in its inbox until a commit has taken it in. */
export interface InboxMessage {
  /** Deterministic, so that a message that is sent twice arrives once. */
  readonly id: string;
  /** JSON text; the engine knows what is in it. */
  readonly body: string;
}

export interface PostedMessage {
  readonly instanceId: string;
  /** The instance's values after the message was added. */
  readonly inSeq: number;
  readonly epoch: number;
  readonly owner: string | null;
}
