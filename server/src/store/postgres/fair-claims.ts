/**
 * Claims of items of a name if some of them have fairness keys: a transaction that first takes the lock of the queue, so that claims of
 * all nodes take turns. All claims of the name that arrive at the same moment share it.
 */
import type { ActivityRecord, LongActivity } from '../records/activities.js';
import type { LimitKey } from '../records/slots.js';
import { itemsQueueOf, TURNS_TRIED_MAX, type Line, type Turns } from '../records/turns.js';
import { PRIORITIES, type Fairness, type Priority } from '../../engine/model/start-options.js';
import { activityOf } from '../sql/activities.js';
import type { Columns } from '../sql/columns.js';
import { fairnessOf, priorityOf } from '../sql/instances.js';
import { itemsLineOf, nextItem } from '../sql/item-turns.js';
import { removePassed, saveTurns, turnsOf } from '../sql/turns.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database, Statements } from './database.js';
import { lockKeys } from './key-locks.js';
import { Parameters } from './parameters.js';
import type { ActivityClaimRequest } from './postgres-context.js';
import type { Row } from './row.js';
import { runSteps } from './shared-operations.js';
import { claimNeedingSlots } from './slot-claims.js';
import { removeTurns } from './turn-locks.js';

/** How many items one transaction hands out. */
const TOGETHER_MAX = 20;

interface Asking {
  readonly position: number;
  readonly request: ActivityClaimRequest;
}

interface FairClaims {
  /** By the position of the request. */
  readonly claimed: ReadonlyMap<number, ActivityRecord | LongActivity>;
  readonly limited: readonly (readonly [position: number, on: LimitKey])[];
  /** The ids of items that were passed over, because their instances aren't Runnable. */
  readonly deferred: readonly string[];
  /** More items may be available. */
  readonly isIncomplete: boolean;
}

const NOTHING: FairClaims = { claimed: new Map(), limited: [], deferred: [], isIncomplete: false };

interface Candidate {
  readonly id: string;
  readonly instanceId: string;
  readonly fairness: Fairness | null;
  readonly priority: Priority;
  readonly length: number;
  readonly needsSlots: boolean;
  readonly isRunnable: boolean;
  /** Keys before its own, including it. 0: it isn't known. */
  readonly place: number;
}

const ITEM = `item.id, item.instance_id, item.priority, item.fairness_key, item.fairness_weight,
       octet_length(item.parameters) AS length, item.needs IS NOT NULL AS needs_slots,
       COALESCE((SELECT instance.status = 'Runnable' FROM @instances AS instance WHERE instance.id = item.instance_id), false) AS is_runnable`;

const IS_AVAILABLE = 'NOT done AND NOT settled AND available_at <= $2::bigint';

/** Sorted, so that the index is always used. */
function firstWith(key: string): string {
  return `(SELECT 1 FROM @activities WHERE name = $1 AND priority = level AND ${key} AND ${IS_AVAILABLE}
    ORDER BY available_at, id LIMIT 1)`;
}

/** The first items of the next keys, at the lowest number as priority. Keys are tried one after another, until there are enough items. */
const NEXT = `
WITH next AS MATERIALIZED (
  SELECT level FROM unnest(ARRAY[${PRIORITIES.join(', ')}]) AS level
   WHERE COALESCE(${firstWith(`fairness_key = ''`)}, ${firstWith(`fairness_key <> ''`)}) IS NOT NULL
   ORDER BY level LIMIT 1
)
SELECT first.*, line.place
  FROM next CROSS JOIN LATERAL (
    SELECT fairness_key, row_number() OVER (ORDER BY turn, since, fairness_key) AS place FROM @turns
     WHERE queue = $3 AND priority = next.level ORDER BY turn, since, fairness_key LIMIT ${TURNS_TRIED_MAX}
  ) AS line CROSS JOIN LATERAL (
    SELECT ${ITEM} FROM @activities AS item
     WHERE name = $1 AND priority = next.level AND fairness_key = line.fairness_key AND ${IS_AVAILABLE}
     ORDER BY available_at, id LIMIT $4::bigint
  ) AS first LIMIT $5::bigint`;

