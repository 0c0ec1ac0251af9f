/** The lines of limits: who waits for a key, and in which order. */
import { PRIORITIES } from '../../engine/model/start-options.js';
import { inWaitOrder, SLOTS_PER_GRANT, slotsKeyOf, type LimitKey } from '../records/slots.js';
import type { Line } from '../records/turns.js';
import { waitOf, type Asking, type StoredWait } from './slot-columns.js';
import { select, selectOne, type SqlSteps } from './statements.js';
import { firstInTurns, IS_FAIR_QUEUE, nextKeys, turnsOf, type Heads } from './turns.js';

/**
 * The status of an instance that is found by its id. As an expression, it keeps PostgreSQL from reading all instances of the status
 * for each row, which it would consider cheaper as long as its statistics are old.
 */
function statusOf(instance: string): string {
  return `(${instance}.status || '')`;
}

export function isOpen(instance: string): string {
  return `${statusOf(instance)} IN ('Runnable', 'Suspended')`;
}

function isRunnable(instance: string): string {
  return `${statusOf(instance)} = 'Runnable'`;
}

/** Parameters: the limit, the key and the state. Those whose instance has ended, or whose item is gone, count for nothing. */
export const WAITS = waitsBy('slot_waits_order');
/** The same, for those with the same name of an activity. */
const WAITS_BY_NAME = waitsBy('slot_waits_names');
/** The same, for those with the same fairness key, too. */
const WAITS_IN_TURNS = waitsBy('slot_waits_fair');

/** A query that finds something if somebody waits for the key that these columns name. */
export function waitedText(limit: string, key: string): string {
  return `SELECT 1 FROM ${waitsBy('slot_waits_order', [limit, key, "'waiting'"])}`;
}

function waitsBy(index: string, [limit, key, state] = ['?', '?', '?']): string {
  return `@slot_waits AS wait INDEXED BY ${index} JOIN @instances AS waiter ON waiter.id = wait.instanceId
  LEFT JOIN @activities AS item ON item.id = wait.execution
 WHERE wait.limitName = ${limit} AND wait.limitKey = ${key} AND wait.state = ${state} AND ${isOpen('waiter')}
   AND (wait.activityName IS NULL OR (item.done = FALSE AND item.settled = FALSE))`;
}

/** An item of the same activity can be claimed: those behind it lack a worker, not slots. */
export const IS_OFFERED = `EXISTS (SELECT 1 FROM @slot_waits AS offered INDEXED BY slot_waits_names
    JOIN @instances AS offerer ON offerer.id = offered.instanceId
    JOIN @activities AS offer ON offer.id = offered.execution
   WHERE offered.limitName = wait.limitName AND offered.limitKey = wait.limitKey AND offered.state = 'offered'
     AND offered.activityName = wait.activityName AND ${isRunnable('offerer')} AND offer.done = FALSE)`;

export const CAN_GO_ON = `AND ${isRunnable('waiter')}`;
/** All have the same name. PostgreSQL uses the order of an index after `IS NULL` only if its column is named. */
const IN_ORDER = 'ORDER BY wait.activityName, wait.priority, wait.since, wait.execution';

/** The line in which an execution takes turns. */
export function lineOn(on: LimitKey, { priority }: Pick<Asking, 'priority'>): Line {
  return { queue: slotsKeyOf(on), priority };
}

/** Those that wait for a key with the same name; null: executions that aren't items. */
interface Group extends LimitKey {
  readonly name: string | null;
}

function ofName(name: string | null): string {
  return name === null ? 'AND wait.activityName IS NULL' : 'AND wait.activityName = ?';
}

function valuesOf({ key, limit, name }: Group): readonly string[] {
  return [limit, key, 'waiting', ...(name === null ? [] : [name])];
}

interface FirstInLine {
  readonly waits: readonly StoredWait[];
  /** The line takes turns, so these aren't the first ones. */
  readonly isFair: boolean;
}

/** Those that can go on, in the order of priority and age. */
function* oldestInLine(group: Group, most: number): SqlSteps<FirstInLine> {
  const text = `SELECT wait.*, ${IS_FAIR_QUEUE} AS isFair FROM ${WAITS_BY_NAME} ${ofName(group.name)} ${CAN_GO_ON} ${IN_ORDER} LIMIT ?`;
  const rows = yield* select(text, slotsKeyOf(group), ...valuesOf(group), most);
  return { waits: rows.map(waitOf), isFair: rows[0]?.boolean('isFair') ?? false };
}

/**
 * Those that a grant looks at first: executions that aren't items, in order. PostgreSQL reads them once before it takes the locks of
 * their keys, too.
 */
export function* nextEffects({ key, limit }: LimitKey): SqlSteps<FirstInLine> {
  const effects = { limit, key, name: null };
  const oldest = yield* oldestInLine(effects, SLOTS_PER_GRANT);
  if (!oldest.isFair) return oldest;
  return { waits: yield* inTurns(effects, EFFECTS_READ), isFair: true };
}

