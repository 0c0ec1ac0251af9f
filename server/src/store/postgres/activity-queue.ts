/**
 * The activity queue: claims of its items. All claims that arrive at the same moment share one statement.
 *
 * The statement takes the next items of each name that no other claim is taking (SKIP LOCKED), so it never waits. It looks at
 * one priority after the other, and stops once it has enough, so it locks no others. It also defers items whose instances aren't Runnable, and claims without an item try again. The statement sees each instance
 * as it was when the statement began, so it claims no item whose instance was suspended before. Items that need slots are only
 * found by it: see slot-claims.ts. Names of which an item has a fairness key are left to fair-claims.ts.
 */
import { PRIORITIES } from '../../engine/model/start-options.js';
import { GroupCommit } from '../group-commit.js';
import type { ActivityRecord, ClaimedActivity, LongActivity } from '../records/activities.js';
import { distinctKeys, type LimitKey } from '../records/slots.js';
import { activityOf } from '../sql/activities.js';
import { IN_ANY_PRIORITY } from '../sql/activity-queue.js';
import type { Columns } from '../sql/columns.js';
import { HAS_KEYED_ITEMS } from '../sql/item-turns.js';
import type { OperationArguments } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { decodeText, encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { claimFairly } from './fair-claims.js';
import { LostClaims } from './lost-claims.js';
import { translate } from './notation.js';
import { Parameters, withParts } from './parameters.js';
import type { ActivityClaimRequest, Groups, PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';
import { claimWithSlots } from './slot-claims.js';

/** Maximum number of statements per call. Each but the last one has deferred items. */
const ROUNDS_MAX = 50;
/**
 * Number of items that the statement examines beyond those that are wanted. It grows with every round, because deferred
 * items fill the queue.
 */
const EXTRA_ITEMS_MAX = 512;
interface OpenRequest {
  readonly position: number;
  readonly request: ActivityClaimRequest;
  /** Items to examine beyond those that are wanted. */
  readonly extra: number;
}

const REQUESTS: Columns<OpenRequest> = {
  position: ['number', ({ position }) => position],
  name: ['text', ({ request: { name } }) => name],
  now: ['number', ({ request: { now } }) => now],
  token_hash: ['text', ({ request: { claim } }) => claim.tokenHash],
  worker_id: ['text', ({ request: { claim } }) => claim.workerId],
  lease_expires_at: ['number', ({ request: { claim } }) => claim.leaseExpiresAt],
  deferred_until: ['number', ({ request: { deferMs, now } }) => now + Math.max(1, deferMs)],
  length_max: ['number', ({ request: { lengthMax } }) => lengthMax ?? Number.MAX_SAFE_INTEGER],
  extra: ['number', ({ extra }) => extra],
};

/** An item without an instance belongs to an insert that was interrupted. It waits as if its instance were suspended. */
const CLAIMED = `fair AS MATERIALIZED (
  SELECT name FROM (SELECT DISTINCT name FROM requests) AS asked WHERE ${translate(HAS_KEYED_ITEMS.replace('?', 'asked.name'))}
),
wanted AS MATERIALIZED (
  SELECT name, min(now) AS now, max(deferred_until) AS deferred_until, count(*) AS count, max(extra) AS extra
    FROM requests WHERE name NOT IN (SELECT name FROM fair) GROUP BY name
),
found AS MATERIALIZED (
  SELECT item.*, wanted.now, wanted.deferred_until, instance.status IS NOT DISTINCT FROM 'Runnable' AS is_runnable
    FROM wanted CROSS JOIN LATERAL (
      SELECT queued.* FROM unnest(ARRAY[${PRIORITIES.join(', ')}]) AS level CROSS JOIN LATERAL (
        SELECT id, name, instance_id, priority, available_at, needs IS NOT NULL AS is_limited,
               octet_length(parameters) AS length FROM @activities
         WHERE name = wanted.name AND priority = level AND fairness_key = '' AND NOT done AND NOT settled AND available_at <= wanted.now
         ORDER BY available_at, id LIMIT wanted.count + wanted.extra FOR UPDATE SKIP LOCKED
      ) AS queued LIMIT wanted.count + wanted.extra
    ) AS item LEFT JOIN @instances AS instance ON instance.id = item.instance_id
),
ranked AS (
  SELECT id, name, length, is_limited, row_number() OVER (PARTITION BY name ORDER BY priority, available_at, id) AS rank
    FROM found WHERE is_runnable
),
long AS (
  SELECT position, length FROM ranked JOIN requests USING (name, rank) WHERE length > length_max
),
limited AS (
  SELECT position, id FROM ranked JOIN requests USING (name, rank) WHERE length <= length_max AND is_limited
),
claimed AS (
  UPDATE @activities AS item
     SET available_at = request.lease_expires_at, deferred = false, attempt = item.attempt + 1,
         token_hash = request.token_hash, worker_id = request.worker_id
    FROM ranked JOIN requests AS request USING (name, rank)
   WHERE item.id = ranked.id AND ranked.length <= request.length_max AND NOT ranked.is_limited
  RETURNING item.*, request.position
),
deferred AS (
  UPDATE @activities AS item SET available_at = others.deferred_until, deferred = true
    FROM (
      SELECT queued.id, passed.deferred_until
        FROM (SELECT DISTINCT instance_id, name, now, deferred_until FROM found WHERE NOT is_runnable) AS passed
        JOIN @activities AS queued ON queued.instance_id = passed.instance_id AND queued.name = passed.name
       WHERE NOT queued.done AND NOT queued.settled AND queued.available_at <= passed.now FOR UPDATE OF queued SKIP LOCKED
    ) AS others WHERE item.id = others.id
  RETURNING item.id
)`;

const RESULT = `SELECT array(SELECT id FROM deferred) AS passed_over, array(SELECT name FROM fair) AS fair,
       array(SELECT position || ' ' || length FROM long) AS long,
       array(SELECT position || ' ' || id FROM limited) AS limited, claimed.*
  FROM (SELECT 1) AS always LEFT JOIN claimed ON true`;

/**
 * If the instance was resumed in the meantime, that resume looked for deferred items too early. The lock waits for a resume
 * that is in progress, and then shows its status.
 */
const UNDO_DEFERRING = `
WITH held AS MATERIALIZED (
  SELECT id, status FROM @instances
   WHERE id IN (SELECT instance_id FROM @activities WHERE id = ANY($1::text[])) ORDER BY id FOR SHARE
)
UPDATE @activities AS item SET available_at = item.created_at, deferred = false
  FROM held
 WHERE item.id = ANY($1::text[]) AND item.deferred AND NOT item.done
   AND held.id = item.instance_id AND held.status = 'Runnable'`;

export function createActivityClaimGroup(database: Database): Groups['activityClaims'] {
  const lostClaims = new LostClaims(database);
  return new GroupCommit<ActivityClaimRequest, ClaimedActivity>({
    send: async (requests) => {
      try {
        return await claimActivities(database, requests);
      } catch (error) {
        if (error instanceof StoreUnavailableError) lostClaims.add(requests);
        throw error;
      }
    },
  });
}

export function claimActivity(
  { groups }: PostgresContext,
  [request]: OperationArguments<'claimActivity'>,
): Promise<ClaimedActivity> {
  return groups.activityClaims.submit(request);
}

async function claimActivities(
  database: Database,
  requests: readonly ActivityClaimRequest[],
): Promise<readonly ClaimedActivity[]> {
  const claimed = new Map<number, ActivityRecord | LongActivity>();
  const limitedBy = new Map<number, readonly LimitKey[]>();
  const addLimited = (position: number, on: LimitKey): unknown =>
    limitedBy.set(position, [...(limitedBy.get(position) ?? []), on]);
  let open = requests.map((request, position) => ({ request, position }));
  for (let round = 0; round < ROUNDS_MAX && open.length > 0; round += 1) {
    const extra = round === 0 ? 0 : Math.min(8 * 2 ** round, EXTRA_ITEMS_MAX);
    const rows = await claimOnce(
      database,
      open.map((each) => ({ ...each, extra })),
    );
    for (const row of rows) {
      const position = row.numberOrNull('position');
      if (position !== null) claimed.set(position, activityOf(row));
    }
    for (const long of rows[0]?.texts('long') ?? []) {
      const [position = NaN, parametersLength = NaN] = long.split(' ').map(Number);
      claimed.set(position, { parametersLength });
    }
    const limited = (rows[0]?.texts('limited') ?? []).map(candidateOf);
    for (const { id, position } of limited) {
      const request = requests[position];
      if (request === undefined) continue;
      const taken = await claimWithSlots(database, request, { id, isRepeated: round > 0 });
      if (taken === null) continue;
      if ('limit' in taken) addLimited(position, taken);
      else claimed.set(position, taken);
    }
    const deferred = [...(rows[0]?.texts('passed_over') ?? [])];
    let isRepeated = limited.length > 0;
    for (const name of rows[0]?.texts('fair') ?? []) {
      const asking = open.filter((each) => each.request.name === name);
      const fair = await claimFairly(database, asking, { extra, isRepeated: round > 0 });
      for (const [position, item] of fair.claimed) claimed.set(position, item);
      for (const [position, on] of fair.limited) addLimited(position, on);
      deferred.push(...fair.deferred);
      isRepeated ||= fair.isIncomplete;
    }
    open = open.filter(({ position }) => !claimed.has(position));
    if (deferred.length === 0 && !isRepeated) break;
    if (deferred.length === 0) continue;
    await database.execute(UNDO_DEFERRING, [deferred.map(encodeTextWithoutNul)]);
  }
  return requests.map((_request, position) => {
    const item = claimed.get(position) ?? null;
    const by = limitedBy.get(position);
    return by === undefined ? item : { ...item, limitedBy: distinctKeys(by) };
  });
}

/** An item that needs slots, and the request that may claim it. */
function candidateOf(text: string): { readonly position: number; readonly id: string } {
  const [position = ''] = text.split(' ', 1);
  return { position: Number(position), id: decodeText(text.slice(position.length + 1)) };
}

function claimOnce(database: Database, open: readonly OpenRequest[]): Promise<readonly Row[]> {
  const parameters = new Parameters();
  const requests = `requests AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY name ORDER BY position) AS rank
    FROM ${parameters.oneOrRows('request', open, REQUESTS)}
)`;
  return database.query(withParts([requests, CLAIMED], RESULT), parameters.values);
}

export async function findAvailableActivities(
  { database }: PostgresContext,
  [names, now]: OperationArguments<'findAvailableActivities'>,
): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT asked.name FROM unnest($1::text[]) AS asked (name)
      WHERE EXISTS (
        SELECT FROM @activities AS queued
         WHERE queued.name = asked.name AND queued.${IN_ANY_PRIORITY} AND queued.fairness_key = '' AND NOT queued.done
           AND NOT queued.settled AND queued.available_at <= $2::bigint)
         OR EXISTS (
        SELECT FROM @activities AS keyed
         WHERE keyed.name = asked.name AND keyed.${IN_ANY_PRIORITY} AND keyed.fairness_key <> '' AND NOT keyed.done
           AND NOT keyed.settled AND keyed.available_at <= $2::bigint)`,
    [names.map(encodeTextWithoutNul), now],
  );
  const available = new Set(rows.map((row) => row.text('name')));
  return names.filter((name) => available.has(name));
}
