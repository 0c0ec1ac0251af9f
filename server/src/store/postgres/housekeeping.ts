/** Nodes, retention and statistics. */
import { termsOf } from '../index-terms.js';
import { indexIn, tagsIn } from '../json-columns.js';
import {
  isBeingRemoved,
  REMOVAL_OFFSET,
  REMOVED_FIELDS,
  removalRevision,
  type EndedInstance,
  type PurgeRequest,
  type StoreStatistics,
} from '../records/housekeeping.js';
import type { InstanceRecord, InstanceStatus } from '../records/instances.js';
import type { Columns } from '../sql/columns.js';
import {
  purgeRows,
  NODE_COLUMNS,
  REPLACE_NODE,
  HOUSEKEEPING_OPERATIONS,
} from '../sql/housekeeping.js';
import { insert } from '../sql/statements.js';
import { oldTurns, removeOldTurns } from '../sql/turns.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';
import { termParts } from './terms.js';
import { removeTurns } from './turn-locks.js';

/** Maximum number of instances that one statement removes, with everything that belongs to them. */
const PURGED_TOGETHER = 50;
/** Maximum number of step records that one statement removes, so that long histories block no other writer. */
const PURGED_HISTORY_MAX = 10_000;
/** Maximum number of wake times that one purge examines, the earliest first. */
const CHECKED_WAKES_MAX = 1000;

export async function putNode(
  { database, readServerTime }: PostgresContext,
  [node]: OperationArguments<'putNode'>,
): Promise<void> {
  await runSteps(database, insert('nodes', NODE_COLUMNS, node, REPLACE_NODE));
  await readServerTime();
}

/** Several nodes may purge at the same time. Each skips the rows that another one is removing. */
export async function purge(
  { database }: PostgresContext,
  [request]: OperationArguments<'purge'>,
): Promise<OperationResult<'purge'>> {
  const isKept = request.keepsInstances === true;
  const instances = isKept ? 0 : await purgeInstances(database, request);
  const { activities, events, joined } = await runSteps(database, purgeRows(request));
  await purgeLeftWakes(database);
  await purgeRates(database, request);
  const turns = await purgeTurns(database, request);
  const isComplete = Math.max(joined, turns) < request.limit;
  return { instances, events, activities, isComplete };
}

export async function statistics({ database }: PostgresContext): Promise<StoreStatistics> {
  const [statuses, activities, undelivered] = await Promise.all([
    database.query('SELECT status, count(*) AS count FROM @instances GROUP BY status'),
    database.query(
      `SELECT name, count(*) AS waiting, min(available_at) AS oldest FROM @activities
        WHERE NOT done AND NOT settled AND token_hash IS NULL GROUP BY name ORDER BY waiting DESC, name LIMIT 10`,
    ),
    database.query('SELECT count(*) AS count FROM @events WHERE delivered_to IS NULL'),
  ]);
  const counts = new Map(statuses.map((row) => [row.text('status'), row.number('count')]));
  const countOf = (status: InstanceStatus): number => counts.get(status) ?? 0;
  return {
    instances: {
      Runnable: countOf('Runnable'),
      Suspended: countOf('Suspended'),
      Complete: countOf('Complete'),
      Terminated: countOf('Terminated'),
    },
    activities: activities.map((row) => ({
      name: row.text('name'),
      waiting: row.number('waiting'),
      oldestAvailableAt: row.numberOrNull('oldest'),
    })),
    undeliveredEvents: undelivered[0]?.number('count') ?? 0,
  };
}

export async function removeInstances(
  { database }: PostgresContext,
  [instances]: OperationArguments<'removeInstances'>,
): Promise<OperationResult<'removeInstances'>> {
  let removed = 0;
  for (let at = 0; at < instances.length; at += PURGED_TOGETHER) {
    removed += await removeTogether(database, instances.slice(at, at + PURGED_TOGETHER));
  }
  return { removed, isComplete: true };
}

