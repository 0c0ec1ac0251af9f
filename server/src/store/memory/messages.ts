/** Messages to instances: appended to the inbox once, as long as the instance hasn't ended and the inbox isn't full. */
import { INBOX_BYTES_MAX, inboxBytes, OVERFLOW_MESSAGE } from '../records/messages.js';
import {
  answerOfClaim,
  isClaimedBy,
  type MessageClaimer,
  type PostedMessage,
} from '../records/posted-messages.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { isLive, type InstanceRecord } from '../records/instances.js';
import { noteAction, type MemoryData } from './memory-data.js';

export function postMessages(
  data: MemoryData,
  [messages, claimer]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map((posted) => postMessage(data, posted, claimer));
}

export function postMessage(
  data: MemoryData,
  {
    instanceId,
    message: { id, body },
    audit,
    toFullInbox,
  }: OperationArguments<'postMessages'>[0][number],
  claimer?: MessageClaimer,
): PostedMessage | null {
  const current = data.instances.get(instanceId);
  if (current === undefined || !isLive(current.status)) return null;
  const { epoch, inbox, owner } = current;
  const has = (messageId: string): boolean => inbox.some((known) => known.id === messageId);
  if (has(id)) return { instanceId, inSeq: current.inSeq, epoch, owner, rested: false };
  const isFull = toFullInbox !== true && inboxBytes(inbox) >= INBOX_BYTES_MAX;
  const added = isFull ? OVERFLOW_MESSAGE : { id, body };
  const isNew = !has(added.id);
  const inSeq = isNew ? current.inSeq + 1 : current.inSeq;
  if (isNew) {
    data.instances.set(instanceId, { ...current, inbox: [...inbox, added], inSeq, wakeAt: 0 });
  }
  noteAction(data, instanceId, audit);
  const rested = inbox.length === 0 && !current.underWay && current.crashes === 0;
  const posted = { instanceId, inSeq, epoch, owner, rested };
  const changed = data.instances.get(instanceId) ?? current;
  if (isClaimedBy(claimer, rested, changed)) {
    const claimed: InstanceRecord = { ...changed, owner: claimer.owner, epoch: epoch + 1 };
    data.instances.set(instanceId, claimed);
    return { ...posted, ...answerOfClaim(claimed) };
  }
  return { ...posted, ...(isFull && { overflowed: true }) };
}
