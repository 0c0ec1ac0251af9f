/** Messages to instances: one filtered update appends, counts and wakes (rule S3). */
import type { Filter, UpdateFilter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../operations.js';
import type { InstanceStatus } from '../records/instances.js';
import type { PostedMessage } from '../records/messages.js';
import { encodeText } from '../text-codec.js';
import { auditPush } from './audit.js';
import type { InstanceDocument } from './collections.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, packText } from './packed-text.js';

const POSTED_FIELDS = { inSeq: 1, epoch: 1, owner: 1 } as const;
const LIVE: readonly InstanceStatus[] = ['Runnable', 'Suspended'];

type Message = OperationArguments<'postMessages'>[0][number];

/**
 * Several messages are two commands, however many there are: the updates, then a look at the instances. An instance that
 * lives when we look was alive when we wrote, so it has the message, or a commit has taken it in since.
 */
export async function postMessages(
  context: MongoContext,
  [messages]: OperationArguments<'postMessages'>,
): Promise<OperationResult<'postMessages'>> {
  const [first, ...others] = messages;
  if (first === undefined) return [];
  if (others.length === 0) return [await postMessage(context, first)];
  const ids = [...new Set(messages.map(({ instanceId }) => encodeText(instanceId)))];
  await context.instances.bulkWrite(
    messages.map((message) => ({ updateOne: appending(message) })),
    // The order matters only between messages to the same instance.
    { ordered: ids.length < messages.length },
  );
  const live = await context.instances
    .find({ _id: { $in: ids }, status: { $in: [...LIVE] } }, { projection: POSTED_FIELDS })
    .toArray();
  const byId = new Map(live.map((document) => [document._id, document]));
  return messages.map(({ instanceId }) =>
    postedTo(instanceId, byId.get(encodeText(instanceId)) ?? null),
  );
}

/** One command; another one only for an instance that did not take the message: it has it already, or has ended. */
export async function postMessage(
  { instances }: MongoContext,
  message: Message,
): Promise<PostedMessage | null> {
  const { filter, update } = appending(message);
  const changed = await instances.findOneAndUpdate(filter, update, {
    returnDocument: 'after',
    projection: POSTED_FIELDS,
  });
  if (changed !== null) return postedTo(message.instanceId, changed);
  const live = await instances.findOne(
    { _id: encodeText(message.instanceId), status: { $in: [...LIVE] } },
    { projection: POSTED_FIELDS },
  );
  return postedTo(message.instanceId, live);
}

function postedTo(
  instanceId: string,
  document: Pick<InstanceDocument, 'inSeq' | 'epoch' | 'owner'> | null,
): PostedMessage | null {
  if (document === null) return null;
  const { inSeq, epoch, owner } = document;
  return { instanceId, inSeq, epoch, owner: decodeOptional(owner) };
}

function appending({ audit, instanceId, message }: Message): {
  readonly filter: Filter<InstanceDocument>;
  readonly update: UpdateFilter<InstanceDocument>;
} {
  const id = encodeText(message.id);
  return {
    filter: {
      _id: encodeText(instanceId),
      status: { $in: [...LIVE] },
      'inbox.id': { $ne: id },
    },
    update: {
      $push: { inbox: { id, body: packText(message.body) }, ...auditPush(audit) },
      $inc: { inSeq: 1 },
      $set: { wakeAt: 0 },
    },
  };
}
