/** Places: see ../records/places.ts. */
import { isLive, type InsertInstance, type InstanceRecord } from '../records/instances.js';
import {
  HOLDERS_MAX,
  PLACES_PER_GRANT,
  placesKeyOf,
  type Place,
  type PlacesOf,
} from '../records/places.js';
import type { Line } from '../records/turns.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';
import { putTurn, saveTurns, turnsOf } from './turns.js';

/** What the places of its key say to an insert; null: nothing against it. */
export function refusalByPlaces(
  data: MemoryData,
  { conflict, places, record }: InsertInstance,
): OperationResult<'insertInstance'> | null {
  const { concurrencyKey, definitionId, place, reference } = record;
  if (places === undefined || concurrencyKey === null) return null;
  const of = { definitionId, key: concurrencyKey };
  // The insert terminates the others first.
  const stays = (other: InstanceRecord): boolean =>
    conflict?.action !== 'terminate' || reference === null || other.reference !== reference;
  const waiting = inOrder(data, of, 'waiting').filter(stays);
  if (place === 'waiting') {
    return waiting.length >= (places.maxQueued ?? Infinity) ? { outcome: 'queue-full' } : null;
  }
  if (place !== 'held') return null;
  const held = inOrder(data, of, 'held').filter(stays);
  if (held.length < places.limit && !waiting.some(isRunnable)) return null;
  return { outcome: 'no-place', holders: holdersOf(data, of) };
}

export function grantPlaces(
  data: MemoryData,
  [{ asking, limit, now, ...of }]: OperationArguments<'grantPlaces'>,
): OperationResult<'grantPlaces'> {
  const asks = asking === null ? undefined : data.instances.get(asking);
  if (asks?.place === 'later' && isLive(asks.status)) {
    setPlace(data, asks, 'waiting');
    if (asks.definitionId === of.definitionId && asks.concurrencyKey === of.key) {
      enterLine(data, asks);
    }
  }
  const free = Math.max(0, limit - inOrder(data, of, 'held').length);
  const granted: InstanceRecord[] = [];
  while (granted.length < Math.min(free, PLACES_PER_GRANT)) {
    const next = nextOf(data, of);
    if (next === null) break;
    handOut(data, next, now);
    setPlace(data, next, 'held');
    granted.push(next);
  }
  const begin = inOrder(data, of, 'held').filter(({ queued }) => queued);
  const ids = [...granted, ...begin.slice(0, PLACES_PER_GRANT)].map(({ id }) => id);
  return { ids: [...new Set(ids)], isCut: granted.length === PLACES_PER_GRANT };
}

export function countPlaces(
  data: MemoryData,
  [of, id]: OperationArguments<'countPlaces'>,
): OperationResult<'countPlaces'> {
  const own = data.instances.get(id);
  const waiting = inOrder(data, of, 'waiting');
  const before = waiting.filter((other) => own !== undefined && compareInLine(other, own) < 0);
  const held = inOrder(data, of, 'held').length;
  return { held, holders: holdersOf(data, of), ahead: before.length };
}

export function findWaitingKeys(
  data: MemoryData,
  [definitionId, after, limit]: OperationArguments<'findWaitingKeys'>,
): OperationResult<'findWaitingKeys'> {
  const keys = new Set<string>();
  for (const { concurrencyKey: key, place, status, ...other } of data.instances.values()) {
    if (other.definitionId !== definitionId || place !== 'waiting' || !isLive(status)) continue;
    if (key !== null && (after === null || compareText(key, after) > 0)) keys.add(key);
  }
  return [...keys].sort(compareText).slice(0, limit);
}

/** An instance that waits for a place takes turns. */
export function enterLine(data: MemoryData, instance: InstanceRecord): void {
  const since = instance.countsFrom ?? instance.startTime;
  putTurn(data, lineOf(instance), { ...instance, since });
}

function nextOf(data: MemoryData, of: PlacesOf): InstanceRecord | null {
  const waiting = inOrder(data, of, 'waiting').filter(isRunnable);
  const [first] = waiting;
  if (first === undefined) return null;
  const equal = waiting.filter(({ priority }) => priority === first.priority);
  return turnsOf(data, lineOf(first)).inOrder(equal).next().value ?? null;
}

function handOut(data: MemoryData, instance: InstanceRecord, now: number): void {
  const line = lineOf(instance);
  const turns = turnsOf(data, line);
  if (turns.isEmpty) return;
  turns.handOut(instance, now);
  saveTurns(data, line, turns);
}

function lineOf({ concurrencyKey, definitionId, priority }: InstanceRecord): Line {
  return { queue: placesKeyOf({ definitionId, key: concurrencyKey ?? '' }), priority };
}

function isRunnable({ status }: InstanceRecord): boolean {
  return status === 'Runnable';
}

function setPlace(data: MemoryData, instance: InstanceRecord, place: Place): void {
  data.instances.set(instance.id, { ...instance, place });
}

function holdersOf(data: MemoryData, of: PlacesOf): readonly string[] {
  return inOrder(data, of, 'held')
    .slice(0, HOLDERS_MAX)
    .map(({ id }) => id);
}

/** The open instances with this place: those that have begun, then by priority, then by time. */
function inOrder(
  data: MemoryData,
  { definitionId, key }: PlacesOf,
  place: Place,
): readonly InstanceRecord[] {
  return [...data.instances.values()]
    .filter((other) => other.definitionId === definitionId && other.concurrencyKey === key)
    .filter((other) => other.place === place && isLive(other.status))
    .sort(
      (left, right) => Number(left.queued) - Number(right.queued) || compareInLine(left, right),
    );
}

function compareInLine(left: InstanceRecord, right: InstanceRecord): number {
  return (
    left.priority - right.priority ||
    (left.countsFrom ?? 0) - (right.countsFrom ?? 0) ||
    compareText(left.id, right.id)
  );
}
