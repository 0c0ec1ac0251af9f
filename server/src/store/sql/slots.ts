/** Slots: see ../records/slots.ts. The steps of a grant run in a transaction, under the locks of the keys. */
import { HOLDERS_MAX } from '../records/places.js';
import { beginTimeOf, roomOf, type LimitRule } from '../records/rates.js';
import {
  distinctKeys,
  earlier,
  grantOf,
  inWaitOrder,
  LIMIT_KEYS_MAX,
  mostWaitingFirst,
  offersOf,
  SLOTS_PER_GRANT,
  type GrantRequest,
  type LimitKey,
  type LimitKeyUse,
  type LimitUse,
  type SlotGrants,
} from '../records/slots.js';
import { waitOf, type StoredWait } from './slot-columns.js';
import { lineOn, nextEffect, nextEffects, nextItems, nextName, WAITS } from './slot-lines.js';
import { CountedUse, HELD, rulesOf, takeSlots, useOf, type Rules } from './slot-rows.js';
import { select, selectOne, write, type SqlOperations, type SqlSteps } from './statements.js';
import { putTurn } from './turns.js';

const IN_ORDER = 'ORDER BY wait.priority, wait.since, wait.execution';

/**
 * @param isLocked whether this key may be decided about: others are left to the next request
 */
export function* grantSteps(
  request: GrantRequest,
  isLocked: (on: LimitKey) => boolean = () => true,
): SqlSteps<SlotGrants> {
  const own = yield* rulesOf([request.limit]);
  const rule = own.get(request.limit);
  if (rule === undefined) return yield* refuseAll(request);
  const first = yield* nextEffects(request);
  const name = yield* nextName(request, null);
  const candidates = first.isFair
    ? nextInTurns(request)
    : inOrderOf(first.waits, yield* rulesFor(first.waits, own));
  // No item is before an effect.
  const counted = first.isFair || name !== null ? undefined : new CountedUse(request);
  const effects = yield* grantInOrder(candidates, { ...request, counted }, isLocked);
  const offers = name === null ? NO_OFFERS : yield* offerItems(rule, request, name);
  const begin = yield* select(
    `SELECT wait.* FROM ${WAITS} ${IN_ORDER} LIMIT ?`,
    request.limit,
    request.key,
    'granted',
    SLOTS_PER_GRANT,
  );
  const granted = new Map(
    [...begin.map(waitOf), ...effects.granted].map((wait) => [wait.execution, wait]),
  );
  return {
    begin: [...granted.values()].sort(inWaitOrder).map(grantOf),
    offered: offers.names,
    moved: effects.moved,
    retryAt: earlier(effects.retryAt, offers.retryAt),
    isCut: effects.isCut || offers.isCut,
  };
}

interface Granted {
  readonly granted: readonly StoredWait[];
  readonly moved: readonly LimitKey[];
  /** When the rate allows the next; null: the rate isn't what it waits for. */
  readonly retryAt: number | null;
  readonly isCut: boolean;
}

/** Those that may get their slots, one after another, with the limits that they need. Undefined: there is none. */
interface Candidates {
  readonly next: () => SqlSteps<{ readonly wait: StoredWait; readonly rules: Rules } | undefined>;
}

function* rulesFor(waits: readonly StoredWait[], known: Rules): SqlSteps<Rules> {
  const limits = waits.flatMap(({ needs }) => needs.map((need) => need.limit));
  return new Map([...known, ...(yield* rulesOf(limits.filter((limit) => !known.has(limit))))]);
}

function inOrderOf(waits: readonly StoredWait[], rules: Rules): Candidates {
  const rest = waits.values();
  return {
    *next() {
      const wait = rest.next().value;
      return wait && { wait, rules };
    },
  };
}

/** Each depends on what those before it got. */
function nextInTurns(on: LimitKey): Candidates {
  return {
    *next() {
      const wait = yield* nextEffect(on);
      return wait === null ? undefined : { wait, rules: yield* rulesFor([wait], new Map()) };
    },
  };
}

