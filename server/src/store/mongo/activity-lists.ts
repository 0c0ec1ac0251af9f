/** The queues of activities as operators see them. */
import type { Filter } from 'mongodb';
import type { OperationArguments } from '../store-operations.js';
import type { ActivityListItem, ActivityQueue } from '../records/activities.js';
import { decodeText, encodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import type { ActivityDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional } from './packed-text.js';

/** The count of a group of items. */
interface Count {
  readonly _id: string;
  readonly count: number;
  readonly oldestCreatedAt: number;
}

/** Held and waiting items, of which none is withdrawn, are counted separately: every server can group the results of a plain filter. */
export async function listActivityQueues(
  { activities }: MongoContext,
  [now, limit]: OperationArguments<'listActivityQueues'>,
): Promise<readonly ActivityQueue[]> {
  const countEach = (items: object): Promise<Count[]> =>
    activities
      .aggregate<Count>([
        { $match: { done: false, ...items } },
        {
          $group: {
            _id: '$name',
            count: { $sum: 1 },
            oldestCreatedAt: { $min: '$createdAt' },
          },
        },
      ])
      .toArray();
  const [waiting, held] = await Promise.all([
    countEach({ settled: false, $or: [{ tokenHash: null }, { availableAt: { $lte: now } }] }),
    countEach({ tokenHash: { $ne: null }, availableAt: { $gt: now } }),
  ]);
  const heldByName = new Map(held.map(({ _id, count }) => [_id, count]));
  const queues = waiting.map(({ _id, count, oldestCreatedAt }) => ({
    _id,
    waiting: count,
    held: heldByName.get(_id) ?? 0,
    oldestCreatedAt,
  }));
  const names = new Set(waiting.map(({ _id }) => _id));
  const onlyHeld = held.flatMap(({ _id, count }) =>
    names.has(_id) ? [] : [{ _id, waiting: 0, held: count, oldestCreatedAt: null }],
  );
  return [...queues, ...onlyHeld]
    .sort((left, right) => right.waiting - left.waiting || compareText(left._id, right._id))
    .slice(0, limit)
    .map(({ _id, ...queue }) => ({ name: decodeText(_id), ...queue }));
}

const LISTED_FIELDS = {
  instanceId: 1,
  createdAt: 1,
  availableAt: 1,
  attempt: 1,
  workerId: 1,
  deferred: 1,
  tokenHash: 1,
};

export async function listActivityItems(
  { activities, instances }: MongoContext,
  [name, now, after, limit]: OperationArguments<'listActivityItems'>,
): Promise<readonly ActivityListItem[]> {
  const isListed = {
    $or: [{ settled: false }, { tokenHash: { $ne: null }, availableAt: { $gt: now } }],
  };
  const filter = { name: encodeText(name), done: false, $and: [isListed, ...beyond(after)] };
  const found = await activities
    .find(filter, { projection: LISTED_FIELDS })
    .sort({ availableAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  const runs = await instances
    .find(
      { _id: { $in: [...new Set(found.map(({ instanceId }) => instanceId))] } },
      { projection: { definitionId: 1, reference: 1 } },
    )
    .toArray();
  const runOf = new Map(runs.map((run) => [run._id, run]));
  return found.map(({ _id, createdAt, availableAt, attempt, deferred, ...item }) => ({
    createdAt,
    availableAt,
    attempt,
    deferred,
    id: decodeText(_id),
    instanceId: decodeText(item.instanceId),
    workerId: decodeOptional(item.workerId),
    claimed: item.tokenHash !== null,
    definitionId: decodeOptional(runOf.get(item.instanceId)?.definitionId ?? null),
    reference: decodeOptional(runOf.get(item.instanceId)?.reference ?? null),
  }));
}

/** The first condition limits the range of the index. */
function beyond(
  after: { readonly availableAt: number; readonly id: string } | null,
): readonly Filter<ActivityDocument>[] {
  if (after === null) return [];
  const { availableAt, id } = after;
  return [
    { availableAt: { $gte: availableAt } },
    { $or: [{ availableAt: { $gt: availableAt } }, { _id: { $gt: encodeText(id) } }] },
  ];
}
