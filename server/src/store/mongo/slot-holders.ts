/** What holds slots, and the takings of processes that may have died: see LB1 to LB7 in slot-keys.ts. */
import { randomUUID } from 'node:crypto';
import type { Filter } from 'mongodb';
import type { ActivityDocument, InstanceDocument } from './documents.js';
import type { SlotDocument, SlotWaitEntry, TakingDocument } from './slot-documents.js';
import { atSlotRevision } from './grouped-commits.js';
import type { MongoContext } from './mongo-context.js';
import { DECIDING } from './deciding.js';
import { type KeyState } from './slot-keys.js';
import { SLOT_FIELDS, slotFieldsOf, withSlots } from './slot-fields.js';
import { settleStart } from './slot-starts.js';

/** A taking that is older than this is given up, if its process may have died without a trace. */
export const TAKING_AGE_MS = 1000;
const ATTEMPTS_MAX = 20;

export const LIVE: Filter<InstanceDocument> = { status: { $in: ['Runnable', 'Suspended'] } };

/** What the same write frees: it isn't counted. Ids are as stored. */
export interface Freed {
  readonly executions: ReadonlySet<string>;
  /** Those that end before. */
  readonly instances: readonly string[];
}

export const NOTHING_FREED: Freed = { executions: new Set(), instances: [] };

/** Counts what is held, exactly. */
export async function recount(
  context: MongoContext,
  state: KeyState,
  { freed, now }: { readonly freed: Freed; readonly now: number },
): Promise<void> {
  const { before, on } = state;
  const pending = await unsettled(context, before.takings, now);
  const taking = [...pending.filter(({ execution }) => !isAdded(state, execution)), ...state.added];
  const executions = [...freed.executions, ...taking.map(({ execution }) => execution)];
  const held = await countForDecision(context, on, { executions, instances: freed.instances });
  state.held = held + sumOf(taking);
  state.isExact = true;
  state.isPartial = freed.executions.size + freed.instances.length > 0;
  const isWhole = state.added.length === 0 && !state.isPartial;
  const heldMax = isWhole ? state.held : before.heldMax;
  state.before = { ...before, heldMax, takings: pending };
}

/** What is held, for an offer. */
export async function heldNow(
  context: MongoContext,
  state: KeyState,
  now: number,
): Promise<number> {
  const pending = await unsettled(context, state.before.takings, now);
  const taking = [...pending.filter(({ execution }) => !isAdded(state, execution)), ...state.added];
  const executions = taking.map(({ execution }) => execution);
  return (await countHeld(context, state.on, executions, now)) + sumOf(taking);
}

/** When to look again because something is being taken, or its process has died; null: nothing is. */
export function retryTimeOf({ before, isExact }: KeyState, now: number): number | null {
  return isExact && before.takings.length > 0 ? now + TAKING_AGE_MS + 1 : null;
}

function isAdded({ added }: KeyState, execution: string): boolean {
  return added.some((each) => each.execution === execution);
}

function sumOf(slots: readonly { readonly units: number }[]): number {
  return slots.reduce((sum, { units }) => sum + units, 0);
}

/** Takes the slots from items whose leases have ended (LB7). False: there are none. */
export async function revokeEnded(
  { activities }: MongoContext,
  on: string,
  now: number,
): Promise<boolean> {
  const { modifiedCount } = await activities.updateMany(
    { ...itemsWith(on), $or: [{ availableAt: { $lte: now } }, { deferred: true }] },
    REVOCATION,
  );
  return modifiedCount > 0;
}

export const REVOCATION = { $unset: { slots: '' }, $set: { slotsLost: true } } as const;

/** What deciding counts: from what it doesn't count, the slots are taken. */
async function countForDecision(
  context: MongoContext,
  on: string,
  except: Except,
): Promise<number> {
  const [own, ofItems] = await Promise.all([
    countOwn(context, on, except),
    countItems(context, on, except),
  ]);
  const ended = ofItems.filter(({ isLive }) => !isLive).map(({ _id }) => _id);
  if (ended.length > 0) {
    await context.activities.updateMany(
      { ...itemsWith(on), instanceId: { $in: ended } },
      REVOCATION,
    );
  }
  return own + sumOf(ofItems.filter(({ isLive }) => isLive));
}

export function instancesWith(on: string): Filter<InstanceDocument> {
  // The index contains only those that have the field.
  return { 'slots.on': on, slots: { $exists: true }, ...LIVE };
}

