/** Messages to instances: one filtered update appends, counts and wakes (rules S3 and S8). */
import type { Filter, UpdateFilter } from 'mongodb';
import type { InstanceStatus } from '../records/instances.js';
import { INBOX_BYTES_MAX, messageBytes, OVERFLOW_MESSAGE } from '../records/messages.js';
import {
  answerOfClaim,
  type MessageClaimer,
  type PostedMessage,
} from '../records/posted-messages.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { encodeText } from '../text-codec.js';
import type { InstanceDocument } from './documents.js';
import { auditPush, instanceOf } from './instance-documents.js';
import { WITHOUT_KEPT } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, packText } from './packed-text.js';

/** Otherwise the answer could be based on a change that is lost in a failover. */
const ACKNOWLEDGED = { readConcern: 'majority', readPreference: 'primary' } as const;
const POSTED_FIELDS = {
  inSeq: 1,
  epoch: 1,
  owner: 1,
  inboxBytes: 1,
  underWay: 1,
  crashes: 1,
} as const;
const LIVE: readonly InstanceStatus[] = ['Runnable', 'Suspended'];

/** The inbox may be filled and cleared between two commands, that often. */
const POST_ATTEMPTS_MAX = 10;

type Message = OperationArguments<'postMessages'>[0][number];
type Posted = Pick<
  InstanceDocument,
  '_id' | 'inSeq' | 'epoch' | 'owner' | 'inboxBytes' | 'underWay' | 'crashes'
> & {
  readonly inbox?: readonly { readonly id: string }[];
};

/**
 * Several messages are two commands, however many there are: the updates, then a look at the instances. If every update
 * found its instance, the messages of those that still live are posted, although a commit may have taken them in since.
 * Otherwise, some instance has ended, has the message already or is full: a message that its inbox doesn't hold is posted
 * again, by itself.
 */
export async function postMessages(
  context: Pick<MongoContext, 'instances'>,
  [messages, claimer]: OperationArguments<'postMessages'>,
): Promise<OperationResult<'postMessages'>> {
  const [first, ...others] = messages;
  if (first === undefined) return [];
  if (others.length === 0) return [await postMessage(context, first, claimer)];
  const ids = [...new Set(messages.map(({ instanceId }) => encodeText(instanceId)))];
  // The order matters only between messages to the same instance.
  const ordered = ids.length < messages.length;
  const { matchedCount } = await context.instances.bulkWrite(
    // Otherwise they go in the order in which groups of commits lock instances; see grouped-commits.ts.
    (ordered ? messages : messages.toSorted(byInstance)).map((message) => ({
      updateOne: appending(message),
    })),
    { ordered },
  );
  const areAllPosted = matchedCount === messages.length;
  const live = await context.instances
    .find<Posted>(
      { _id: { $in: ids }, status: { $in: [...LIVE] } },
      {
        ...ACKNOWLEDGED,
        projection: { ...POSTED_FIELDS, ...(!areAllPosted && { 'inbox.id': 1 }) },
      },
    )
    .toArray();
  const byId = new Map(live.map((document) => [document._id, document]));
  const answers: (PostedMessage | null)[] = [];
  for (const message of messages) {
    const document = byId.get(encodeText(message.instanceId));
    if (document === undefined) answers.push(null);
    else if (areAllPosted) answers.push(postedTo(message, document));
    else if (holds(document, message)) answers.push(heldBy(message, document));
    else answers.push(await postMessage(context, message));
  }
  return answers;
}

function byInstance(left: Message, right: Message): number {
  return encodeText(left.instanceId) < encodeText(right.instanceId) ? -1 : 1;
}

/** One command; others only for an instance that didn't take the message: it has it already, is full, or has ended. */
export async function postMessage(
  { instances }: Pick<MongoContext, 'instances'>,
  message: Message,
  claimer?: MessageClaimer,
): Promise<PostedMessage | null> {
  const claimed = claimer === undefined ? null : await claimWith(instances, message, claimer);
  if (claimed !== null) return claimed;
  const live = { _id: encodeText(message.instanceId), status: { $in: [...LIVE] } };
  const change = ({ filter, update }: Change) =>
    instances.findOneAndUpdate(filter, update, {
      returnDocument: 'after',
      projection: POSTED_FIELDS,
    });
  for (let attempt = 0; attempt < POST_ATTEMPTS_MAX; attempt += 1) {
    const changed = await change(appending(message));
    if (changed !== null) return postedTo(message, changed);
    if (message.toFullInbox !== true) {
      const overflowed = (await change(overflowing(message))) ?? (await change(lacking(message)));
      if (overflowed !== null) return { ...postedTo(message, overflowed), overflowed: true };
    }
    const known = await instances.findOne<Posted>(live, {
      ...ACKNOWLEDGED,
      projection: { ...POSTED_FIELDS, 'inbox.id': 1 },
    });
    if (known === null) return null;
    if (holds(known, message)) return heldBy(message, known);
  }
  throw new StoreUnavailableError(
    `The instance ${message.instanceId} has too many concurrent writers`,
  );
}

