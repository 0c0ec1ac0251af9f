/** The use of limits, for display. */
import { HOLDERS_MAX } from '../records/places.js';
import { beginTimeOf, roomOf } from '../records/rates.js';
import {
  LIMIT_KEYS_MAX,
  type LimitKeyUse,
  type LimitUse,
  type SlotPosition,
} from '../records/slots.js';
import { decodeText, encodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import type { ActivityDocument } from './documents.js';
import type { SlotWaitDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import { countHeld, instancesWith, itemsWith, leasedAt, liveAmong } from './slot-holders.js';
import { readRules } from './slot-keys.js';
import { keysOf, limitKeyOf } from './slot-names.js';
import {
  beforePosition,
  IN_ITEMS,
  IN_WAITS,
  itemsOn,
  positionOfItem,
  verifyWaits,
  waitsOn,
  type WaitPosition,
} from './slot-waits.js';

interface Waiting {
  readonly count: number;
  readonly since: number;
}

interface Counted {
  readonly _id: string;
  readonly units: number;
  readonly since?: number;
}

interface ItemsCounted {
  readonly _id: { readonly on: string; readonly instanceId: string };
  readonly units: number;
  readonly since?: number;
}

export async function useOfLimit(
  context: MongoContext,
  limit: string,
  now: number,
): Promise<LimitUse> {
  const ons = keysOf(limit);
  const [held, waits, items, offered, keys, rules] = await Promise.all([
    heldByKey(context, ons, now),
    waitsByKey(context, ons),
    itemsByKey(context, ons, 'waiting'),
    itemsByKey(context, ons, 'offered'),
    context.limitKeys.find({ _id: ons }, { projection: { spentUntil: 1 } }).toArray(),
    readRules(context, [{ limit }]),
  ]);
  const rule = rules.get(limit) ?? null;
  const spent = new Map(keys.map(({ _id, spentUntil }) => [_id, spentUntil]));
  const used = [...held, ...waits, ...items, ...offered].map(({ _id }) => _id);
  const uses = [...new Set(used)].map((on): LimitKeyUse => {
    const units = sumOf(held, on);
    const use = { held: units, spentUntil: spent.get(on) ?? 0 };
    const isFull = rule !== null && roomOf(rule, use, now) < 1;
    const lacking = [...waits, ...items, ...(isFull ? offered : [])].filter(
      ({ _id }) => _id === on,
    );
    const waiting = waitingIn(lacking);
    return {
      key: limitKeyOf(on).key,
      held: units,
      waiting: waiting.count,
      oldestWaitSince: waiting.count === 0 ? null : waiting.since,
    };
  });
  const total = (what: 'held' | 'waiting'): number =>
    uses.reduce((sum, each) => sum + each[what], 0);
  const shown = uses
    .sort((left, right) => right.waiting - left.waiting || compareText(left.key, right.key))
    .slice(0, LIMIT_KEYS_MAX);
  return { held: total('held'), waiting: total('waiting'), keys: shown };
}

function sumOf(counted: readonly Counted[], on: string): number {
  return counted.reduce((sum, { _id, units }) => (_id === on ? sum + units : sum), 0);
}

function waitingIn(counted: readonly Counted[]): Waiting {
  return {
    count: counted.reduce((sum, { units }) => sum + units, 0),
    since: Math.min(...counted.map(({ since = Infinity }) => since)),
  };
}

type Keys = ReturnType<typeof keysOf>;

async function heldByKey(
  context: MongoContext,
  ons: Keys,
  now: number,
): Promise<readonly Counted[]> {
  const { activities, instances } = context;
  const slots = [{ $unwind: '$slots' }, { $match: { 'slots.on': ons } }];
  const units = { $sum: '$slots.units' };
  const inKeys = { 'slots.on': ons, slots: { $exists: true } };
  const live = { status: { $in: ['Runnable', 'Suspended'] } };
  const leased = { done: false, ...leasedAt(now) };
  const byKey = { $group: { _id: '$slots.on', units } };
  const byInstance = { $group: { _id: { on: '$slots.on', instanceId: '$instanceId' }, units } };
  const ofItems = activities.aggregate<ItemsCounted>([
    { $match: { ...inKeys, ...leased } },
    ...slots,
    byInstance,
  ]);
  const counted = await Promise.all([
    instances.aggregate<Counted>([{ $match: { ...inKeys, ...live } }, ...slots, byKey]).toArray(),
    ofLive(context, ofItems),
  ]);
  return counted.flat();
}

/** What a process has left that died, or lost, doesn't count. */
async function waitsByKey(context: MongoContext, on: Keys): Promise<readonly Counted[]> {
  const found = await context.slotWaits.find({ on, state: 'waiting' }).toArray();
  const verified = await verifyWaits(context, found, false);
  return verified.flatMap(({ state, wait }) =>
    state === 'waiting' ? [{ _id: wait.on, units: 1, since: wait.since }] : [],
  );
}

function itemsByKey(
  context: MongoContext,
  on: Keys,
  state: 'waiting' | 'offered',
): Promise<readonly Counted[]> {
  const _id = { on: '$slotOn', instanceId: '$instanceId' };
  const found = context.activities.aggregate<ItemsCounted>([
    { $match: itemsOn(on, state) },
    { $group: { _id, units: { $sum: 1 }, since: { $min: '$createdAt' } } },
  ]);
  return ofLive(context, found);
}

/** What ended instances have left doesn't count. */
async function ofLive(
  context: MongoContext,
  found: { toArray(): Promise<ItemsCounted[]> },
): Promise<readonly Counted[]> {
  const counted = await found.toArray();
  const live = await liveAmong(context, [...new Set(counted.map(({ _id }) => _id.instanceId))]);
  const ofOpen = counted.filter(({ _id }) => live.has(_id.instanceId));
  return ofOpen.map(({ _id, ...rest }) => ({ _id: _id.on, ...rest }));
}

interface Wait extends WaitPosition {
  readonly on: string;
  readonly isOffered: boolean;
}

export async function positionOnKey(
  context: MongoContext,
  execution: string,
  now: number,
): Promise<SlotPosition | null> {
  const wait = await findWait(context, encodeText(execution));
  if (wait === null) return null;
  const { on, since } = wait;
  const key = limitKeyOf(on);
  const [held, known, rules] = await Promise.all([
    countHeld(context, on, [], now),
    context.limitKeys.findOne({ _id: on }, { projection: { spentUntil: 1 } }),
    readRules(context, [key]),
  ]);
  const rule = rules.get(key.limit) ?? null;
  const spentUntil = known?.spentUntil ?? 0;
  if (wait.isOffered && (rule === null || roomOf(rule, { held, spentUntil }, now) >= 1))
    return null;
  const [holders, ahead] = await Promise.all([
    holdersOf(context, on, now),
    countAhead(context, wait),
  ]);
  const rate = rule?.rate ?? null;
  const nextAt = rate === null ? 0 : Math.max(0, beginTimeOf(rate, spentUntil, 1));
  return { on: key, since, held, holders, ahead, nextAt };
}

async function findWait(
  { activities, slotWaits }: MongoContext,
  execution: string,
): Promise<Wait | null> {
  const [wait, item] = await Promise.all([
    slotWaits.findOne({ execution, state: 'waiting' }, { sort: { since: -1 } }),
    activities.findOne(
      { _id: execution, done: false, slotOn: { $exists: true } },
      {
        projection: { instanceId: 1, name: 1, slotOn: 1, slotState: 1, priority: 1, createdAt: 1 },
      },
    ),
  ]);
  if (wait !== null) return { ...wait, isOffered: false };
  if (item?.slotOn === undefined) return null;
  return { ...positionOfItem(item), on: item.slotOn, isOffered: item.slotState === 'offered' };
}

async function countAhead({ activities, slotWaits }: MongoContext, wait: Wait): Promise<number> {
  const counts = await Promise.all([
    slotWaits.countDocuments({
      ...waitsOn(wait.on, 'waiting'),
      ...beforePosition<SlotWaitDocument>(wait, IN_WAITS),
    }),
    activities.countDocuments({
      ...itemsOn(wait.on),
      ...beforePosition<ActivityDocument>(wait, IN_ITEMS),
    }),
  ]);
  return counts[0] + counts[1];
}

async function holdersOf(
  { activities, instances }: MongoContext,
  on: string,
  now: number,
): Promise<readonly string[]> {
  const [own, ofItems] = await Promise.all([
    instances
      .find(instancesWith(on), { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(HOLDERS_MAX)
      .toArray(),
    activities
      .aggregate<{ _id: string }>([
        { $match: { ...itemsWith(on), ...leasedAt(now) } },
        { $group: { _id: '$instanceId' } },
        { $sort: { _id: 1 } },
        { $limit: HOLDERS_MAX },
      ])
      .toArray(),
  ]);
  const live = await liveAmong(
    { instances },
    ofItems.map(({ _id }) => _id),
  );
  const holding = [...own, ...ofItems.filter(({ _id }) => live.has(_id))];
  const ids = holding.map(({ _id }) => decodeText(_id));
  return [...new Set(ids)].sort(compareText).slice(0, HOLDERS_MAX);
}
