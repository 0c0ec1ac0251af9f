/**
 * What waits for slots. An execution waits while its instance lists it; `slotWaits` has a document for each, for the order. An item
 * waits with its own fields.
 *
 * Invariants:
 *  MW1 The document of a wait is written before its instance lists it, and removed when it isn't listed any more. If its process died
 *      in between, whoever finds it compares it with the instance, and removes it once the commit that would list it can't happen.
 *  MW2 Whether a wait is granted says the instance, too: the grant moves it to the slots in one step.
 */
import type { Filter } from 'mongodb';
import type { Priority } from '../../engine/model/start-options.js';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { isLive } from '../records/instances.js';
import type { LimitKey } from '../records/slots.js';
import { compareText } from '../text-order.js';
import type { ActivityDocument, InstanceDocument } from './documents.js';
import type { NeedDocument, SlotWaitDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import { DECIDING } from './slot-keys.js';
import { limitKeyOf, onOf } from './slot-names.js';

/** A place among those that wait. Ids are as stored. */
export interface WaitPosition {
  readonly priority: Priority;
  readonly since: number;
  readonly execution: string;
}

/** Who asks for slots. Ids are as stored. */
export interface Asking extends WaitPosition {
  readonly instanceId: string;
  readonly needs: readonly NeedDocument[];
  /** What it has already. */
  readonly own: readonly NeedDocument[];
}

export type WaitingItem = Pick<
  ActivityDocument,
  '_id' | 'instanceId' | 'name' | 'priority' | 'createdAt' | 'needs'
>;

const ITEM_FIELDS = { instanceId: 1, name: 1, priority: 1, createdAt: 1, needs: 1 } as const;
/** How many of those before it are looked at for one that isn't suspended. */
const LOOKED_AT_MAX = 200;

export function inWaitOrder(left: WaitPosition, right: WaitPosition): number {
  return (
    left.priority - right.priority ||
    left.since - right.since ||
    compareText(left.execution, right.execution)
  );
}

export function positionOfItem({ _id, createdAt, priority }: WaitingItem): WaitPosition {
  return { priority: priority ?? DEFAULT_PRIORITY, since: createdAt, execution: _id };
}

export function waitsOn(on: string, state: SlotWaitDocument['state']): Filter<SlotWaitDocument> {
  return { on, state };
}

export function itemsOn(
  on: string | { readonly $gte: string; readonly $lt: string },
  slotState: 'waiting' | 'offered' = 'waiting',
): Filter<ActivityDocument> {
  return { slotOn: on, slotState, done: false, settled: false };
}

export const IN_WAITS = ['since', 'execution'] as const;
export const IN_ITEMS = ['createdAt', '_id'] as const;

/** Those before this place, with the names of their fields. */
export function beforePosition<Item>(
  { execution, priority, since }: WaitPosition,
  [sinceField, executionField]: readonly ['since', 'execution'] | readonly ['createdAt', '_id'],
): Filter<Item> {
  const before: unknown = {
    $or: [
      { priority: { $lt: priority } },
      { priority, [sinceField]: { $lt: since } },
      { priority, [sinceField]: since, [executionField]: { $lt: execution } },
    ],
  };
  return before as Filter<Item>;
}

/** Others that can go on wait for the key before it. */
export async function isBehind(
  context: MongoContext,
  asking: WaitPosition,
  on: string,
  except: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const [waits, items] = await Promise.all([
    context.slotWaits
      .find(
        { ...waitsOn(on, 'waiting'), ...beforePosition<SlotWaitDocument>(asking, IN_WAITS) },
        DECIDING,
      )
      .limit(LOOKED_AT_MAX)
      .toArray(),
    context.activities
      .find(
        { ...itemsOn(on), ...beforePosition<ActivityDocument>(asking, IN_ITEMS) },
        { ...DECIDING, projection: { instanceId: 1, name: 1 } },
      )
      .limit(LOOKED_AT_MAX)
      .toArray(),
  ]);
  if (waits.length === 0 && items.length === 0) return false;
  const isOther = (execution: string): boolean =>
    execution !== asking.execution && !except.has(execution);
  const others = waits.filter(({ execution }) => isOther(execution));
  const verified = await verifyWaits(context, others, false);
  if (verified.some(({ isRunnable, state }) => isRunnable && state === 'waiting')) return true;
  const runnable = await runnableOf(context, items);
  const before = items.filter(({ _id, instanceId }) => isOther(_id) && runnable.has(instanceId));
  const offered = await offeredAmong(context, on, before);
  return before.some(({ name }) => !offered.has(name));
}

/** The names of items of which another one can be claimed: those behind it lack a worker, not slots. */
export async function offeredAmong(
  context: MongoContext,
  on: string,
  items: readonly Pick<WaitingItem, 'name'>[],
): Promise<ReadonlySet<string>> {
  const names = [...new Set(items.map(({ name }) => name))];
  const offered = await Promise.all(
    names.map(async (name) => {
      const found = await context.activities
        .find({ ...itemsOn(on, 'offered'), name }, { ...DECIDING, projection: { instanceId: 1 } })
        .limit(LOOKED_AT_MAX)
        .toArray();
      return (await runnableOf(context, found)).size > 0;
    }),
  );
  return new Set(names.filter((_name, index) => offered[index] === true));
}

export async function runnableOf(
  { instances }: MongoContext,
  of: readonly { readonly instanceId: string }[],
): Promise<ReadonlySet<string>> {
  if (of.length === 0) return new Set();
  const ids = [...new Set(of.map(({ instanceId }) => instanceId))];
  const found = await instances
    .find({ _id: { $in: ids }, status: 'Runnable' }, { ...DECIDING, projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

export interface VerifiedWait {
  readonly wait: SlotWaitDocument;
  /** `pending`: the commit that adds it may still happen. */
  readonly state: 'waiting' | 'granted' | 'pending';
  readonly isRunnable: boolean;
}

type Listing = Pick<
  InstanceDocument,
  '_id' | 'status' | 'epoch' | 'inSeq' | 'revision' | 'slots' | 'slotWaits'
>;

/** Those that aren't stale, as their instances say (MW1). */
export async function verifyWaits(
  context: MongoContext,
  waits: readonly SlotWaitDocument[],
  removesStale = true,
): Promise<readonly VerifiedWait[]> {
  if (waits.length === 0) return [];
  const ids = [...new Set(waits.map(({ instanceId }) => instanceId))];
  const projection = { status: 1, epoch: 1, inSeq: 1, revision: 1, slots: 1, slotWaits: 1 };
  const found = await context.instances
    .find<Listing>({ _id: { $in: ids } }, { ...DECIDING, projection })
    .toArray();
  const byId = new Map(found.map((instance) => [instance._id, instance]));
  const verified: VerifiedWait[] = [];
  const stale: SlotWaitDocument[] = [];
  for (const wait of waits) {
    const instance = byId.get(wait.instanceId);
    const state = stateOf(wait, instance);
    if (state === 'stale') stale.push(wait);
    else verified.push({ wait, state, isRunnable: instance?.status === 'Runnable' });
  }
  if (removesStale) await removeWaits(context, stale);
  return verified;
}

function stateOf(
  { _id, guard }: SlotWaitDocument,
  instance: Listing | undefined,
): VerifiedWait['state'] | 'stale' {
  // It may be about to be inserted. What a dead process has left goes with a purge.
  if (instance === undefined) return guard === null ? 'pending' : 'stale';
  if (!isLive(instance.status)) return 'stale';
  if (instance.slotWaits?.some(({ id }) => id === _id) === true) return 'waiting';
  if (instance.slots?.some(({ grant }) => grant === _id) === true) return 'granted';
  const mayCome =
    instance.epoch === guard?.epoch &&
    instance.inSeq === guard.inSeq &&
    instance.revision === guard.revision;
  return mayCome ? 'pending' : 'stale';
}

export async function removeWaits(
  { slotWaits }: Pick<MongoContext, 'slotWaits'>,
  waits: readonly Pick<SlotWaitDocument, '_id'>[],
): Promise<void> {
  if (waits.length === 0) return;
  await slotWaits.deleteMany({ _id: { $in: waits.map(({ _id }) => _id) } });
}

export async function putWaits(
  { slotWaits }: Pick<MongoContext, 'slotWaits'>,
  waits: readonly SlotWaitDocument[],
): Promise<void> {
  if (waits.length > 0) await slotWaits.insertMany([...waits]);
}

/** What an ended instance waited for, and the slots of its items. */
export async function removeWaitsOf(
  { activities, slotWaits }: Pick<MongoContext, 'activities' | 'slotWaits'>,
  { _id: instanceId, mayWait }: Pick<InstanceDocument, '_id' | 'mayWait'>,
): Promise<void> {
  if (mayWait !== true) return;
  await Promise.all([
    slotWaits.deleteMany({ instanceId }),
    activities.updateMany(
      { instanceId, slotTry: { $exists: true } },
      { $unset: { slots: '', slotOn: '', slotState: '' }, $set: { slotsLost: true } },
    ),
  ]);
}

/** Those of these keys for which somebody waits. */
export async function waitedAmong(
  { activities, slotWaits }: Pick<MongoContext, 'activities' | 'slotWaits'>,
  keys: Iterable<LimitKey>,
): Promise<readonly LimitKey[]> {
  const ons = [...new Set([...keys].map(onOf))];
  const waited = await Promise.all(
    ons.map(async (on) => {
      const fields = { ...DECIDING, projection: { _id: 1 } } as const;
      const found = await Promise.all([
        slotWaits.findOne(waitsOn(on, 'waiting'), fields),
        activities.findOne(itemsOn(on), fields),
      ]);
      return found.some((each) => each !== null);
    }),
  );
  return ons.filter((_on, index) => waited[index] === true).map(limitKeyOf);
}

/** Of each name, the first items that wait for the key and can go on. */
export async function waitingItems(
  context: MongoContext,
  on: string,
  limit: number,
): Promise<readonly (readonly WaitingItem[])[]> {
  const names = await context.activities.distinct('name', itemsOn(on));
  return Promise.all(
    names.map(async (name) => {
      const found = await context.activities
        .find({ ...itemsOn(on), name }, { ...DECIDING, projection: ITEM_FIELDS })
        .sort({ priority: 1, createdAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
      const runnable = await runnableOf(context, found);
      return found.filter(({ instanceId }) => runnable.has(instanceId));
    }),
  );
}