/** How many are read at once of those that take turns. */
const EFFECTS_READ = 10;

/** The one that is next now. */
export function* nextEffect({ key, limit }: LimitKey): SqlSteps<StoredWait | null> {
  const [next] = yield* inTurns({ limit, key, name: null }, 1);
  return next ?? null;
}

/** The first items of a name that can go on, in order. */
export function* nextItems(group: Group, most: number): SqlSteps<readonly StoredWait[]> {
  const oldest = yield* oldestInLine(group, most);
  return oldest.isFair ? yield* inTurns(group, most) : oldest.waits;
}

function* inTurns(group: Group, most: number): SqlSteps<readonly StoredWait[]> {
  const waits: StoredWait[] = [];
  for (const priority of PRIORITIES) {
    const count = most - waits.length;
    if (count === 0) break;
    const { items } = yield* firstInTurns(lineOn(group, { priority }), {
      count,
      heads: headsOf(group),
      itemsOf: (key) =>
        ofPriority(group, [WAITS_IN_TURNS, 'AND wait.fairnessKey = ?', priority, key, count]),
      oldest: () => ofPriority(group, [WAITS_BY_NAME, '', priority, count]),
    });
    waits.push(...items);
  }
  return waits;
}

function* ofPriority(
  group: Group,
  [waits, condition, ...values]: readonly [string, string, ...(string | number)[]],
): SqlSteps<readonly StoredWait[]> {
  const text = `SELECT wait.* FROM ${waits} ${ofName(group.name)} ${CAN_GO_ON} AND wait.priority = ? ${condition}
    ORDER BY wait.activityName, wait.since, wait.execution LIMIT ?`;
  return (yield* select(text, ...valuesOf(group), ...values)).map(waitOf);
}

/** @param except one that doesn't count */
function headsOf(group: Group, except = ''): Heads {
  const text = `SELECT wait.execution FROM ${WAITS_IN_TURNS} AND wait.priority = t.priority AND wait.fairnessKey = t.fairnessKey
    ${ofName(group.name)} ${CAN_GO_ON} AND wait.execution <> ? ORDER BY wait.activityName, wait.since, wait.execution LIMIT 1`;
  return { text, values: [...valuesOf(group), except] };
}

export function* nextName({ key, limit }: LimitKey, after: string | null): SqlSteps<string | null> {
  const text = `SELECT activityName FROM @slot_waits INDEXED BY slot_waits_names
    WHERE limitName = ? AND limitKey = ? AND state = 'waiting' AND activityName ${after === null ? 'IS NOT NULL' : '> ?'}
    ORDER BY activityName LIMIT 1`;
  const row = yield* selectOne(text, limit, key, ...(after === null ? [] : [after]));
  return row?.textOrNull('activityName') ?? null;
}

/** Whether others that can go on are before it in a line that takes turns. Items of which one can be claimed lack a worker, not slots. */
export function* isBehindInTurns(asking: Asking, { key, limit }: LimitKey): SqlSteps<boolean> {
  const { execution, priority } = asking;
  const higher = `SELECT 1 AS found FROM ${WAITS} ${CAN_GO_ON} AND wait.priority < ? AND wait.execution <> ?
    AND (wait.activityName IS NULL OR NOT ${IS_OFFERED}) LIMIT 1`;
  if ((yield* selectOne(higher, limit, key, 'waiting', priority, execution)) !== null) return true;
  if (yield* isBehindGroup(asking, { limit, key, name: null })) return true;
  for (let name = yield* nextName({ limit, key }, null); name !== null;) {
    const group = { limit, key, name };
    if ((yield* isBehindGroup(asking, group)) && !(yield* isOffered(group))) return true;
    name = yield* nextName({ limit, key }, name);
  }
  return false;
}

function* isBehindGroup(asking: Asking, group: Group): SqlSteps<boolean> {
  const line = lineOn(group, asking);
  const [first] = yield* nextKeys(line, headsOf(group, asking.execution));
  if (first === undefined) return false;
  const row = yield* selectOne('SELECT * FROM @slot_waits WHERE execution = ?', first.head);
  if (row === null) return false;
  const wait = waitOf(row);
  const turns = yield* turnsOf(line, [asking, wait]);
  return (turns.compareKeys(wait, asking) || inWaitOrder(wait, asking)) < 0;
}

function* isOffered({ key, limit, name }: Group): SqlSteps<boolean> {
  const text = `SELECT 1 AS found FROM ${WAITS_BY_NAME} AND wait.activityName = ? ${CAN_GO_ON} LIMIT 1`;
  return (yield* selectOne(text, limit, key, 'offered', name)) !== null;
}