function* grantInOrder(
  candidates: Candidates,
  {
    aheadMs,
    counted,
    key,
    limit,
    now,
  }: GrantRequest & { readonly counted: CountedUse | undefined },
  isLocked: (on: LimitKey) => boolean,
): SqlSteps<Granted> {
  const granted: StoredWait[] = [];
  const moved: LimitKey[] = [];
  const all = () => ({ granted, moved: distinctKeys(moved) });
  for (let count = 0; count < SLOTS_PER_GRANT; count += 1) {
    const next = yield* candidates.next();
    if (next === undefined) return { ...all(), retryAt: null, isCut: false };
    const { rules, wait } = next;
    if (!wait.needs.every(isLocked)) return { ...all(), retryAt: null, isCut: true };
    const answer = yield* takeSlots(rules, wait, { now, aheadMs, counted });
    if (answer.isFree) {
      yield* write(
        `UPDATE @slot_waits SET state = 'granted', at = ? WHERE execution = ?`,
        answer.at,
        wait.execution,
      );
      granted.push({ ...wait, at: answer.at });
    } else if (answer.on.limit === limit && answer.on.key === key) {
      return { ...all(), retryAt: answer.retryAt, isCut: false };
    } else {
      yield* moveWait(wait, answer.on);
      moved.push(answer.on);
    }
  }
  return { ...all(), retryAt: null, isCut: true };
}

function* moveWait(wait: StoredWait, on: LimitKey): SqlSteps<void> {
  yield* write(
    'UPDATE @slot_waits SET limitName = ?, limitKey = ? WHERE execution = ?',
    on.limit,
    on.key,
    wait.execution,
  );
  yield* putTurn(lineOn(on, wait), wait);
}

interface Offers {
  readonly names: readonly string[];
  readonly retryAt: number | null;
  readonly isCut: boolean;
}

const NO_OFFERS: Offers = { names: [], retryAt: null, isCut: false };

/**
 * Of each name, as many items as there are free slots.
 * @param first the first name
 */
function* offerItems(rule: LimitRule, request: GrantRequest, first: string): SqlSteps<Offers> {
  const { limit, now } = request;
  const use = yield* useOf(request, rule, { now });
  const most = Math.min(SLOTS_PER_GRANT, roomOf(rule, use, now) + 1);
  const names: string[] = [];
  const offered: StoredWait[] = [];
  let retryAt: number | null = null;
  let isCut = false;
  for (let name: string | null = first; name !== null;) {
    const items = yield* nextItems({ ...request, name }, most);
    const offers = offersOf(rule, use, { items, limit, now });
    if (offers.items.length > 0) names.push(name);
    offered.push(...offers.items);
    retryAt = earlier(retryAt, offers.retryAt);
    isCut ||= offers.items.length === SLOTS_PER_GRANT;
    name = yield* nextName(request, name);
  }
  yield* makeAvailable(offered);
  return { names, retryAt, isCut };
}

/** In the order of their ids, like everyone who locks several items. */
function* makeAvailable(items: readonly StoredWait[]): SqlSteps<void> {
  const ids = items.map(({ execution }) => execution).sort();
  for (const id of ids) {
    yield* write(
      'UPDATE @activities SET availableAt = createdAt, deferred = FALSE WHERE id = ? AND done = FALSE AND deferred = TRUE',
      id,
    );
  }
  for (const id of ids) {
    yield* write(`UPDATE @slot_waits SET state = 'offered' WHERE execution = ?`, id);
  }
}

function* refuseAll({ key, limit }: LimitKey): SqlSteps<SlotGrants> {
  const waits: StoredWait[] = [];
  for (const state of ['waiting', 'offered', 'granted']) {
    const text = `SELECT wait.* FROM ${WAITS} ${IN_ORDER} LIMIT ?`;
    waits.push(...(yield* select(text, limit, key, state, SLOTS_PER_GRANT)).map(waitOf));
  }
  const begin = waits
    .sort(inWaitOrder)
    .slice(0, SLOTS_PER_GRANT)
    .map((wait) => ({ ...grantOf(wait), unknown: limit }));
  return { begin, offered: [], moved: [], retryAt: null, isCut: false };
}

