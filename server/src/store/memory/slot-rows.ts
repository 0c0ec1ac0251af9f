/** Slots and waits as they are stored: who may take slots, and what changes with commits, inserts and items. */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import { isLive, type InstanceCommit } from '../records/instances.js';
import type { ActivityRecord, NewActivityRecord } from '../records/activities.js';
import { beginTimeOf, readLimitRule, spend, type LimitRule } from '../records/rates.js';
import {
  distinctKeys,
  inWaitOrder,
  keyIdOf,
  type LimitKey,
  type NeededSlot,
  type RefusedSlots,
  type SlotRequest,
  slotsKeyOf,
  takesSlots,
  type SlotWait,
} from '../records/slots.js';
import type { Line, Turns } from '../records/turns.js';
import { FAR_FUTURE_MS } from '../store.js';
import type { HeldSlot, MemoryData, StoredWait } from './memory-data.js';
import { putItem } from './new-items.js';
import { keyOf } from './resources.js';
import { putTurn, saveTurns, turnsOf } from './turns.js';

/** Who asks, and its position among those that wait. */
interface Asking extends SlotRequest {
  readonly instanceId: string;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  readonly since: number;
}

type Answer =
  | { readonly isFree: true; readonly at: number }
  | (RefusedSlots & { readonly isFree: false; readonly retryAt: number | null });

/** Takes all slots of an execution if they are free, and nobody waits for them before it. */
export function takeSlots(
  data: MemoryData,
  asking: Asking,
  { isActivity = false, ...request }: { aheadMs?: number; now: number; isActivity?: boolean },
): Answer {
  const answer = judge(data, asking, { aheadMs: 0, ...request });
  if (!answer.isFree) return answer;
  for (const need of asking.needs) {
    const { execution, instanceId } = asking;
    if (ruleOf(data, need.limit)?.concurrency !== null) revokeEnded(data, need, request.now);
    data.slots.set(slotId(execution, need), { ...need, execution, instanceId, isActivity });
    const rate = ruleOf(data, need.limit)?.rate ?? null;
    const id = keyIdOf(need);
    handOut(data, need, asking, request.now);
    if (rate !== null) {
      const spending = { at: answer.at, units: need.units };
      data.rates.set(id, spend(rate, data.rates.get(id) ?? 0, spending));
    }
  }
  return answer;
}

/**
 * An item that needs slots is in its queue while they are free, and waits while they aren't. Returns the key for which it waits;
 * null: none.
 */
export function offerItem(data: MemoryData, item: ActivityRecord, now: number): LimitKey | null {
  const asking = askingOf(item);
  if (asking === null) return null;
  const answer = judge(data, asking, { now, aheadMs: 0 });
  if (!answer.isFree) return limitItem(data, item, answer.on);
  putWait(data, asking, { on: asking.needs[0], state: 'offered' }, item.name);
  return null;
}

/** No claim finds the item until its turn comes. */
export function limitItem(data: MemoryData, item: ActivityRecord, on: LimitKey): LimitKey {
  const asking = askingOf(item);
  const known = data.activities.get(item.id);
  if (asking === null || known === undefined) return on;
  const record = { ...item, availableAt: FAR_FUTURE_MS, tokenHash: null, workerId: null };
  data.activities.set(item.id, { ...known, record, deferred: true });
  putWait(data, asking, { on, state: 'waiting' }, item.name);
  return on;
}

export function makeAvailable(data: MemoryData, activityId: string): void {
  const known = data.activities.get(activityId);
  if (known === undefined) return;
  const record = { ...known.record, availableAt: known.record.createdAt };
  data.activities.set(activityId, { ...known, record, deferred: false });
}

/**
 * Frees, takes and waits for what a commit or an insert asks for. If something is refused, it changes nothing, and returns that. The
 * instance has been written before, so that its slots count.
 */
export function changeSlots(
  data: MemoryData,
  { side, slots }: Pick<InstanceCommit, 'side' | 'slots'>,
  taking: Taking,
): readonly RefusedSlots[] {
  const items = side.activities.flatMap(({ id: execution, needs }) =>
    needs === undefined ? [] : unknownLimits(data, execution, needs),
  );
  const claimed = side.activities.filter(takesSlots);
  if (items.length > 0 || (slots === undefined && claimed.length === 0)) return items;
  const { free = [], take = [], wait = [] } = slots ?? {};
  const before = copiesOf(data.activities, data.rates, data.slotWaits, data.slots, data.turns);
  for (const { execution } of free) freeSlots(data, execution);
  const refused = [
    ...takeAll(data, take, taking),
    ...claimed.flatMap((item) => takeItem(data, item)),
  ];
  if (refused.length > 0) {
    restore(before);
    return refused;
  }
  for (const { on, ...request } of wait) {
    putWait(data, { ...request, ...taking }, { on, state: 'waiting' });
  }
  return [];
}