async function purgeInstances(database: Database, request: PurgeRequest): Promise<number> {
  let purged = 0;
  while (purged < request.limit) {
    const wanted = Math.min(PURGED_TOGETHER, request.limit - purged);
    const expired = await runSteps(
      database,
      HOUSEKEEPING_OPERATIONS.findExpiredInstances([request, wanted]),
    );
    if (expired.length === 0) break;
    const removed = await removeTogether(database, expired);
    purged += removed;
    // Another node has removed all of them, or these were the last ones.
    if (removed === 0 || expired.length < wanted) break;
  }
  return purged;
}

type EndedRow = EndedInstance & Pick<InstanceRecord, 'tags' | 'index'>;

async function removeTogether(
  database: Database,
  instances: readonly EndedInstance[],
): Promise<number> {
  const { ended, isLong } = await readEnded(database, instances);
  if (ended.length === 0) return 0;
  if (!isLong) return purgeTogether(database, ended);
  const marked = await markRemovals(database, ended);
  await purgeHistory(
    database,
    marked.map(({ id }) => encodeTextWithoutNul(id)),
  );
  return purgeTogether(database, marked);
}

/** Those that haven't changed, with their terms, and whether their histories are too long for one statement. */
async function readEnded(
  database: Database,
  instances: readonly EndedInstance[],
): Promise<{ readonly ended: readonly EndedRow[]; readonly isLong: boolean }> {
  const parameters = new Parameters();
  const named = parameters.rows('e', instances, ENDED);
  const ids = parameters.add(instances.map(({ id }) => encodeTextWithoutNul(id)));
  const max = parameters.add(PURGED_HISTORY_MAX + 1);
  const rows = await database.query(
    `SELECT i.id, i.in_seq, i.revision, i.tags, i.fields, (
         SELECT count(*) FROM (SELECT FROM @history WHERE instance_id = ANY(${ids}::text[]) LIMIT ${max}::bigint) AS counted
       ) AS records
       FROM @instances AS i JOIN ${named}
         ON e.id = i.id AND e.in_seq = i.in_seq AND i.revision IN (e.revision, e.revision - ${REMOVAL_OFFSET})
      WHERE i.status IN ('Complete', 'Terminated')`,
    parameters.values,
  );
  const ended = rows.map((row) => ({
    id: row.text('id'),
    inSeq: row.number('in_seq'),
    revision: row.number('revision'),
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
  }));
  return { ended, isLong: (rows[0]?.number('records') ?? 0) > PURGED_HISTORY_MAX };
}

/** Keeps other writers from opening them again while their records are being removed. Returns those that haven't changed. */
async function markRemovals(
  database: Database,
  ended: readonly EndedRow[],
): Promise<readonly EndedRow[]> {
  const parameters = new Parameters();
  const unmarked = ended.filter((each) => !isBeingRemoved(each));
  const retention = parameters.add(REMOVED_FIELDS.retentionMs);
  const marked = `marked AS (
       UPDATE @instances SET revision = revision - ${REMOVAL_OFFSET}, retention_ms = ${retention}::bigint, wake_at = NULL
        WHERE id IN (${unchangedIds(parameters, unmarked)}) RETURNING id
     )`;
  const wakes = 'wakes AS (DELETE FROM @wakes WHERE id IN (SELECT id FROM marked))';
  const text = withParts([marked, wakes], 'SELECT id FROM marked');
  const rows = await database.query(text, parameters.values);
  const ids = new Set(rows.map((row) => row.text('id')));
  return ended
    .filter((each) => isBeingRemoved(each) || ids.has(each.id))
    .map((each) => ({ ...each, revision: removalRevision(each) }));
}

/** Locks them. */
function unchangedIds(parameters: Parameters, ended: readonly EndedInstance[]): string {
  return `SELECT i.id FROM @instances AS i JOIN ${parameters.rows('e', ended, ENDED)} ON e.id = i.id AND e.in_seq = i.in_seq AND e.revision = i.revision
          WHERE i.status IN ('Complete', 'Terminated')
          ORDER BY i.id FOR UPDATE OF i`;
}

