/** Messages to instances: a row in the inbox, plus the instance's `inSeq` and `wakeAt` (rule S3). */
import type { OperationArguments, OperationResult } from '../../operations.js';
import type { InboxMessage, PostedMessage } from '../../records/messages.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { noteAction } from './audit.js';

export function postMessages(
  database: Database,
  [messages]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map((posted) => postMessage(database, posted));
}

export function postMessage(
  database: Database,
  { instanceId, message, audit }: OperationArguments<'postMessages'>[0][number],
): PostedMessage | null {
  const storedId = encodeText(instanceId);
  const instance = database.get(
    `SELECT inSeq, epoch, owner FROM instances WHERE id = ? AND status IN ('Runnable', 'Suspended')`,
    storedId,
  );
  if (instance === null) return null;
  const inSeq = instance.number('inSeq');
  const added = appendToInbox(database, instanceId, message, inSeq + 1);
  if (added > 0) {
    database.run('UPDATE instances SET inSeq = ?, wakeAt = 0 WHERE id = ?', inSeq + 1, storedId);
    noteAction(database, instanceId, audit);
  }
  return {
    instanceId,
    inSeq: inSeq + added,
    epoch: instance.number('epoch'),
    owner: instance.textOrNull('owner'),
  };
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
