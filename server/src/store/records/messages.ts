/** Messages to instances. */

/** A message to an instance, kept in its inbox until a commit has applied it. */
export interface InboxMessage {
  /** Deterministic, so that a repeated message is added only once. */
  readonly id: string;
  /** JSON text; only the engine knows its meaning. */
  readonly body: string;
}

export interface PostedMessage {
  readonly instanceId: string;
  /** The values of the instance after the message was added. */
  readonly inSeq: number;
  readonly epoch: number;
  readonly owner: string | null;
}