/** An item that a worker gets with the commit. It holds its slots for those that follow. */
function takeItem(data: MemoryData, item: NewActivityRecord): readonly RefusedSlots[] {
  putItem(data, item);
  const asking = askingOf(item);
  const answer =
    asking === null ? null : takeSlots(data, asking, { now: item.createdAt, isActivity: true });
  if (answer?.isFree === false) return [refusedOf(answer)];
  data.slotWaits.delete(item.id);
  return [];
}

function unknownLimits(
  data: MemoryData,
  execution: string,
  needs: readonly NeededSlot[],
): readonly RefusedSlots[] {
  const on = needs.find(({ limit }) => ruleOf(data, limit) === null);
  if (on === undefined) return [];
  return [{ execution, on: { limit: on.limit, key: on.key }, isUnknown: true }];
}

interface Taking {
  readonly instanceId: string;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  readonly now: number;
}

/** Takes the slots of all of these executions. Returns those that can't have them. */
function takeAll(
  data: MemoryData,
  requests: readonly SlotRequest[],
  { now, ...taking }: Taking,
): readonly RefusedSlots[] {
  return requests.flatMap((request) => {
    const asking = { ...request, ...taking, since: now };
    const answer = takeSlots(data, asking, { now });
    return answer.isFree ? [] : [refusedOf(answer)];
  });
}

function refusedOf({ execution, isUnknown, on }: RefusedSlots): RefusedSlots {
  return { execution, on, ...(isUnknown === true && { isUnknown }) };
}

type Copies = readonly (readonly [Map<string, unknown>, readonly [string, unknown][]])[];

export function copiesOf(...maps: readonly Map<string, unknown>[]): Copies {
  return maps.map((map) => [map, [...map]]);
}

export function restore(copies: Copies): void {
  for (const [map, entries] of copies) {
    map.clear();
    for (const [key, value] of entries) map.set(key, value);
  }
}

export function askingOf(
  item: Pick<ActivityRecord, 'createdAt' | 'fairness' | 'id' | 'instanceId' | 'needs' | 'priority'>,
): Asking | null {
  const { createdAt: since, fairness = null, id: execution, instanceId, priority } = item;
  const [first, ...others] = item.needs ?? [];
  if (first === undefined) return null;
  return { execution, instanceId, priority, fairness, since, needs: [first, ...others] };
}

export function putWait(
  data: MemoryData,
  { execution, fairness, instanceId, needs, priority, since }: Asking,
  { on, state }: Pick<StoredWait, 'on' | 'state'>,
  activityName: string | null = null,
): void {
  const { limit, key } = on;
  const asking = { execution, instanceId, needs, priority, fairness, since };
  data.slotWaits.set(execution, { ...asking, state, activityName, at: 0, on: { limit, key } });
  if (state === 'waiting') putTurn(data, lineOn(on, asking), asking);
}

/** The execution no longer holds or waits for anything. */
export function freeSlots(data: MemoryData, execution: string): void {
  data.slotWaits.delete(execution);
  for (const [id, slot] of data.slots) if (slot.execution === execution) data.slots.delete(id);
}

export function freeSlotsOf(data: MemoryData, instanceId: string): void {
  for (const [execution, wait] of data.slotWaits) {
    if (wait.instanceId === instanceId) data.slotWaits.delete(execution);
  }
  for (const [id, slot] of data.slots) if (slot.instanceId === instanceId) data.slots.delete(id);
}

/** Those of these keys for which somebody waits. */
export function waitedAmong(data: MemoryData, keys: readonly LimitKey[]): readonly LimitKey[] {
  return distinctKeys(keys).filter((key) => waitsOn(data, key, 'waiting').length > 0);
}

export function prioritizeWaits(data: MemoryData, instanceId: string, priority: Priority): void {
  for (const [execution, wait] of data.slotWaits) {
    if (wait.instanceId === instanceId) data.slotWaits.set(execution, { ...wait, priority });
  }
}

function judge(
  data: MemoryData,
  asking: Asking,
  { aheadMs, now }: { readonly aheadMs: number; readonly now: number },
): Answer {
  let at = now;
  for (const need of asking.needs) {
    const on = { limit: need.limit, key: need.key };
    const refusal = { isFree: false, execution: asking.execution, on } as const;
    const rule = ruleOf(data, need.limit);
    if (rule === null) return { ...refusal, isUnknown: true, retryAt: null };
    const { held, spentUntil } = useOf(data, on, now, asking.execution);
    const isFull = rule.concurrency !== null && held + need.units > rule.concurrency;
    if (isFull || isBehind(data, asking, on)) return { ...refusal, retryAt: null };
    if (rule.rate === null) continue;
    if (need.units > rule.rate.burst) return { ...refusal, retryAt: null };
    const earliest = beginTimeOf(rule.rate, spentUntil, need.units);
    if (earliest > now + aheadMs) return { ...refusal, retryAt: earliest };
    at = Math.max(at, earliest);
  }
  return { isFree: true, at };
}

