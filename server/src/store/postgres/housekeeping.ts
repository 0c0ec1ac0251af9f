/** Nodes, retention and statistics. */
import type { OperationArguments, OperationResult } from '../operations.js';
import { indexIn, tagsIn } from '../field-text.js';
import { termsOf } from '../index-terms.js';
import type { InstanceRecord, InstanceStatus } from '../records/instances.js';
import type { NodeRecord } from '../records/nodes.js';
import type { PurgeRequest, StoreStatistics } from '../records/housekeeping.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { type Columns, Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';
import { termParts } from './terms.js';

/** Maximum number of instances that one statement removes, with everything that belongs to them. */
const PURGED_TOGETHER = 50;
/** Maximum number of step records that one statement removes, so that long histories block nobody. */
const PURGED_HISTORY_MAX = 10_000;
/** Maximum number of wake times that one purge examines, the earliest first. */
const CHECKED_WAKES_MAX = 1000;

export async function putNode(
  { database, readServerTime }: PostgresContext,
  [{ id, beatAt, url, version, hostname, pid, details }]: OperationArguments<'putNode'>,
): Promise<void> {
  await database.execute(
    `INSERT INTO @nodes (id, beat_at, url, version, hostname, pid, details)
     VALUES ($1, $2::bigint, $3, $4, $5, $6::int, $7)
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at, url = excluded.url, version = excluded.version,
       hostname = excluded.hostname, pid = excluded.pid, details = excluded.details`,
    [
      encodeTextWithoutNul(id),
      beatAt,
      encodeTextWithoutNul(url),
      encodeTextWithoutNul(version),
      encodeTextWithoutNul(hostname),
      pid,
      details === null ? null : encodeTextWithoutNul(details),
    ],
  );
  await readServerTime();
}

export async function listNodes({ database }: PostgresContext): Promise<readonly NodeRecord[]> {
  const rows = await database.query('SELECT * FROM @nodes ORDER BY id');
  return rows.map(nodeOf);
}

export function nodeOf(row: Row): NodeRecord {
  return {
    id: row.text('id'),
    beatAt: row.number('beat_at'),
    url: row.text('url'),
    version: row.text('version'),
    hostname: row.text('hostname'),
    pid: row.number('pid'),
    details: row.textOrNull('details'),
  };
}

export async function removeNode(
  { database }: PostgresContext,
  [id]: OperationArguments<'removeNode'>,
): Promise<void> {
  await database.execute('DELETE FROM @nodes WHERE id = $1', [encodeTextWithoutNul(id)]);
}

/** Several nodes may purge at the same time. Each skips the rows that another one is removing. */
export async function purge(
  { database }: PostgresContext,
  [request]: OperationArguments<'purge'>,
): Promise<OperationResult<'purge'>> {
  const instances = await purgeInstances(database, request);
  const events = await database.execute(
    `DELETE FROM @events WHERE id IN (
       SELECT id FROM @events WHERE delivered_to IS NOT NULL AND published_at < $1::bigint
        ORDER BY published_at, id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)`,
    [request.eventsPublishedBefore, request.limit],
  );
  const activities = await database.execute(
    `DELETE FROM @activities WHERE id IN (
       SELECT id FROM @activities WHERE settled AND done_at < $1::bigint
        ORDER BY done_at, id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)`,
    [request.activitiesDoneBefore, request.limit],
  );
  await purgeLeftWakes(database);
  return { instances, events, activities };
}