export const SLOT_OPERATIONS = {
  /** Jumps from key to key. */
  *findWaitedKeys([after, limit]) {
    const keys: LimitKey[] = [];
    let from = after;
    while (keys.length < limit) {
      const next = yield* nextKey(from);
      if (next === null) break;
      from = next;
      if (yield* isWaitedFor(next)) keys.push(next);
    }
    return keys;
  },

  *countSlots([limits, now]) {
    const uses: LimitUse[] = [];
    for (const limit of limits) uses.push(yield* usesOf(limit, now));
    return uses;
  },

  *findSlotPosition([execution, now]) {
    const row = yield* selectOne('SELECT * FROM @slot_waits WHERE execution = ?', execution);
    if (row === null) return null;
    const { on, priority, since, state } = waitOf(row);
    if (state === 'granted') return null;
    const of = [on.limit, on.key];
    const open = yield* selectOne(
      `SELECT 1 AS found FROM ${WAITS} AND wait.execution = ? LIMIT 1`,
      ...of,
      state,
      execution,
    );
    if (open === null) return null;
    const rule = (yield* rulesOf([on.limit])).get(on.limit);
    const { held, spentUntil } = yield* wholeUseOf(on, now);
    if (state === 'offered' && (rule === undefined || roomOf(rule, { held, spentUntil }, now) >= 1))
      return null;
    const ahead = yield* selectOne(
      `SELECT COUNT(*) AS waits FROM ${WAITS} AND (wait.priority, wait.since, wait.execution) < (?, ?, ?)`,
      ...of,
      'waiting',
      priority,
      since,
      execution,
    );
    const holders = yield* select(
      `SELECT DISTINCT held.instanceId FROM ${HELD} ORDER BY held.instanceId LIMIT ?`,
      ...of,
      now,
      HOLDERS_MAX,
    );
    const rate = rule?.rate ?? null;
    return {
      on,
      since,
      held,
      holders: holders.map((holder) => holder.text('instanceId')),
      ahead: ahead?.number('waits') ?? 0,
      nextAt: rate === null ? 0 : Math.max(0, beginTimeOf(rate, spentUntil, 1)),
    };
  },
} satisfies SqlOperations;

const FIRST: LimitKey = { limit: '', key: '' };

function* nextKey(after: LimitKey | null): SqlSteps<LimitKey | null> {
  const { key, limit } = after ?? FIRST;
  const row = yield* selectOne(
    `SELECT limitName, limitKey FROM @slot_waits INDEXED BY slot_waits_order
      WHERE (limitName, limitKey) ${after === null ? '>=' : '>'} (?, ?) ORDER BY limitName, limitKey LIMIT 1`,
    limit,
    key,
  );
  return row === null ? null : { limit: row.text('limitName'), key: row.text('limitKey') };
}

function* isWaitedFor({ key, limit }: LimitKey): SqlSteps<boolean> {
  for (const state of ['waiting', 'granted']) {
    const text = `SELECT 1 AS found FROM ${WAITS} LIMIT 1`;
    if ((yield* selectOne(text, limit, key, state)) !== null) return true;
  }
  return false;
}

/** All units that are held, whatever the limit is. */
function* wholeUseOf(on: LimitKey, now: number): SqlSteps<{ held: number; spentUntil: number }> {
  const any: LimitRule = { concurrency: Number.MAX_SAFE_INTEGER, rate: null };
  return yield* useOf(on, any, { now });
}

const HELD_BY_KEY = `SELECT held.limitKey, SUM(held.units)::bigint AS units FROM ${HELD.replace('held.limitKey = ?', 'TRUE')}
 GROUP BY held.limitKey`;
const WAITING_BY_KEY = `SELECT wait.limitKey, COUNT(*) AS waits, MIN(wait.since) AS since FROM ${WAITS.replace('wait.limitKey = ?', 'TRUE')}
 GROUP BY wait.limitKey`;

function* usesOf(limit: string, now: number): SqlSteps<LimitUse> {
  const rule = (yield* rulesOf([limit])).get(limit);
  const uses = new Map<string, LimitKeyUse>();
  const noneOf = (key: string): LimitKeyUse =>
    uses.get(key) ?? { key, held: 0, waiting: 0, oldestWaitSince: null };
  for (const row of yield* select(HELD_BY_KEY, limit, now)) {
    const key = row.text('limitKey');
    uses.set(key, { ...noneOf(key), held: row.number('units') });
  }
  for (const state of ['waiting', 'offered']) {
    for (const row of yield* select(WAITING_BY_KEY, limit, state)) {
      const use = noneOf(row.text('limitKey'));
      const isLacking = state === 'waiting' || (yield* isFull({ limit, key: use.key }, rule, now));
      const since = row.number('since');
      const waiting = {
        waiting: use.waiting + row.number('waits'),
        oldestWaitSince: Math.min(use.oldestWaitSince ?? since, since),
      };
      uses.set(use.key, { ...use, ...(isLacking && waiting) });
    }
  }
  const all = [...uses.values()];
  return {
    held: all.reduce((sum, { held }) => sum + held, 0),
    waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
    keys: all.sort(mostWaitingFirst).slice(0, LIMIT_KEYS_MAX),
  };
}

function* isFull(on: LimitKey, rule: LimitRule | undefined, now: number): SqlSteps<boolean> {
  return rule !== undefined && roomOf(rule, yield* wholeUseOf(on, now), now) < 1;
}
