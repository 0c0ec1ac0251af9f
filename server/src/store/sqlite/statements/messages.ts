/** Messages to instances: a row in the inbox, plus the instance's `inSeq`, `wakeAt` and `inboxBytes` (rules S3 and S8). */
import {
  INBOX_BYTES_MAX,
  messageBytes,
  OVERFLOW_MESSAGE,
  type InboxMessage,
  type PostedMessage,
} from '../../records/messages.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { noteAction } from './side-records.js';

export function postMessages(
  database: Database,
  [messages]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map((posted) => postMessage(database, posted));
}

export function postMessage(
  database: Database,
  { instanceId, message, audit, toFullInbox }: OperationArguments<'postMessages'>[0][number],
): PostedMessage | null {
  const instance = database.get(
    `SELECT inSeq, inboxBytes, epoch, owner, underWay, crashes FROM instances WHERE id = ? AND status IN ('Runnable', 'Suspended')`,
    encodeText(instanceId),
  );
  if (instance === null) return null;
  const inSeq = instance.number('inSeq');
  const posted = {
    instanceId,
    inSeq,
    epoch: instance.number('epoch'),
    owner: instance.textOrNull('owner'),
    rested: false,
  };
  const isFull = instance.number('inboxBytes') >= INBOX_BYTES_MAX && toFullInbox !== true;
  if (isFull && hasMessage(database, instanceId, message.id)) return posted;
  const added = isFull ? OVERFLOW_MESSAGE : message;
  const count = appendToInbox(database, instanceId, added, inSeq + 1);
  if (count === 0 && !isFull) return posted;
  if (count > 0) {
    database.run(
      'UPDATE instances SET inSeq = inSeq + 1, inboxBytes = inboxBytes + ?, wakeAt = 0 WHERE id = ?',
      messageBytes(added),
      encodeText(instanceId),
    );
  }
  noteAction(database, instanceId, audit);
  const rested =
    instance.number('inboxBytes') === 0 &&
    !instance.boolean('underWay') &&
    instance.number('crashes') === 0;
  return { ...posted, rested, inSeq: inSeq + count, ...(isFull && { overflowed: true }) };
}

function hasMessage(database: Database, instanceId: string, id: string): boolean {
  return (
    database.get(
      'SELECT 1 AS found FROM inbox WHERE instanceId = ? AND id = ?',
      encodeText(instanceId),
      encodeText(id),
    ) !== null
  );
}

/** Returns the number of messages added: 0 if the instance already has a message with this id. */
export function appendToInbox(
  database: Database,
  instanceId: string,
  message: InboxMessage,
  position: number,
): number {
  return database.run(
    'INSERT OR IGNORE INTO inbox (instanceId, id, position, body) VALUES (?, ?, ?, ?)',
    encodeText(instanceId),
    encodeText(message.id),
    position,
    encodeText(message.body),
  );
}

export function readInbox(database: Database, instanceId: string): readonly InboxMessage[] {
  return database
    .all(
      'SELECT id, body FROM inbox WHERE instanceId = ? ORDER BY position',
      encodeText(instanceId),
    )
    .map((row) => ({ id: row.text('id'), body: row.text('body') }));
}

/** Messages inserted together with the instance precede all that are posted later. */
export function insertInbox(
  database: Database,
  instanceId: string,
  inbox: readonly InboxMessage[],
): void {
  inbox.forEach((message, index) =>
    database.run(
      'INSERT INTO inbox (instanceId, id, position, body) VALUES (?, ?, ?, ?)',
      encodeText(instanceId),
      encodeText(message.id),
      index - inbox.length,
      encodeText(message.body),
    ),
  );
}

export function clearInbox(database: Database, instanceId: string): void {
  database.run('DELETE FROM inbox WHERE instanceId = ?', encodeText(instanceId));
}
