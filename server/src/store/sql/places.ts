/** Places: see ../records/places.ts. The steps of an insert and of a grant run under the lock of their key. */
import {
  HOLDERS_MAX,
  PLACES_COUNTED_MAX,
  PLACES_PER_GRANT,
  type PlaceGrants,
  type PlaceRequest,
  type PlacesOf,
} from '../records/places.js';
import type { InsertInstance, InsertInstanceResult } from '../records/instances.js';
import { change, select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';

const OPEN = `status IN ('Runnable', 'Suspended')`;
const OF_KEY = `@instances INDEXED BY instances_places WHERE definitionId = ? AND concurrencyKey = ? {AND concurrencyKey IS NOT NULL} AND ${OPEN}`;
const HELD = `${OF_KEY} AND place = 'held'`;
const WAITING = `${OF_KEY} AND place = 'waiting'`;
/** The insert terminates the others first. */
const NOT_REPLACED = ' AND (reference IS NULL OR reference <> ?)';
/** All that wait are queued. Of those that hold a place, the ones that haven't begun are last. */
const IN_ORDER = 'ORDER BY queued, priority, countsFrom, id';

type PlaceRefusal = Extract<InsertInstanceResult, { outcome: 'no-place' | 'queue-full' }>;

/** What the places of its key say to an insert; null: nothing against it. */
export function* refusalByPlaces({
  conflict,
  places,
  record,
}: InsertInstance): SqlSteps<PlaceRefusal | null> {
  const { concurrencyKey, place, reference } = record;
  if (places === undefined || concurrencyKey === null) return null;
  const of: PlacesOf = { definitionId: record.definitionId, key: concurrencyKey };
  const isReplacing = conflict?.action === 'terminate' && reference !== null;
  const [others, replaced] = isReplacing ? [NOT_REPLACED, [reference]] : ['', []];
  const all = [of.definitionId, of.key, ...replaced];
  if (place === 'waiting') {
    if (places.maxQueued === null) return null;
    const waiting = yield* countOf(`${WAITING}${others}`, all, places.maxQueued);
    return waiting >= places.maxQueued ? { outcome: 'queue-full' } : null;
  }
  if (place !== 'held') return null;
  const next = yield* countOf(`${WAITING} AND status = 'Runnable'${others}`, all, 1);
  const held = yield* countOf(`${HELD}${others}`, all, places.limit);
  if (next === 0 && held < places.limit) return null;
  return { outcome: 'no-place', holders: yield* holdersOf(of) };
}

export function* grantSteps({
  asking,
  definitionId,
  key,
  limit,
}: PlaceRequest): SqlSteps<PlaceGrants> {
  if (asking !== null) {
    const text = `UPDATE @instances SET place = 'waiting' WHERE id = ? AND place = 'later' AND ${OPEN}`;
    yield* change(text, asking);
  }
  const held = yield* countOf(HELD, [definitionId, key], limit);
  const free = Math.min(limit - held, PLACES_PER_GRANT);
  const next =
    free <= 0
      ? []
      : yield* select(
          `SELECT id FROM ${WAITING} AND status = 'Runnable' ${IN_ORDER} LIMIT ?`,
          definitionId,
          key,
          free,
        );
  // Everyone who locks several instances does so in this order.
  const ids = next.map((row) => row.text('id')).sort();
  for (const id of ids) {
    yield* change(`UPDATE @instances SET place = 'held' WHERE id = ? AND place = 'waiting'`, id);
  }
  const begin = yield* select(
    `SELECT id FROM ${HELD} AND queued = TRUE ${IN_ORDER} LIMIT ?`,
    definitionId,
    key,
    PLACES_PER_GRANT,
  );
  const granted = new Set([...ids, ...begin.map((row) => row.text('id'))]);
  return { ids: [...granted], isCut: ids.length === PLACES_PER_GRANT };
}

export const PLACE_OPERATIONS = {
  *countPlaces([of, id]) {
    const text = `SELECT COUNT(*) AS instances FROM (
      SELECT 1 FROM ${WAITING} AND (priority, countsFrom, id) <
        (SELECT priority, countsFrom, id FROM @instances WHERE id = ?) LIMIT ?) AS ahead`;
    const ahead = yield* selectOne(text, of.definitionId, of.key, id, PLACES_COUNTED_MAX);
    const held = yield* countOf(HELD, [of.definitionId, of.key], PLACES_COUNTED_MAX);
    return { held, holders: yield* holdersOf(of), ahead: ahead?.number('instances') ?? 0 };
  },

  *findWaitingKeys([definitionId, after, limit]) {
    const text = `SELECT DISTINCT concurrencyKey FROM @instances INDEXED BY instances_places
      WHERE definitionId = ? AND concurrencyKey > ? {AND concurrencyKey IS NOT NULL} AND ${OPEN} AND place = 'waiting'
      ORDER BY concurrencyKey LIMIT ?`;
    const first = `SELECT DISTINCT concurrencyKey FROM @instances INDEXED BY instances_places
      WHERE definitionId = ? {AND concurrencyKey IS NOT NULL} AND ${OPEN} AND place = 'waiting'
      ORDER BY concurrencyKey LIMIT ?`;
    const rows =
      after === null
        ? yield* select(first, definitionId, limit)
        : yield* select(text, definitionId, after, limit);
    return rows.map((row) => row.text('concurrencyKey'));
  },
} satisfies SqlOperations;

function* countOf(set: string, values: readonly string[], max: number): SqlSteps<number> {
  const text = `SELECT COUNT(*) AS instances FROM (SELECT 1 FROM ${set} LIMIT ?) AS counted`;
  return (yield* selectOne(text, ...values, max))?.number('instances') ?? 0;
}

function* holdersOf({ definitionId, key }: PlacesOf): SqlSteps<readonly string[]> {
  const text = `SELECT id FROM ${HELD} ${IN_ORDER} LIMIT ?`;
  const rows = yield* select(text, definitionId, key, HOLDERS_MAX);
  return rows.map((row) => row.text('id'));
}
