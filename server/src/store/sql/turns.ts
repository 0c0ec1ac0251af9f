/**
 * Turns of fairness keys as rows: see ../records/turns.ts. Whoever hands something out is alone: SQLite has one writer, and PostgreSQL
 * has taken the lock of the queue before.
 */
import {
  fairQueueOf,
  Turns,
  TURNS_TRIED_MAX,
  type Fair,
  type FairQueue,
  type Line,
  type TurnPosition,
  type TurnRecord,
} from '../records/turns.js';
import type { Columns, SqlValue } from './columns.js';
import { priorityOf } from './instances.js';
import { put, select, write, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

export const TURN_COLUMNS: Columns<TurnRecord> = {
  queue: ['text', ({ queue }) => queue],
  priority: ['number', ({ priority }) => priority],
  fairnessKey: ['text', ({ fairnessKey }) => fairnessKey],
  turn: ['real', ({ turn }) => turn],
  present: ['real', ({ present }) => present],
  since: ['number', ({ since }) => since],
};

const KEY = 'queue, priority, fairnessKey';
const REPLACE = `ON CONFLICT (${KEY}) DO UPDATE SET turn = excluded.turn, present = excluded.present, since = excluded.since`;

const PRESENT = `(SELECT present FROM @turns AS known WHERE known.queue = ? AND known.priority = ?::bigint AND known.fairnessKey = '')`;

const PUT_GROUP = `INSERT INTO @turns (${KEY}, turn, present, since) VALUES (?, ?, '', 0, 0, 0)
  ON CONFLICT (${KEY}) DO NOTHING`;
/** A key that enters the queue starts at the present. */
const PUT_KEY = `INSERT INTO @turns (${KEY}, turn, present, since) VALUES (?, ?, ?, COALESCE(${PRESENT}, 0), 0, ?)
  ON CONFLICT (${KEY}) DO NOTHING`;

/** What enters the queue may need a row of its key, and one of the group without a key. */
export function* putTurn(
  { priority, queue }: Line,
  { fairness, since }: Fair & { readonly since: number },
): SqlSteps<void> {
  if (fairness === null || fairness === undefined) return;
  const line = [queue, priority];
  yield* write(PUT_GROUP, ...line);
  yield* write(PUT_KEY, ...line, fairness.key, ...line, since);
}

/**
 * What is in a queue, of the key and with the priority of `t`. Parameters: those of `partsOf`. Sorted, so that PostgreSQL always uses
 * the index.
 */
const IN_QUEUE: Readonly<Record<FairQueue['kind'], string>> = {
  items: `@activities AS item INDEXED BY activities_queue WHERE item.name = ? AND item.priority = t.priority
     AND item.fairnessKey = t.fairnessKey AND item.done = FALSE AND item.settled = FALSE ORDER BY item.availableAt, item.id`,
  slots: `@slot_waits AS wait INDEXED BY slot_waits_fair WHERE wait.limitName = ? AND wait.limitKey = ? AND wait.state = 'waiting'
     AND wait.priority = t.priority AND wait.fairnessKey = t.fairnessKey ORDER BY wait.activityName, wait.since, wait.execution`,
  places: `@instances AS waiter INDEXED BY instances_fair WHERE waiter.definitionId = ? AND waiter.concurrencyKey = ?
     {AND waiter.concurrencyKey IS NOT NULL} AND waiter.place = 'waiting' AND waiter.status IN ('Runnable', 'Suspended')
     AND waiter.priority = t.priority AND waiter.fairnessKey = t.fairnessKey ORDER BY waiter.countsFrom, waiter.id`,
};

function partsOf(queue: FairQueue): readonly SqlValue[] {
  switch (queue.kind) {
    case 'items':
      return [queue.name];
    case 'slots':
      return [queue.limit, queue.key];
    case 'places':
      return [queue.definitionId, queue.key];
  }
}

/** How the first of a key that can be handed out is found. */
export interface Heads {
  /** A query of one id, of the key and with the priority of `t`. */
  readonly text: string;
  readonly values: readonly SqlValue[];
}

interface NextKey extends TurnPosition {
  readonly present: number;
  /** The id of the first of this key. */
  readonly head: string;
}

/** The next keys of which something can be handed out, in the order of turns. */
export function* nextKeys(line: Line, heads: Heads, limit = 1): SqlSteps<readonly NextKey[]> {
  const text = `SELECT fairnessKey, turn, since, head, COALESCE(${PRESENT}, 0) AS present FROM (
      SELECT t.fairnessKey, t.turn, t.since, (${heads.text}) AS head FROM @turns AS t INDEXED BY turns_order
       WHERE t.queue = ? AND t.priority = ?::bigint ORDER BY t.turn, t.since, t.fairnessKey LIMIT ${TURNS_TRIED_MAX}
    ) AS tried WHERE head IS NOT NULL LIMIT ?`;
  const { priority, queue } = line;
  const values = [queue, priority, ...heads.values, queue, priority, limit];
  const rows = yield* select(text, ...values);
  return rows.map((row) => ({
    ...positionOf(row),
    present: row.number('present'),
    head: row.text('head'),
  }));
}

function positionOf(row: StoredRow): TurnPosition {
  return {
    fairnessKey: row.text('fairnessKey'),
    turn: row.number('turn'),
    since: row.number('since'),
  };
}

/** The turns of these keys, and of the group without one. */
export function* turnsOf({ priority, queue }: Line, of: readonly Fair[]): SqlSteps<Turns> {
  const wanted = [...new Set(['', ...of.map(({ fairness }) => fairness?.key ?? '')])];
  const text = `SELECT fairnessKey, turn, since, present FROM @turns
    WHERE queue = ? AND priority = ? AND fairnessKey IN (${wanted.map(() => '?').join(', ')})`;
  const rows = yield* select(text, queue, priority, ...wanted);
  return new Turns(rows.map((row) => ({ ...positionOf(row), present: row.number('present') })));
}

/** Saves what was handed out. Those before it of which nothing is in the queue say nothing any more. */
export function* endTurns(line: Line, turns: Turns): SqlSteps<void> {
  yield* removePassed(line, turns);
  yield* saveTurns(line, turns);
}

export function* saveTurns(line: Line, turns: Turns): SqlSteps<void> {
  for (const record of turns.changedIn(line)) {
    yield* put('turns', TURN_COLUMNS, record, REPLACE);
  }
}

export function* removePassed(line: Line, { last }: Turns): SqlSteps<void> {
  if (last === null) return;
  const { priority, queue } = line;
  const parts = fairQueueOf(queue);
  const text = `DELETE FROM @turns WHERE queue = ? AND priority = ? AND fairnessKey IN (
      SELECT t.fairnessKey FROM @turns AS t INDEXED BY turns_order
       WHERE t.queue = ? AND t.priority = ? AND t.fairnessKey <> ''
         AND (t.turn, t.since, t.fairnessKey) < (?, ?::bigint, ?) AND (SELECT 1 FROM ${IN_QUEUE[parts.kind]} LIMIT 1) IS NULL
       ORDER BY t.turn, t.since, t.fairnessKey LIMIT ${TURNS_TRIED_MAX})`;
  const position = [last.turn, last.since, last.fairnessKey];
  yield* write(text, queue, priority, queue, priority, ...position, ...partsOf(parts));
}

/**
 * The first ones of a line, in the order of turns, as if all of them were handed out.
 * @param itemsOf the first `count` of a key
 * @param oldest the first `count` of all: they are next if nothing in the line has a key
 */
export function* firstInTurns<Item extends Fair>(
  line: Line,
  {
    count,
    heads,
    itemsOf,
    oldest,
  }: {
    readonly count: number;
    readonly heads: Heads;
    readonly itemsOf: (fairnessKey: string) => SqlSteps<readonly Item[]>;
    readonly oldest: () => SqlSteps<readonly Item[]>;
  },
): SqlSteps<{ readonly items: readonly Item[]; readonly turns: Turns }> {
  const items: Item[] = [];
  const keys = yield* nextKeys(line, heads, count);
  for (const { fairnessKey } of keys) items.push(...(yield* itemsOf(fairnessKey)));
  if (keys.length === 0) items.push(...(yield* oldest()));
  const turns = yield* turnsOf(line, items);
  return { items: [...turns.inOrder(items)].slice(0, count), turns };
}

/** Hands one out, if its line takes turns. */
export function* handOut(line: Line, item: Fair, now: number): SqlSteps<void> {
  const turns = yield* turnsOf(line, [item]);
  if (turns.isEmpty) return;
  turns.handOut(item, now);
  yield* endTurns(line, turns);
}

/** Rows that have long been as they are, by line. */
export function* oldTurns(
  before: number,
  limit: number,
): SqlSteps<readonly { readonly line: Line; readonly keys: readonly string[] }[]> {
  const text = `SELECT ${KEY} FROM @turns WHERE since < ? ORDER BY since, ${KEY} LIMIT ?`;
  const lines = new Map<string, { line: Line; keys: string[] }>();
  for (const row of yield* select(text, before, limit)) {
    const line = { queue: row.text('queue'), priority: priorityOf(row) };
    const id = `${line.priority} ${line.queue}`;
    const known = lines.get(id) ?? { line, keys: [] };
    known.keys.push(row.text('fairnessKey'));
    lines.set(id, known);
  }
  return [...lines.values()];
}

/** Removes those of these rows that say nothing any more. The others are looked at again later. */
export function* removeOldTurns(
  { priority, queue }: Line,
  keys: readonly string[],
  before: number,
): SqlSteps<void> {
  const parts = fairQueueOf(queue);
  const marks = keys.map(() => '?').join(', ');
  const these = `queue = ? AND priority = ? AND fairnessKey IN (${marks})`;
  const values = [queue, priority, ...keys];
  const unused = `DELETE FROM @turns WHERE fairnessKey <> '' AND ${these} AND fairnessKey NOT IN (
      SELECT t.fairnessKey FROM @turns AS t WHERE t.queue = ? AND t.priority = ? AND t.fairnessKey IN (${marks})
         AND (SELECT 1 FROM ${IN_QUEUE[parts.kind]} LIMIT 1) IS NOT NULL)`;
  yield* write(unused, ...values, ...values, ...partsOf(parts));
  if (keys.includes('')) {
    const last = `DELETE FROM @turns WHERE queue = ? AND priority = ? AND fairnessKey = ''
      AND NOT EXISTS (SELECT 1 FROM @turns AS t WHERE t.queue = ? AND t.priority = ? AND t.fairnessKey <> '')`;
    yield* write(last, queue, priority, queue, priority);
  }
  yield* write(`UPDATE @turns SET since = ?::bigint WHERE ${these}`, before, ...values);
}

/** Whether the line, or any of the queue, takes turns: columns of a query. Sorted, so that PostgreSQL always uses the index. */
export const IS_FAIR = `(SELECT 1 FROM @turns AS fair WHERE fair.queue = ? AND fair.priority = ?
  ORDER BY fair.fairnessKey LIMIT 1) IS NOT NULL`;
export const IS_FAIR_QUEUE = `(SELECT 1 FROM @turns AS fair WHERE fair.queue = ?
  ORDER BY fair.priority, fair.fairnessKey LIMIT 1) IS NOT NULL`;