const DEFER = `
UPDATE @activities AS item SET available_at = $4::bigint, deferred = true
  FROM (
    SELECT id FROM @activities WHERE instance_id = ANY($1::text[]) AND name = $3 AND NOT done AND NOT settled
       AND available_at <= $2::bigint ORDER BY id FOR UPDATE SKIP LOCKED
  ) AS others WHERE item.id = others.id
RETURNING item.id`;

interface Taking {
  readonly id: string;
  readonly request: ActivityClaimRequest;
}

const TAKINGS: Columns<Taking> = {
  id: ['text', ({ id }) => id],
  token_hash: ['text', ({ request: { claim } }) => claim.tokenHash],
  worker_id: ['text', ({ request: { claim } }) => claim.workerId],
  lease_expires_at: ['number', ({ request: { claim } }) => claim.leaseExpiresAt],
};

/** @param rounds `extra`: items to examine beyond those that are wanted */
export async function claimFairly(
  database: Database,
  asking: readonly Asking[],
  rounds: { readonly extra: number; readonly isRepeated: boolean },
): Promise<FairClaims> {
  const [first] = asking;
  if (first === undefined) return NOTHING;
  const { name } = first.request;
  const result = await database.transaction(async (statements) => {
    await lockKeys(statements, [itemsQueueOf(name)]);
    return new FairRound(statements, asking.slice(0, TOGETHER_MAX), rounds).run();
  });
  const { passed, ...claims } = result;
  if (passed !== null) {
    await removeTurns(database, passed.line, () => removePassed(passed.line, passed.turns));
  }
  return claims;
}

interface Passed {
  readonly line: Line;
  readonly turns: Turns;
}

/** One transaction. */
class FairRound {
  readonly #statements: Statements;
  readonly #asking: readonly Asking[];
  readonly #rounds: { readonly extra: number; readonly isRepeated: boolean };
  readonly #name: string;
  readonly #now: number;

  constructor(
    statements: Statements,
    asking: readonly Asking[],
    rounds: { readonly extra: number; readonly isRepeated: boolean },
  ) {
    this.#statements = statements;
    this.#asking = asking;
    this.#rounds = rounds;
    this.#name = asking[0]?.request.name ?? '';
    this.#now = Math.min(...asking.map(({ request }) => request.now));
  }