/**
 * One command, which changes only an instance that the claimer may take. Otherwise, the caller needs one more: a command can't
 * answer with the whole instance in one case, and with little of it in the other.
 */
async function claimWith(
  instances: MongoContext['instances'],
  message: Message,
  { from, owner, schemaVersionMax }: MessageClaimer,
): Promise<PostedMessage | null> {
  if (from.length === 0) return null;
  const { filter, update } = appending(message);
  const document = await instances.findOneAndUpdate(
    {
      ...filter,
      inboxBytes: 0,
      // Documents of instances without work under way don't have the field.
      underWay: { $ne: true },
      crashes: 0,
      owner: { $in: from.map(encodeText) },
      schemaVersion: { $lte: schemaVersionMax },
    },
    {
      ...update,
      $set: { ...update.$set, owner: encodeText(owner) },
      $inc: { ...update.$inc, epoch: 1 },
    },
    { returnDocument: 'after', projection: WITHOUT_KEPT },
  );
  if (document === null) return null;
  const claimed = instanceOf(document);
  const { instanceId } = message;
  return { instanceId, inSeq: claimed.inSeq, rested: true, ...answerOfClaim(claimed) };
}

function holds({ inbox = [] }: Posted, { message }: Message): boolean {
  const id = encodeText(message.id);
  return inbox.some((known) => known.id === id);
}

function postedTo({ instanceId, message }: Message, document: Posted): PostedMessage {
  const { crashes, epoch, inboxBytes, inSeq, owner, underWay } = document;
  const rested = inboxBytes === messageBytes(message) && !underWay && crashes === 0;
  return { instanceId, inSeq, epoch, owner: decodeOptional(owner), rested };
}

/** Another call may have added it, and its caller may have taken the instance. */
function heldBy(message: Message, document: Posted): PostedMessage {
  return { ...postedTo(message, document), rested: false };
}

interface Change {
  readonly filter: Filter<InstanceDocument>;
  readonly update: UpdateFilter<InstanceDocument>;
}

function appending({ audit, instanceId, message, toFullInbox }: Message) {
  const id = encodeText(message.id);
  return {
    filter: {
      _id: encodeText(instanceId),
      status: { $in: [...LIVE] },
      'inbox.id': { $ne: id },
      // Also matches a document that doesn't have the field yet.
      ...(toFullInbox !== true && { inboxBytes: { $not: { $gte: INBOX_BYTES_MAX } } }),
    },
    update: {
      $push: { inbox: { id, body: packText(message.body) }, ...auditPush(audit) },
      $inc: { inSeq: 1, inboxBytes: messageBytes(message) },
      $set: { wakeAt: 0 },
    },
  } satisfies Change;
}

/** For a full inbox without the overflow message. */
function overflowing({ audit, instanceId, message }: Message): Change {
  const { body, id } = OVERFLOW_MESSAGE;
  return {
    filter: {
      _id: encodeText(instanceId),
      status: { $in: [...LIVE] },
      'inbox.id': { $nin: [encodeText(message.id), encodeText(id)] },
      inboxBytes: { $gte: INBOX_BYTES_MAX },
    },
    update: {
      $push: { inbox: { id: encodeText(id), body: packText(body) }, ...auditPush(audit) },
      $inc: { inSeq: 1 },
      $set: { wakeAt: 0 },
    },
  };
}

/**
 * For a full inbox with the overflow message, but without this one. The message is dropped, so the inbox must really be as
 * it was found: a read of a former primary wouldn't show that, and a write that changes nothing does.
 */
function lacking({ audit, instanceId, message }: Message): Change {
  return {
    filter: {
      _id: encodeText(instanceId),
      status: { $in: [...LIVE] },
      'inbox.id': { $eq: encodeText(OVERFLOW_MESSAGE.id), $ne: encodeText(message.id) },
      inboxBytes: { $gte: INBOX_BYTES_MAX },
    },
    update: { $set: { wakeAt: 0 }, ...(audit !== undefined && { $push: auditPush(audit) }) },
  };
}
