/**
 * The events that an instance has taken: each at most once, oldest first.
 *
 * The newest are kept by id, because two nodes' clocks may order them differently. A floor covers the older ones, so that the
 * state doesn't grow in a loop that takes events forever.
 */
import type { EventPosition, TakenEvents, Instance } from '../model/instance.js';

const RECENT_MAX = 100;

/** The key under which events of a name and key are kept. */
export function eventKey(name: string, key: string): string {
  return JSON.stringify([name, key]);
}

export function isTaken(instance: Instance, key: string, event: EventPosition): boolean {
  const taken = instance.taken.get(key);
  if (taken === undefined) return false;
  if (taken.floor !== null && comparePositions(event, taken.floor) <= 0) return true;
  return taken.recent.some((position) => position.id === event.id);
}

export function markTaken(instance: Instance, key: string, event: EventPosition): void {
  const taken: TakenEvents = instance.taken.get(key) ?? { floor: null, recent: [] };
  taken.recent.push({ publishedAt: event.publishedAt, id: event.id });
  taken.recent.sort(comparePositions);
  if (taken.recent.length > RECENT_MAX) taken.floor = taken.recent.shift() ?? null;
  instance.taken.set(key, taken);
}

/** The position from which a wait with this effective date may still need stored events. */
export function searchStart(instance: Instance, key: string, effectiveAt: number): EventPosition {
  const floor = instance.taken.get(key)?.floor ?? null;
  const start = { publishedAt: effectiveAt, id: '' };
  return floor !== null && comparePositions(floor, start) > 0 ? floor : start;
}

export function comparePositions(a: EventPosition, b: EventPosition): number {
  if (a.publishedAt !== b.publishedAt) return a.publishedAt - b.publishedAt;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