  async run(): Promise<FairClaims & { readonly passed: Passed | null }> {
    const candidates = await this.#candidates();
    const [first] = candidates;
    if (first === undefined) return { ...NOTHING, passed: null };
    const line = itemsLineOf({ name: this.#name, priority: first.priority });
    const turns = await runSteps(this.#statements, turnsOf(line, candidates));
    const ordered = [...turns.inOrder(candidates)];
    const deferred = await this.#defer(ordered.filter(({ isRunnable }) => !isRunnable));
    const runnable = ordered.filter(({ isRunnable }) => isRunnable);
    const next = runnable[0];
    const claims =
      next?.needsSlots === true ? await this.#takeWithSlots(next) : await this.#take(runnable);
    for (const item of claims.handedOut) turns.handOut(item, this.#now);
    await runSteps(this.#statements, saveTurns(line, turns));
    const hasPassed = ordered.some(({ place }) => place > 1);
    const passed = hasPassed && turns.last !== null ? { line, turns } : null;
    const isIncomplete = next?.needsSlots === true || claims.claimed.size + deferred.length > 0;
    return { ...claims, deferred, isIncomplete, passed };
  }

  async #candidates(): Promise<readonly Candidate[]> {
    const wanted = this.#asking.length + this.#rounds.extra;
    const name = encodeTextWithoutNul(this.#name);
    const queue = encodeTextWithoutNul(itemsQueueOf(this.#name));
    const most = wanted * this.#asking.length;
    const rows = await this.#statements.query(NEXT, [name, this.#now, queue, wanted, most]);
    if (rows.length > 0) return rows.map(candidateOf);
    const id = await runSteps(this.#statements, nextItem(this.#name, this.#now));
    if (id === null) return [];
    const text = `SELECT ${ITEM}, 0 AS place FROM @activities AS item WHERE item.id = $1`;
    return (await this.#statements.query(text, [encodeTextWithoutNul(id)])).map(candidateOf);
  }

  async #defer(items: readonly Candidate[]): Promise<readonly string[]> {
    if (items.length === 0) return [];
    const until = Math.max(
      ...this.#asking.map(({ request }) => request.now + Math.max(1, request.deferMs)),
    );
    const ids = [...new Set(items.map(({ instanceId }) => encodeTextWithoutNul(instanceId)))];
    const values = [ids, this.#now, encodeTextWithoutNul(this.#name), until];
    return (await this.#statements.query(DEFER, values)).map((row) => row.text('id'));
  }

  async #takeWithSlots(item: Candidate) {
    const [asking] = this.#asking;
    const none = { claimed: new Map<number, never>(), limited: [], handedOut: [] };
    if (asking === undefined) return none;
    const { position, request } = asking;
    const { lengthMax = Infinity } = request;
    if (item.length > lengthMax) {
      return { ...none, claimed: new Map([[position, { parametersLength: item.length }]]) };
    }
    const { isRepeated } = this.#rounds;
    const taken = await claimNeedingSlots(this.#statements, request, { id: item.id, isRepeated });
    if (taken === null) return none;
    if ('limit' in taken) return { ...none, limited: [[position, taken] as const] };
    return { ...none, claimed: new Map([[position, taken]]), handedOut: [item] };
  }

  /** Up to the first one that needs slots. Others may have locked some of them. */
  async #take(items: readonly Candidate[]) {
    const claimed = new Map<number, ActivityRecord | LongActivity>();
    const takings: (Taking & { readonly item: Candidate; readonly position: number })[] = [];
    const rest = this.#asking.values();
    for (const item of items) {
      if (item.needsSlots) break;
      const asking = rest.next().value;
      if (asking === undefined) break;
      const { position, request } = asking;
      if (item.length > (request.lengthMax ?? Infinity)) {
        claimed.set(position, { parametersLength: item.length });
      } else takings.push({ id: item.id, item, position, request });
    }
    const taken = await this.#write(takings);
    const done = takings.filter(({ id }) => taken.has(id));
    for (const { id, position } of done) {
      const row = taken.get(id);
      if (row !== undefined) claimed.set(position, activityOf(row));
    }
    return { claimed, limited: [], handedOut: done.map(({ item }) => item) };
  }

  async #write(takings: readonly Taking[]): Promise<ReadonlyMap<string, Row>> {
    if (takings.length === 0) return new Map();
    const parameters = new Parameters();
    const rows = parameters.rows('taking', takings, TAKINGS);
    const now = parameters.add(this.#now);
    const taken = await this.#statements.query(
      `WITH free AS MATERIALIZED (
         SELECT item.id, taking.token_hash, taking.worker_id, taking.lease_expires_at
           FROM @activities AS item JOIN ${rows} ON taking.id = item.id
          WHERE NOT item.done AND NOT item.settled AND item.available_at <= ${now}::bigint
          ORDER BY item.id FOR UPDATE OF item SKIP LOCKED
       )
       UPDATE @activities AS item
          SET available_at = free.lease_expires_at, deferred = false, attempt = item.attempt + 1,
              token_hash = free.token_hash, worker_id = free.worker_id
         FROM free WHERE item.id = free.id
       RETURNING item.*`,
      parameters.values,
    );
    return new Map(taken.map((row) => [row.text('id'), row]));
  }
}

function candidateOf(row: Row): Candidate {
  return {
    id: row.text('id'),
    instanceId: row.text('instance_id'),
    fairness: fairnessOf(row),
    priority: priorityOf(row),
    length: row.number('length'),
    needsSlots: row.boolean('needs_slots'),
    isRunnable: row.boolean('is_runnable'),
    place: row.number('place'),
  };
}
