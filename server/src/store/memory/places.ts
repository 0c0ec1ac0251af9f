/** Places: see ../records/places.ts. */
import { isLive, type InsertInstance, type InstanceRecord } from '../records/instances.js';
import { HOLDERS_MAX, PLACES_PER_GRANT, type Place, type PlacesOf } from '../records/places.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

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
  [{ asking, limit, ...of }]: OperationArguments<'grantPlaces'>,
): OperationResult<'grantPlaces'> {
  const asks = asking === null ? undefined : data.instances.get(asking);
  if (asks?.place === 'later' && isLive(asks.status)) setPlace(data, asks, 'waiting');
  const free = Math.max(0, limit - inOrder(data, of, 'held').length);
  const next = inOrder(data, of, 'waiting').filter(isRunnable);
  const granted = next.slice(0, Math.min(free, PLACES_PER_GRANT));
  for (const instance of granted) setPlace(data, instance, 'held');
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
