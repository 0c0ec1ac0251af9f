/** The inboxes of instances as rows. */
import type { InboxMessage } from '../../records/messages.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';

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