/** Removes long histories before their instances, so that the next purge finds these again after an interruption. */
async function purgeHistory(database: Database, ids: readonly string[]): Promise<void> {
  let removed: number;
  do {
    removed = await database.execute(
      `DELETE FROM @history WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM @history WHERE instance_id = ANY($1::text[]) LIMIT $2::bigint))`,
      [ids, PURGED_HISTORY_MAX],
    );
  } while (removed === PURGED_HISTORY_MAX);
}

const ENDED: Columns<EndedInstance> = {
  id: ['text', ({ id }) => id],
  in_seq: ['number', ({ inSeq }) => inSeq],
  revision: ['number', ({ revision }) => revision],
};

/**
 * Reads the rows again before it removes them: another node may have purged an instance, and a client may have started it again. An
 * instance whose tags or index fields have just changed is left for the next purge, because other terms belong to it now.
 */
async function purgeTogether(database: Database, ended: readonly EndedRow[]): Promise<number> {
  const parameters = new Parameters();
  const terms = ended.map((each) => ({ id: each.id, removed: termsOf(each), added: [] }));
  const gone = `gone AS (
       DELETE FROM @instances WHERE id IN (
         ${unchangedIds(parameters, ended)}) RETURNING id, start_time
     )`;
  const text = withParts(
    [
      gone,
      'history AS (DELETE FROM @history WHERE instance_id = ANY(ARRAY(SELECT id FROM gone)))',
      'wakes AS (DELETE FROM @wakes WHERE id IN (SELECT id FROM gone))',
      'subscriptions AS (DELETE FROM @subscriptions WHERE instance_id IN (SELECT id FROM gone))',
      'activities AS (DELETE FROM @activities WHERE instance_id IN (SELECT id FROM gone))',
      'slots AS (DELETE FROM @slots WHERE instance_id IN (SELECT id FROM gone))',
      'slot_waits AS (DELETE FROM @slot_waits WHERE instance_id IN (SELECT id FROM gone))',
      'joined AS (DELETE FROM @joined_starts WHERE instance_id IN (SELECT id FROM gone))',
      ...termParts(parameters, 'gone', terms),
    ],
    'SELECT count(*) AS count FROM gone',
  );
  const [row] = await database.query(text, parameters.values);
  return row?.number('count') ?? 0;
}

/** Of those, no unit is spent any more. */
async function purgeRates(
  database: Database,
  { activitiesDoneBefore, limit }: PurgeRequest,
): Promise<void> {
  await database.execute(
    `DELETE FROM @limit_rates WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM @limit_rates WHERE spent_until < $1::bigint ORDER BY spent_until LIMIT $2::bigint FOR UPDATE SKIP LOCKED))`,
    [activitiesDoneBefore, limit],
  );
}

/** Returns how many were looked at. */
async function purgeTurns(
  database: Database,
  { activitiesDoneBefore: before, limit }: PurgeRequest,
): Promise<number> {
  const old = await runSteps(database, oldTurns(before, limit));
  for (const { keys, line } of old) {
    await removeTurns(database, line, () => removeOldTurns(line, keys, before));
  }
  return old.reduce((count, { keys }) => count + keys.length, 0);
}

/** A wake time that is written while its instance is being purged would be due forever. */
async function purgeLeftWakes(database: Database): Promise<void> {
  await database.execute(
    `DELETE FROM @wakes WHERE id = ANY (ARRAY(
       SELECT earliest.id FROM (
         SELECT id FROM @wakes WHERE wake_at IS NOT NULL ORDER BY wake_at, id LIMIT $1::bigint
       ) AS earliest
        WHERE NOT EXISTS (SELECT FROM @instances WHERE @instances.id = earliest.id)))`,
    [CHECKED_WAKES_MAX],
  );
}