export async function statistics({ database }: PostgresContext): Promise<StoreStatistics> {
  const [statuses, activities, undelivered] = await Promise.all([
    database.query('SELECT status, count(*) AS count FROM @instances GROUP BY status'),
    database.query(
      `SELECT name, count(*) AS waiting, min(available_at) AS oldest FROM @activities
        WHERE NOT done AND token_hash IS NULL GROUP BY name ORDER BY waiting DESC, name LIMIT 10`,
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

async function purgeInstances(database: Database, request: PurgeRequest): Promise<number> {
  let purged = 0;
  while (purged < request.limit) {
    const wanted = Math.min(PURGED_TOGETHER, request.limit - purged);
    const ended = await endedInstances(database, request, wanted);
    if (ended.length === 0) break;
    await purgeHistory(
      database,
      ended.map(({ id }) => encodeTextWithoutNul(id)),
    );
    const removed = await purgeTogether(database, ended, request.instancesEndedBefore);
    purged += removed;
    // Another node has removed all of them, or these were the last ones.
    if (removed === 0 || ended.length < wanted) break;
  }
  return purged;
}

type EndedInstance = Pick<InstanceRecord, 'id' | 'inSeq' | 'revision' | 'tags' | 'index'>;

async function endedInstances(
  database: Database,
  { instancesEndedBefore, untoldEndedBefore }: PurgeRequest,
  limit: number,
): Promise<readonly EndedInstance[]> {
  const rows = await database.query(
    `SELECT id, in_seq, revision, tags, fields FROM @instances
      WHERE end_time < $1::bigint AND status IN ('Complete', 'Terminated') AND (wake_at IS NULL OR end_time < $2::bigint)
      ORDER BY end_time, id LIMIT $3::bigint`,
    [instancesEndedBefore, untoldEndedBefore, limit],
  );
  return rows.map((row) => ({
    id: row.text('id'),
    inSeq: row.number('in_seq'),
    revision: row.number('revision'),
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
  }));
}

/** Removes the records of an instance before the instance, so that the next purge finds it again after an interruption. */
async function purgeHistory(database: Database, ids: readonly string[]): Promise<void> {
  let removed: number;
  do {
    removed = await database.execute(
      `DELETE FROM @history WHERE (instance_id, sequence) IN (
         SELECT instance_id, sequence FROM @history WHERE instance_id = ANY($1::text[]) LIMIT $2::bigint)`,
      [ids, PURGED_HISTORY_MAX],
    );
  } while (removed === PURGED_HISTORY_MAX);
}

const ENDED: Columns<EndedInstance> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  in_seq: ['bigint', ({ inSeq }) => inSeq],
  revision: ['bigint', ({ revision }) => revision],
};

/**
 * Looks again at what it removes: another node may have purged an instance, and a client may have started it again. An
 * instance whose tags or index fields have just changed is left for the next purge, because other terms belong to it now.
 */
async function purgeTogether(
  database: Database,
  ended: readonly EndedInstance[],
  endedBefore: number,
): Promise<number> {
  const parameters = new Parameters();
  const terms = ended.map((each) => ({ id: each.id, removed: termsOf(each), added: [] }));
  const gone = `gone AS (
       DELETE FROM @instances WHERE id IN (
         SELECT i.id FROM @instances AS i JOIN ${parameters.rows('e', ended, ENDED)} ON e.id = i.id AND e.in_seq = i.in_seq AND e.revision = i.revision
          WHERE i.status IN ('Complete', 'Terminated') AND i.end_time < ${parameters.add(endedBefore)}::bigint
          ORDER BY i.id FOR UPDATE OF i) RETURNING id, start_time
     )`;
  const text = withParts(
    [
      gone,
      'wakes AS (DELETE FROM @wakes WHERE id IN (SELECT id FROM gone))',
      'subscriptions AS (DELETE FROM @subscriptions WHERE instance_id IN (SELECT id FROM gone))',
      'activities AS (DELETE FROM @activities WHERE instance_id IN (SELECT id FROM gone))',
      'joined AS (DELETE FROM @joined_starts WHERE instance_id IN (SELECT id FROM gone))',
      ...termParts(parameters, 'gone', terms),
    ],
    'SELECT count(*) AS count FROM gone',
  );
  const [row] = await database.query(text, parameters.values);
  return row?.number('count') ?? 0;
}

/** A wake time that is written while its instance is being purged would be due forever. */
async function purgeLeftWakes(database: Database): Promise<void> {
  await database.execute(
    `DELETE FROM @wakes WHERE id IN (
       SELECT earliest.id FROM (
         SELECT id FROM @wakes WHERE wake_at IS NOT NULL ORDER BY wake_at, id LIMIT $1::bigint
       ) AS earliest
        WHERE NOT EXISTS (SELECT FROM @instances WHERE @instances.id = earliest.id))`,
    [CHECKED_WAKES_MAX],
  );
}
