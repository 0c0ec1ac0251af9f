/** Messages to instances: one filtered update appends, counts and wakes (rule S3). */
import type { AnyBulkWriteOperation } from 'mongodb';
import type { OperationArguments, OperationResult } from '../operations.js';
import type { InstanceStatus, PostedMessage } from '../store.js';
import { encodeText } from '../text-codec.js';
import { auditPush } from './audit.js';
import type { InstanceDocument } from './collections.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, packText } from './packed-text.js';

const LIVE: readonly InstanceStatus[] = ['Runnable', 'Suspended'];

/**
 * Two commands, however many messages: the updates, then a look at the instances. An instance that lives when we look
 * was alive when we wrote, so it has the message, or a commit has taken it in since.
 */
export async function postMessages(
  { instances }: MongoContext,
  [messages]: OperationArguments<'postMessages'>,
): Promise<OperationResult<'postMessages'>> {
  if (messages.length === 0) return [];
  const ids = [...new Set(messages.map(({ instanceId }) => encodeText(instanceId)))];
  await instances.bulkWrite(messages.map(appendMessage), {
    // The order matters only between messages to the same instance.
    ordered: ids.length < messages.length,
  });
  const live = await instances
    .find(
      { _id: { $in: ids }, status: { $in: [...LIVE] } },
      { projection: { inSeq: 1, epoch: 1, owner: 1 } },
    )
    .toArray();
  const byId = new Map(live.map((document) => [document._id, document]));
  return messages.map(({ instanceId }) => {
    const document = byId.get(encodeText(instanceId));
    if (document === undefined) return null;
    const { inSeq, epoch, owner } = document;
    return { instanceId, inSeq, epoch, owner: decodeOptional(owner) };
  });
}

export async function postMessage(
  context: MongoContext,
  message: OperationArguments<'postMessages'>[0][number],
): Promise<PostedMessage | null> {
  const [posted] = await postMessages(context, [[message]]);
  return posted ?? null;
}

function appendMessage({
  audit,
  instanceId,
  message,
}: OperationArguments<'postMessages'>[0][number]): AnyBulkWriteOperation<InstanceDocument> {
  const id = encodeText(message.id);
  return {
    updateOne: {
      filter: { _id: encodeText(instanceId), status: { $in: [...LIVE] }, 'inbox.id': { $ne: id } },
      update: {
        $push: { inbox: { id, body: packText(message.body) }, ...auditPush(audit) },
        $inc: { inSeq: 1 },
        $set: { wakeAt: 0 },
      },
    },
  };
}