export function itemsWith(on: string): Filter<ActivityDocument> {
  return { 'slots.on': on, slots: { $exists: true }, done: false };
}

/** Items whose leases haven't ended. Of a deferred one, the lease has ended, and its time is that of the next try. */
export function leasedAt(now: number): Filter<ActivityDocument> {
  return { availableAt: { $gt: now }, deferred: { $ne: true } };
}

/** What isn't counted. */
interface Except {
  readonly executions: readonly string[];
  readonly instances: readonly string[];
}

/** For display, and offers. @param except executions that are not counted */
export async function countHeld(
  context: MongoContext,
  on: string,
  except: readonly string[],
  now: number,
): Promise<number> {
  const executions = { executions: except, instances: [] };
  const [own, ofItems] = await Promise.all([
    countOwn(context, on, executions),
    countItems(context, on, executions, now),
  ]);
  return own + sumOf(ofItems.filter(({ isLive }) => isLive));
}

async function countOwn({ instances }: MongoContext, on: string, except: Except): Promise<number> {
  const counts = await instances
    .aggregate<{ units: number }>(
      [
        { $match: { ...instancesWith(on), ...notAmong('_id', except.instances) } },
        { $unwind: '$slots' },
        { $match: { 'slots.on': on, ...notAmong('slots.execution', except.executions) } },
        { $group: { _id: null, units: { $sum: '$slots.units' } } },
      ],
      DECIDING,
    )
    .toArray();
  return sumOf(counts);
}

interface ItemCount {
  /** The instance. */
  readonly _id: string;
  readonly units: number;
  readonly isLive: boolean;
}

function notAmong(field: string, values: readonly string[]): object {
  return values.length === 0 ? {} : { [field]: { $nin: [...values] } };
}

/** Items of ended instances hold nothing. @param now Omitted: leases that have ended count. */
async function countItems(
  { activities, instances }: MongoContext,
  on: string,
  except: Except,
  now?: number,
): Promise<readonly ItemCount[]> {
  const counts = await activities
    .aggregate<Omit<ItemCount, 'isLive'>>(
      [
        {
          $match: {
            ...itemsWith(on),
            ...notAmong('_id', except.executions),
            ...notAmong('instanceId', except.instances),
            ...(now !== undefined && leasedAt(now)),
          },
        },
        { $unwind: '$slots' },
        { $match: { 'slots.on': on } },
        { $group: { _id: '$instanceId', units: { $sum: '$slots.units' } } },
      ],
      DECIDING,
    )
    .toArray();
  const live = await liveAmong(
    { instances },
    counts.map(({ _id }) => _id),
  );
  return counts.map((count) => ({ ...count, isLive: live.has(count._id) }));
}

