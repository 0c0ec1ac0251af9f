/**
 * Slots and waits as rows: who may take slots, and what changes with commits, inserts and items.
 *
 * All steps run in a transaction: SQLite has one writer, and PostgreSQL has taken the locks of all keys before (rule S15).
 */
import {
  beginTimeOf,
  readLimitRule,
  spend,
  type KeyUse,
  type LimitRule,
} from '../records/rates.js';
import {
  distinctKeys,
  keyIdOf,
  type LimitKey,
  type NeededSlot,
  type RefusedSlots,
} from '../records/slots.js';
import {
  RATE_COLUMNS,
  REPLACE_RATE,
  REPLACE_SLOT,
  REPLACE_WAIT,
  SLOT_COLUMNS,
  WAIT_COLUMNS,
  type Asking,
  type StoredWait,
} from './slot-columns.js';
import { CAN_GO_ON, IS_OFFERED, isBehindInTurns, isOpen, lineOn, WAITS } from './slot-lines.js';
import { put, select, selectOne, write, type SqlSteps } from './statements.js';
import { handOut, IS_FAIR, putTurn } from './turns.js';

/** Parameters: the limit, the key and the time. A slot is held while its instance is open, and a worker has its item. */
export const HELD = `@slots AS held INDEXED BY slots_key JOIN @instances AS holder ON holder.id = held.instanceId
  LEFT JOIN @activities AS item ON item.id = held.execution
 WHERE held.limitName = ? AND held.limitKey = ? AND ${isOpen('holder')}
   AND (held.isActivity = FALSE OR (item.done = FALSE AND item.tokenHash IS NOT NULL AND item.deferred = FALSE AND item.availableAt > ?))`;

/** The same, with those whose leases have ended, and without an execution. The first parameter is the time. */
const COUNTED = `SELECT COALESCE(SUM(CASE WHEN each.isLive THEN each.units ELSE 0 END), 0)::bigint AS held,
         COALESCE(SUM(CASE WHEN each.isLive THEN 0 ELSE 1 END), 0)::bigint AS ended
    FROM (SELECT held.units, held.isActivity = FALSE OR (item.deferred = FALSE AND item.availableAt > ?) AS isLive
            FROM @slots AS held INDEXED BY slots_key JOIN @instances AS holder ON holder.id = held.instanceId
            LEFT JOIN @activities AS item ON item.id = held.execution
           WHERE held.limitName = ? AND held.limitKey = ? AND ${isOpen('holder')}
             AND (held.isActivity = FALSE OR (item.done = FALSE AND item.tokenHash IS NOT NULL))
             AND held.execution <> ?) AS each`;

const USE = `SELECT
  (SELECT COALESCE(SUM(units), 0)::bigint FROM (SELECT held.units FROM ${HELD} AND held.execution <> ? LIMIT ?) AS counted) AS held,
  (SELECT spentUntil FROM @limit_rates WHERE limitName = ? AND limitKey = ?) AS spentUntil`;

/** Others that can go on wait for the key before it. */
const BEHIND = `EXISTS (SELECT 1 FROM ${WAITS} ${CAN_GO_ON}
    AND (wait.priority, wait.since, wait.execution) < (?, ?, ?) AND wait.execution <> ?
    AND (wait.activityName IS NULL OR NOT ${IS_OFFERED}))`;

const SPENT = `(SELECT spentUntil FROM @limit_rates WHERE limitName = ? AND limitKey = ?) AS spentUntil, ${BEHIND} AS isBehind, ${IS_FAIR} AS isFair`;
const USE_BEFORE = `SELECT counted.held, counted.ended, ${SPENT} FROM (${COUNTED}) AS counted`;
const RATE_BEFORE = `SELECT 0 AS held, 0 AS ended, ${SPENT}`;

export type Rules = ReadonlyMap<string, LimitRule>;

const RULES_PER_STATEMENT = 50;

/** Those of these limits that exist. */
export function* rulesOf(limits: Iterable<string>): SqlSteps<Rules> {
  const names = [...new Set(limits)];
  const rules = new Map<string, LimitRule>();
  for (let at = 0; at < names.length; at += RULES_PER_STATEMENT) {
    const some = names.slice(at, at + RULES_PER_STATEMENT);
    const text = `SELECT name, body FROM @resources WHERE kind = 'limit' AND name IN (${some.map(() => '?').join(', ')})`;
    for (const row of yield* select(text, ...some)) {
      const rule = readLimitRule(row.text('body'));
      if (rule !== null) rules.set(row.text('name'), rule);
    }
  }
  return rules;
}

