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
import { FAIRNESS_FIELDS, sameFairness, type FairnessFields } from './fairness-fields.js';
import { firstOfKeys } from './first-of-keys.js';
import type { NeedDocument, SlotWaitDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import type { LineState } from './turns.js';
import { DECIDING, runnableOf } from './deciding.js';
import { limitKeyOf, onOf } from './slot-names.js';

/** A place among those that wait. Ids are as stored. */
export interface WaitPosition extends FairnessFields {
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
  | '_id'
  | 'instanceId'
  | 'name'
  | 'priority'
  | 'fairnessKey'
  | 'fairnessWeight'
  | 'createdAt'
  | 'needs'
>;

const ITEM_FIELDS = {
  instanceId: 1,
  name: 1,
  priority: 1,
  ...FAIRNESS_FIELDS,
  createdAt: 1,
  needs: 1,
} as const;
/** How many of those before it are looked at for one that isn't suspended. */
const LOOKED_AT_MAX = 200;
const IN_AGE = { priority: 1, createdAt: 1, _id: 1 } as const;

export function inWaitOrder(left: WaitPosition, right: WaitPosition): number {
  return (
    left.priority - right.priority ||
    left.since - right.since ||
    compareText(left.execution, right.execution)
  );
}

export function positionOfItem(item: WaitingItem): WaitPosition {
  const { _id, createdAt, priority } = item;
  const position = { priority: priority ?? DEFAULT_PRIORITY, since: createdAt, execution: _id };
  return { ...position, ...sameFairness(item) };
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
  except: ReadonlySet<string> = NONE,
): Promise<boolean> {
  const others = await othersOn(context, asking, {
    on,
    except,
    waits: beforePosition<SlotWaitDocument>(asking, IN_WAITS),
    items: beforePosition<ActivityDocument>(asking, IN_ITEMS),
  });
  return others.length > 0;
}

const NONE: ReadonlySet<string> = new Set();

/** The same in a line that takes turns. */
export async function isBehindInTurns(
  context: MongoContext,
  asking: WaitPosition,
  { except, line, on }: { on: string; line: LineState; except: ReadonlySet<string> },
): Promise<boolean> {
  const { priority } = asking;
  const first = { priority: { $lte: priority } };
  const others = await othersOn(context, asking, { on, except, waits: first, items: first });
  return others.some((other) => other.priority < priority || line.isBefore(other, asking));
}

interface Others {
  readonly on: string;
  readonly except: ReadonlySet<string>;
  readonly waits: Filter<SlotWaitDocument>;
  readonly items: Filter<ActivityDocument>;
}

/** Those of these that can go on. Items of which one can be claimed lack a worker, not slots. */
async function othersOn(
  context: MongoContext,
  asking: WaitPosition,
  { except, on, ...of }: Others,
): Promise<readonly WaitPosition[]> {
  const [waits, items] = await Promise.all([
    context.slotWaits
      .find({ ...waitsOn(on, 'waiting'), ...of.waits }, DECIDING)
      .limit(LOOKED_AT_MAX)
      .toArray(),
    context.activities
      .find({ ...itemsOn(on), ...of.items }, { ...DECIDING, projection: ITEM_FIELDS })
      .limit(LOOKED_AT_MAX)
      .toArray(),
  ]);
  if (waits.length === 0 && items.length === 0) return [];
  const isOther = (execution: string): boolean =>
    execution !== asking.execution && !except.has(execution);
  const others = waits.filter(({ execution }) => isOther(execution));
  const verified = await verifyWaits(context, others, false);
  const waiting = verified.flatMap(({ isRunnable, state, wait }) =>
    isRunnable && state === 'waiting' ? wait : [],
  );
  const runnable = await runnableOf(context, items);
  const ready = items.filter(({ _id, instanceId }) => isOther(_id) && runnable.has(instanceId));
  const offered = await offeredAmong(context, on, ready);
  return [...waiting, ...ready.filter(({ name }) => !offered.has(name)).map(positionOfItem)];
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

/** Of each name, the first items that wait for the key and can go on. Of a long line, also the first ones of each fairness key. */
export async function waitingItems(
  context: MongoContext,
  on: string,
  limit: number,
): Promise<readonly (readonly WaitingItem[])[]> {
  const names = await context.activities.distinct('name', itemsOn(on));
  return Promise.all(
    names.map(async (name) => {
      const filter = { ...itemsOn(on), name };
      const oldest = await context.activities
        .find(filter, { ...DECIDING, projection: ITEM_FIELDS })
        .sort(IN_AGE)
        .limit(limit)
        .toArray();
      const others =
        oldest.length < limit
          ? []
          : await firstOfKeys(context.activities, {
              filter,
              sort: IN_AGE,
              keysOf: (keys) => keys.slice(0, limit),
            });
      const found = new Map([...oldest, ...others].map((item) => [item._id, item]));
      const items: WaitingItem[] = [...found.values()];
      const runnable = await runnableOf(context, items);
      return items.filter(({ instanceId }) => runnable.has(instanceId));
    }),
  );
}