export async function liveAmong(
  { instances }: Pick<MongoContext, 'instances'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const found = await instances
    .find({ _id: { $in: [...ids] }, ...LIVE }, { ...DECIDING, projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** Those that can still have their effect. Others had it, or never will: what is counted after this says which. */
export async function unsettled(
  context: MongoContext,
  takings: readonly TakingDocument[],
  now: number,
): Promise<readonly TakingDocument[]> {
  if (takings.length === 0) return [];
  await finishGrants(context, takings);
  const isPending = await Promise.all([
    pendingCommits(context, takings),
    pendingClaims(context, takings, now),
    pendingStarts(context, takings, now),
  ]);
  return takings.filter(({ id }) => isPending.some((ids) => ids.has(id)));
}

type Ids = ReadonlySet<string>;

async function pendingCommits(
  { instances }: MongoContext,
  takings: readonly TakingDocument[],
): Promise<Ids> {
  const commits = takings.filter(({ commit }) => commit !== undefined);
  if (commits.length === 0) return new Set();
  const found = await instances
    .find(
      { _id: { $in: instancesOf(commits) } },
      { ...DECIDING, projection: { epoch: 1, inSeq: 1, revision: 1 } },
    )
    .toArray();
  const byId = new Map(found.map((document) => [document._id, document]));
  const isPending = ({ commit, instanceId }: TakingDocument): boolean => {
    const known = byId.get(instanceId);
    return (
      known?.epoch === commit?.epoch &&
      known?.inSeq === commit?.inSeq &&
      known?.revision === commit?.revision
    );
  };
  return new Set(commits.filter(isPending).map(({ id }) => id));
}

/** An old claim is given up: nobody may ever look at the item again. */
async function pendingClaims(
  { activities }: MongoContext,
  takings: readonly TakingDocument[],
  now: number,
): Promise<Ids> {
  const claims = takings.filter(({ slotTry }) => slotTry !== undefined);
  if (claims.length === 0) return new Set();
  const found = await activities
    .find(
      { _id: { $in: claims.map(({ execution }) => execution) }, done: false },
      { ...DECIDING, projection: { slotTry: 1 } },
    )
    .toArray();
  const tries = new Map(found.map(({ _id, slotTry }) => [_id, slotTry]));
  const pending = new Set<string>();
  for (const { at, execution, id, slotTry = '' } of claims) {
    if (tries.get(execution) !== slotTry) continue;
    if (now - at <= TAKING_AGE_MS) pending.add(id);
    else
      await activities.updateOne({ _id: execution, slotTry }, { $set: { slotTry: randomUUID() } });
  }
  return pending;
}

async function pendingStarts(
  context: MongoContext,
  takings: readonly TakingDocument[],
  now: number,
): Promise<Ids> {
  const starts = takings.filter(({ attempt }) => attempt !== undefined);
  if (starts.length === 0) return new Set();
  const found = await context.instances
    .find({ _id: { $in: instancesOf(starts) } }, { ...DECIDING, projection: { _id: 1 } })
    .toArray();
  const exists = new Set(found.map(({ _id }) => _id));
  const pending = new Set<string>();
  for (const { at, attempt = '', id, instanceId } of starts) {
    if (exists.has(instanceId)) continue;
    const isOld = now - at > TAKING_AGE_MS;
    if (!(await settleStart(context, attempt, { at: now, isOld }))) pending.add(id);
  }
  return pending;
}

function instancesOf(takings: readonly TakingDocument[]): string[] {
  return [...new Set(takings.map(({ instanceId }) => instanceId))];
}

/** Returns the ids of the waits that are granted now, of all of these. */
export async function finishGrants(
  context: MongoContext,
  takings: readonly TakingDocument[],
): Promise<Ids> {
  const grants = takings.filter(({ grant }) => grant !== undefined);
  const granted = new Set<string>();
  for (const instanceId of instancesOf(grants)) {
    const ids = new Set(
      grants.filter((each) => each.instanceId === instanceId).map(({ grant = '' }) => grant),
    );
    for (const id of await moveToSlots(context, instanceId, ids)) granted.add(id);
  }
  const moves = grants
    .filter(({ grant = '' }) => granted.has(grant))
    .map(({ at, grant = '' }) => ({
      updateOne: {
        filter: { _id: grant },
        update: { $set: { state: 'granted' as const, at } },
      },
    }));
  if (moves.length > 0) await context.slotWaits.bulkWrite(moves, { ordered: false });
  return granted;
}

/** Returns the ids of those waits that are granted. */
async function moveToSlots(
  { instances }: MongoContext,
  _id: string,
  ids: Ids,
): Promise<readonly string[]> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const known = await instances.findOne(
      { _id, ...LIVE },
      { ...DECIDING, projection: SLOT_FIELDS },
    );
    if (known === null) return [];
    const { slots = [], slotRevision = null, slotWaits = [] } = known;
    const moving = slotWaits.filter(({ id }) => ids.has(id));
    const now = slots.flatMap(({ grant }) => (grant !== undefined && ids.has(grant) ? grant : []));
    if (moving.length === 0) return now;
    const moved = {
      slots: moving.reduce(withSlotsOf, slots),
      slotWaits: slotWaits.filter(({ id }) => !ids.has(id)),
    };
    const { set, unset } = slotFieldsOf(moved);
    const { matchedCount } = await instances.updateOne(
      { _id, ...LIVE, ...atSlotRevision(slotRevision) },
      { $set: set, ...(Object.keys(unset).length > 0 && { $unset: unset }) },
    );
    if (matchedCount > 0) return [...now, ...moving.map(({ id }) => id)];
  }
  return [];
}

function withSlotsOf(
  slots: readonly SlotDocument[],
  { execution, id, needs }: SlotWaitEntry,
): readonly SlotDocument[] {
  const taken = needs.map((need) => ({ ...need, execution, grant: id }));
  return withSlots(slots, taken);
}