/** Others that can go on wait for the key before it. */
function isBehind(data: MemoryData, asking: Asking, on: LimitKey): boolean {
  const turns = turnsOf(data, lineOn(on, asking));
  return waitsOn(data, on, 'waiting').some(
    (other) =>
      other.execution !== asking.execution &&
      isRunnable(data, other) &&
      inFairOrder(turns, other, asking) < 0 &&
      (other.activityName === null || !isOffered(data, other.activityName, on)),
  );
}

/** The line in which the execution takes turns. */
export function lineOn(on: LimitKey, { priority }: Pick<Asking, 'priority'>): Line {
  return { queue: slotsKeyOf(on), priority };
}

function handOut(data: MemoryData, on: LimitKey, asking: Asking, now: number): void {
  const line = lineOn(on, asking);
  const turns = turnsOf(data, line);
  if (turns.isEmpty) return;
  turns.handOut(asking, now);
  saveTurns(data, line, turns);
}

/** @param turns those of the second one's priority */
function inFairOrder(turns: Turns, left: Asking, right: Asking): number {
  return (
    left.priority - right.priority || turns.compareKeys(left, right) || inWaitOrder(left, right)
  );
}

/** Whether an item of the activity can be claimed: if it isn't, those behind it lack a worker, not slots. */
function isOffered(data: MemoryData, name: string, on: LimitKey): boolean {
  return waitsOn(data, on, 'offered').some(
    (wait) => wait.activityName === name && isRunnable(data, wait),
  );
}

/** @param except an execution whose slots don't count */
export function useOf(
  data: MemoryData,
  on: LimitKey,
  now: number,
  except?: string,
): { readonly held: number; readonly spentUntil: number } {
  const others = heldOf(data, on, now).filter(({ execution }) => execution !== except);
  const held = others.reduce((sum, { units }) => sum + units, 0);
  return { held, spentUntil: data.rates.get(keyIdOf(on)) ?? 0 };
}

export function heldOf(data: MemoryData, on: LimitKey, now: number): readonly HeldSlot[] {
  return [...data.slots.values()].filter(
    (slot) => keyIdOf(slot) === keyIdOf(on) && isHeld(data, slot, now),
  );
}

/** Items whose leases have ended lose their slots before others get them, so no clock that is behind extends the lease. */
function revokeEnded(data: MemoryData, on: LimitKey, now: number): void {
  for (const [id, slot] of data.slots) {
    if (!slot.isActivity || keyIdOf(slot) !== keyIdOf(on)) continue;
    const item = data.activities.get(slot.execution);
    const isOpen = item !== undefined && !item.record.done && item.record.tokenHash !== null;
    if (isOpen && (item.deferred || item.record.availableAt <= now)) data.slots.delete(id);
  }
}

/** Whether the execution has not lost any of its slots. */
export function hasSlots(
  data: MemoryData,
  execution: string,
  needs: readonly NeededSlot[],
): boolean {
  return needs.every((need) => data.slots.has(slotId(execution, need)));
}

export function isHeld(
  data: MemoryData,
  { execution, instanceId, isActivity }: HeldSlot,
  now: number,
) {
  const instance = data.instances.get(instanceId);
  if (instance === undefined || !isLive(instance.status)) return false;
  if (!isActivity) return true;
  const item = data.activities.get(execution);
  // The lease of a deferred one has ended.
  if (item === undefined || item.deferred || item.record.done) return false;
  return item.record.tokenHash !== null && item.record.availableAt > now;
}

/** Waits whose instance has ended, or whose item is gone, count for nothing. They are removed with the next commit, or a purge. */
export function isOpen(
  data: MemoryData,
  { activityName, execution, instanceId }: StoredWait,
): boolean {
  const instance = data.instances.get(instanceId);
  if (instance === undefined || !isLive(instance.status)) return false;
  if (activityName === null) return true;
  const item = data.activities.get(execution)?.record;
  return item !== undefined && !item.done && !item.withdrawn;
}

export function isRunnable(
  data: MemoryData,
  { instanceId }: Pick<SlotWait, 'instanceId'>,
): boolean {
  return data.instances.get(instanceId)?.status === 'Runnable';
}

/** In order. */
export function waitsOn(
  data: MemoryData,
  on: LimitKey,
  state: StoredWait['state'],
): readonly StoredWait[] {
  return [...data.slotWaits.values()]
    .filter(
      (wait) => keyIdOf(wait.on) === keyIdOf(on) && wait.state === state && isOpen(data, wait),
    )
    .sort(inWaitOrder);
}

export function ruleOf(data: MemoryData, limit: string): LimitRule | null {
  const resource = data.resources.get(keyOf('limit', limit));
  return resource === undefined ? null : readLimitRule(resource.body);
}

function slotId(execution: string, { limit }: NeededSlot): string {
  return `${execution}/${limit}`;
}
