/** Messages to instances: appended to the inbox once, while the instance lives. */
import type { OperationArguments, OperationResult } from '../operations.js';
import type { InboxMessage, PostedMessage } from '../store.js';
import { isLive, type MemoryData } from './memory-data.js';

export function postMessages(
  data: MemoryData,
  [messages]: OperationArguments<'postMessages'>,
): OperationResult<'postMessages'> {
  return messages.map(({ instanceId, message }) => postMessage(data, instanceId, message));
}

export function postMessage(
  data: MemoryData,
  instanceId: string,
  { id, body }: InboxMessage,
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
  return { instanceId, inSeq, epoch, owner };
}
