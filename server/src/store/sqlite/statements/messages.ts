/** Messages to instances: a row in the inbox, plus the instance's `inSeq`, `wakeAt` and `inboxBytes` (rules S3 and S8). */
import { INBOX_BYTES_MAX, messageBytes, OVERFLOW_MESSAGE } from '../../records/messages.js';
import {
  answerOfClaim,
  isClaimedBy,
  type MessageClaimer,
  type PostedMessage,
} from '../../records/posted-messages.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { appendToInbox } from './inbox-rows.js';
import { readInstance } from './instance-rows.js';
import { noteAction } from './side-records.js';

export function postMessages(
  database: Database,
  [messages, claimer]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map((posted) => postMessage(database, posted, claimer));
}

export function postMessage(
  database: Database,
  { instanceId, message, audit, toFullInbox }: OperationArguments<'postMessages'>[0][number],
  claimer?: MessageClaimer,
): PostedMessage | null {
  const instance = database.get(
    `SELECT inSeq, inboxBytes, epoch, owner, underWay, crashes, schemaVersion FROM instances
      WHERE id = ? AND status IN ('Runnable', 'Suspended')`,
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
  const rested =
    instance.number('inboxBytes') === 0 &&
    !instance.boolean('underWay') &&
    instance.number('crashes') === 0;
  const { owner } = posted;
  const isClaimed = isClaimedBy(claimer, rested, {
    owner,
    schemaVersion: instance.number('schemaVersion'),
  });
  if (count > 0) {
    database.run(
      `UPDATE instances SET inSeq = inSeq + 1, inboxBytes = inboxBytes + ?, wakeAt = 0, owner = ?, epoch = epoch + ?
        WHERE id = ?`,
      messageBytes(added),
      encodeOptional(isClaimed ? claimer.owner : owner),
      isClaimed ? 1 : 0,
      encodeText(instanceId),
    );
  }
  noteAction(database, instanceId, audit);
  const answer = { ...posted, rested, inSeq: inSeq + count };
  const claimed = isClaimed ? readInstance(database, instanceId) : null;
  if (claimed !== null) return { ...answer, ...answerOfClaim(claimed) };
  return { ...answer, ...(isFull && { overflowed: true }) };
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
