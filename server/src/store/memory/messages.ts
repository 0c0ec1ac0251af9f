/** Messages to instances: appended to the inbox once, as long as the instance has not ended. */
import type { OperationArguments, OperationResult } from '../operations.js';
import type { PostedMessage } from '../records/messages.js';
import { noteAction } from './audit.js';
import { isLive, type MemoryData } from './memory-data.js';

export function postMessages(
  data: MemoryData,
  [messages]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map((posted) => postMessage(data, posted));
}

export function postMessage(
  data: MemoryData,
  { instanceId, message: { id, body }, audit }: OperationArguments<'postMessages'>[0][number],
): PostedMessage | null {
  const current = data.instances.get(instanceId);
  if (current === undefined || !isLive(current.status)) return null;
  const { epoch, owner } = current;
  if (current.inbox.some((known) => known.id === id)) {
    return { instanceId, inSeq: current.inSeq, epoch, owner };
  }
  const inSeq = current.inSeq + 1;
  const inbox = [...current.inbox, { id, body }];
  data.instances.set(instanceId, { ...current, inbox, inSeq, wakeAt: 0 });
  noteAction(data, instanceId, audit);
  return { instanceId, inSeq, epoch, owner };
}
