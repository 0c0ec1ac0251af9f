/** Places: see ../records/places.ts. The steps of an insert and of a grant run under the lock of their key. */
import {
  HOLDERS_MAX,
  PLACES_COUNTED_MAX,
  PLACES_PER_GRANT,
  placesKeyOf,
  type PlaceGrants,
  type PlaceRequest,
  type PlacesOf,
} from '../records/places.js';
import { PRIORITIES, type Fairness } from '../../engine/model/start-options.js';
import type { InsertInstance, InsertInstanceResult, InstanceRecord } from '../records/instances.js';
import type { SqlValue } from './columns.js';
import { fairnessOf, priorityOf } from './instances.js';
import { change, select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import { endTurns, firstInTurns, IS_FAIR_QUEUE, putTurn } from './turns.js';

const OPEN = `status IN ('Runnable', 'Suspended')`;
const OF_KEY = `@instances INDEXED BY instances_places WHERE definitionId = ? AND concurrencyKey = ? {AND concurrencyKey IS NOT NULL} AND ${OPEN}`;
const HELD = `${OF_KEY} AND place = 'held'`;
const WAITING = `${OF_KEY} AND place = 'waiting'`;
/** The insert terminates the others first. */
const NOT_REPLACED = ' AND (reference IS NULL OR reference <> ?)';
/** All that wait are queued. Of those that hold a place, the ones that haven't begun are last. */
const IN_ORDER = 'ORDER BY queued, priority, countsFrom, id';

const WAITING_WITH_KEY = `${WAITING.replace('instances_places', 'instances_fair')} AND fairnessKey = ?`;
const BY_AGE = 'ORDER BY countsFrom, id';

/** The first of the key of `t` that can go on. */
const HEAD = `SELECT waiter.id FROM @instances AS waiter INDEXED BY instances_fair
  WHERE waiter.definitionId = ? AND waiter.concurrencyKey = ? {AND waiter.concurrencyKey IS NOT NULL} AND waiter.place = 'waiting'
    AND waiter.${OPEN} AND waiter.status = 'Runnable' AND waiter.priority = t.priority AND waiter.fairnessKey = t.fairnessKey
  ORDER BY waiter.countsFrom, waiter.id LIMIT 1`;

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
  now,
}: PlaceRequest): SqlSteps<PlaceGrants> {
  if (asking !== null) {
    const text = `UPDATE @instances SET place = 'waiting' WHERE id = ? AND place = 'later' AND ${OPEN}`;
    yield* change(text, asking);
    yield* enterLine(asking, { definitionId, key });
  }
  const held = yield* countOf(HELD, [definitionId, key], limit);
  const free = Math.min(limit - held, PLACES_PER_GRANT);
  const next = free <= 0 ? [] : yield* nextOf({ definitionId, key }, free, now);
  // Everyone who locks several instances does so in this order.
  const ids = next.toSorted();
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

/** Those that can go on, in order. */
function* nextOf(of: PlacesOf, free: number, now: number): SqlSteps<readonly string[]> {
  const queue = placesKeyOf(of);
  const all = [of.definitionId, of.key];
  const rows = yield* select(
    `SELECT id, ${IS_FAIR_QUEUE} AS isFair FROM ${WAITING} AND status = 'Runnable' ${IN_ORDER} LIMIT ?`,
    queue,
    of.definitionId,
    of.key,
    free,
  );
  if (rows[0]?.boolean('isFair') !== true) return rows.map((row) => row.text('id'));
  const ids: string[] = [];
  for (const priority of PRIORITIES) {
    const line = { queue, priority };
    const count = free - ids.length;
    if (count === 0) break;
    const { items, turns } = yield* firstInTurns(line, {
      count,
      heads: { text: HEAD, values: all },
      itemsOf: (key) => waitingIn(WAITING_WITH_KEY, BY_AGE, [...all, key, priority, count]),
      oldest: () => waitingIn(`${WAITING} AND queued = TRUE`, BY_AGE, [...all, priority, count]),
    });
    if (!turns.isEmpty) {
      for (const item of items) turns.handOut(item, now);
      yield* endTurns(line, turns);
    }
    ids.push(...items.map(({ id }) => id));
  }
  return ids;
}

/** The first ones, in order. */
function* waitingIn(
  set: string,
  order: string,
  values: readonly SqlValue[],
): SqlSteps<readonly { readonly id: string; readonly fairness: Fairness | null }[]> {
  const text = `SELECT id, fairnessKey, fairnessWeight FROM ${set} AND status = 'Runnable' AND priority = ? ${order} LIMIT ?`;
  const rows = yield* select(text, ...values);
  return rows.map((row) => ({ id: row.text('id'), fairness: fairnessOf(row) }));
}

/** An instance that waits for a place from its start on takes turns. */
export function* enterAtStart(record: InstanceRecord): SqlSteps<void> {
  const { concurrencyKey: key, definitionId, id } = record;
  if (key !== null && entersLine(record)) yield* enterLine(id, { definitionId, key });
}

export function entersLine({ concurrencyKey, fairness, place }: InstanceRecord): boolean {
  return concurrencyKey !== null && fairness !== null && place === 'waiting';
}

/** An instance that waits for a place takes turns. */
export function* enterLine(id: string, of: PlacesOf): SqlSteps<void> {
  const text = `SELECT priority, fairnessKey, fairnessWeight, COALESCE(countsFrom, startTime) AS since FROM @instances
    WHERE id = ? AND definitionId = ? AND concurrencyKey = ? AND place = 'waiting' AND fairnessKey <> ''`;
  const row = yield* selectOne(text, id, of.definitionId, of.key);
  if (row === null) return;
  const line = { queue: placesKeyOf(of), priority: priorityOf(row) };
  yield* putTurn(line, { fairness: fairnessOf(row), since: row.number('since') });
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