/** @param except an execution whose slots don't count */
export function* useOf(
  { key, limit }: LimitKey,
  rule: LimitRule | undefined,
  { except = '', now }: { readonly now: number; readonly except?: string },
): SqlSteps<KeyUse> {
  const row = yield* selectOne(USE, limit, key, now, except, rule?.concurrency ?? 0, limit, key);
  return { held: row?.number('held') ?? 0, spentUntil: row?.numberOrNull('spentUntil') ?? 0 };
}

interface UseBefore extends KeyUse {
  readonly isBehind: boolean;
  readonly isFair: boolean;
  /** Leases have ended, and still have slots. */
  readonly hasEnded: boolean;
}

/** The use of a key for whose slots only executions ask that come first: it is read once, and then counted. */
export class CountedUse {
  readonly #on: string;
  #use: UseBefore | null = null;

  constructor(on: LimitKey) {
    this.#on = keyIdOf(on);
  }

  *useOf(on: LimitKey, read: () => SqlSteps<UseBefore>): SqlSteps<UseBefore> {
    if (keyIdOf(on) !== this.#on) return yield* read();
    this.#use ??= yield* read();
    return this.#use;
  }

  taken(need: NeededSlot): void {
    if (this.#use === null || keyIdOf(need) !== this.#on) return;
    this.#use = { ...this.#use, held: this.#use.held + need.units, hasEnded: false };
  }

  spent(on: LimitKey, spentUntil: number): void {
    if (this.#use !== null && keyIdOf(on) === this.#on) this.#use = { ...this.#use, spentUntil };
  }
}

function* useBefore(
  asking: Asking,
  { key, limit }: LimitKey,
  { concurrency, now }: { readonly concurrency: number | null; readonly now: number },
): SqlSteps<UseBefore> {
  const { execution, priority, since } = asking;
  const before = [limit, key, 'waiting', priority, since, execution, execution];
  const line = lineOn({ limit, key }, asking);
  const spent = [limit, key, ...before, line.queue, line.priority];
  const row =
    concurrency === null
      ? yield* selectOne(RATE_BEFORE, ...spent)
      : yield* selectOne(USE_BEFORE, ...spent, now, limit, key, execution);
  const held = row?.number('held') ?? 0;
  const spentUntil = row?.numberOrNull('spentUntil') ?? 0;
  const hasEnded = (row?.number('ended') ?? 0) > 0;
  const isFair = row?.boolean('isFair') ?? false;
  const isBehind = isFair
    ? yield* isBehindInTurns(asking, { limit, key })
    : (row?.boolean('isBehind') ?? false);
  return { held, spentUntil, hasEnded, isBehind, isFair };
}

/** Items whose leases have ended lose their slots before others get them, so no clock that is behind extends the lease. */
function* revokeEnded({ key, limit }: LimitKey, now: number): SqlSteps<void> {
  yield* write(
    `DELETE FROM @slots AS held WHERE held.limitName = ? AND held.limitKey = ? AND held.isActivity = TRUE
        AND EXISTS (SELECT 1 FROM @activities AS item
                     WHERE item.id = held.execution AND item.done = FALSE AND item.tokenHash IS NOT NULL
                       AND (item.deferred = TRUE OR item.availableAt <= ?))`,
    limit,
    key,
    now,
  );
}

interface FreeAnswer {
  readonly isFree: true;
  readonly at: number;
  /** Keys with slots of items whose leases have ended. */
  readonly ended: readonly LimitKey[];
  /** Of the keys that have a rate. */
  readonly rates: readonly {
    readonly need: NeededSlot;
    readonly rule: LimitRule;
    readonly spentUntil: number;
  }[];
  /** Keys whose lines take turns. */
  readonly fair: readonly LimitKey[];
}

export type Answer =
  FreeAnswer | (RefusedSlots & { readonly isFree: false; readonly retryAt: number | null });

interface Moment {
  readonly now: number;
  readonly aheadMs?: number;
  readonly counted?: CountedUse | undefined;
}

export function* judge(
  rules: Rules,
  asking: Asking,
  { aheadMs = 0, counted, now }: Moment,
): SqlSteps<Answer> {
  let at = now;
  const rates: FreeAnswer['rates'][number][] = [];
  const ended: LimitKey[] = [];
  const fair: LimitKey[] = [];
  for (const need of asking.needs) {
    const on = { limit: need.limit, key: need.key };
    const refusal = { isFree: false, execution: asking.execution, on } as const;
    const rule = rules.get(need.limit);
    if (rule === undefined) return { ...refusal, isUnknown: true, retryAt: null };
    const { concurrency, rate } = rule;
    const read = () => useBefore(asking, on, { concurrency, now });
    const use = yield* counted?.useOf(on, read) ?? read();
    const { hasEnded, held, isBehind, isFair, spentUntil } = use;
    if (hasEnded) ended.push(on);
    if (isFair) fair.push(on);
    const isFull = concurrency !== null && held + need.units > concurrency;
    if (isFull || isBehind) return { ...refusal, retryAt: null };
    if (rate === null) continue;
    if (need.units > rate.burst) return { ...refusal, retryAt: null };
    const earliest = beginTimeOf(rate, spentUntil, need.units);
    if (earliest > now + aheadMs) return { ...refusal, retryAt: earliest };
    at = Math.max(at, earliest);
    rates.push({ need, rule, spentUntil });
  }
  return { isFree: true, at, ended, rates, fair };
}

/** Takes all slots of an execution if they are free, and nobody waits for them before it. */
export function* takeSlots(
  rules: Rules,
  asking: Asking,
  { isActivity = false, ...moment }: Moment & { readonly isActivity?: boolean },
): SqlSteps<Answer> {
  const answer = yield* judge(rules, asking, moment);
  if (!answer.isFree) return answer;
  const { execution, instanceId } = asking;
  for (const on of answer.ended) yield* revokeEnded(on, moment.now);
  for (const need of asking.needs) {
    const slot = { ...need, execution, instanceId, isActivity };
    yield* put('slots', SLOT_COLUMNS, slot, REPLACE_SLOT);
    moment.counted?.taken(need);
  }
  for (const { need, rule, spentUntil: before } of answer.rates) {
    if (rule.rate === null) continue;
    const spentUntil = spend(rule.rate, before, { at: answer.at, units: need.units });
    yield* put('limit_rates', RATE_COLUMNS, { ...need, spentUntil }, REPLACE_RATE);
    moment.counted?.spent(need, spentUntil);
  }
  for (const on of answer.fair) yield* handOut(lineOn(on, asking), asking, moment.now);
  return answer;
}

export function* putWait(
  asking: Asking,
  { on, state }: Pick<StoredWait, 'on' | 'state'>,
  activityName: string | null = null,
): SqlSteps<void> {
  yield* put(
    'slot_waits',
    WAIT_COLUMNS,
    { ...asking, on, state, activityName, at: 0 },
    REPLACE_WAIT,
  );
  if (state === 'waiting') yield* putTurn(lineOn(on, asking), asking);
}

/** Unless it waits for something, or is claimed again by now. */
export function* putOffered(asking: Asking, activityName: string): SqlSteps<void> {
  const wait = { ...asking, on: asking.needs[0], state: 'offered', activityName, at: 0 } as const;
  yield* put('slot_waits', WAIT_COLUMNS, wait, 'ON CONFLICT (execution) DO NOTHING');
}

export function* removeWait(execution: string): SqlSteps<void> {
  yield* write('DELETE FROM @slot_waits WHERE execution = ?', execution);
}

/** The execution no longer holds or waits for anything. */
export function* freeSlots(execution: string): SqlSteps<void> {
  yield* removeWait(execution);
  yield* write('DELETE FROM @slots WHERE execution = ?', execution);
}

/** Those of these keys for which somebody waits. */
export function* waitedAmong(keys: readonly LimitKey[]): SqlSteps<readonly LimitKey[]> {
  const waited: LimitKey[] = [];
  for (const on of distinctKeys(keys)) {
    const text = `SELECT 1 AS found FROM ${WAITS} LIMIT 1`;
    if ((yield* selectOne(text, on.limit, on.key, 'waiting')) !== null) waited.push(on);
  }
  return waited;
}
