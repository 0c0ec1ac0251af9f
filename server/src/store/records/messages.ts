/** Messages to instances. */

/** A message to an instance, kept in its inbox until a commit has applied it. */
export interface InboxMessage {
  /** Deterministic, so that a repeated message is added only once. */
  readonly id: string;
  /** JSON text; only the engine knows its meaning. */
  readonly body: string;
}

/** A message to be added to the inbox of an instance. */
export interface OutgoingMessage {
  readonly instanceId: string;
  readonly message: InboxMessage;
  /**
   * Adds the message even to a full inbox. Only for short messages, and only if their number for each instance is limited.
   */
  readonly toFullInbox?: true;
}

/** An inbox with at least this many bytes is full. So it may exceed this limit by one message. */
export const INBOX_BYTES_MAX = 4 * 1024 * 1024;

/** What each message counts in addition to its length, which also limits the number of messages. */
const MESSAGE_BYTES = 1024;

/** How much a message counts towards `INBOX_BYTES_MAX`. */
export function messageBytes({ body }: InboxMessage): number {
  return body.length + MESSAGE_BYTES;
}

export function inboxBytes(inbox: readonly InboxMessage[]): number {
  return inbox.reduce((bytes, message) => bytes + messageBytes(message), 0);
}

/** A full inbox holds this message once, in place of all messages that did not fit. */
export const OVERFLOW_MESSAGE: InboxMessage = { id: 'overflow', body: '{"kind":"overflow"}' };
