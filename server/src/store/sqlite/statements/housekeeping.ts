/** Nodes, retention and statistics. */
import { indexIn, tagsIn } from '../../json-columns.js';
import {
  REMOVED_FIELDS,
  removalRevision,
  type EndedInstance,
  type PurgeRequest,
  type StoreStatistics,
} from '../../records/housekeeping.js';
import type { InstanceStatus } from '../../records/instances.js';
import {
  purgeRows,
  NODE_COLUMNS,
  REPLACE_NODE,
  HOUSEKEEPING_OPERATIONS,
} from '../../sql/housekeeping.js';
import { statusOf } from '../../sql/instances.js';
import { insert } from '../../sql/statements.js';
import { oldTurns, removeOldTurns } from '../../sql/turns.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { removeTerms } from './terms.js';

/** Maximum number of step records removed by one purge, so that long histories don't hold up other operations. */
const PURGED_HISTORY_MAX = 10_000;

export function putNode(database: Database, [node]: OperationArguments<'putNode'>): void {
  runSteps(database, insert('nodes', NODE_COLUMNS, node, REPLACE_NODE));
}

export function purge(
  database: Database,
  [request]: OperationArguments<'purge'>,
): OperationResult<'purge'> {
  const isKept = request.keepsInstances === true;
  const expired = isKept
    ? []
    : runSteps(database, HOUSEKEEPING_OPERATIONS.findExpiredInstances([request, request.limit]));
  const { isComplete, removed: instances } = removeInstances(database, [expired]);
  const { activities, events, joined } = runSteps(database, purgeRows(request));
  purgeRates(database, request);
  const turns = purgeTurns(database, request);
  const isLast = Math.max(joined, turns) < request.limit;
  return { instances, events, activities, isComplete: isComplete && isLast };
}

/** Of those, no unit is spent any more. */
function purgeRates(database: Database, { activitiesDoneBefore, limit }: PurgeRequest): void {
  database.run(
    `DELETE FROM limit_rates WHERE (limitName, limitKey) IN (
       SELECT limitName, limitKey FROM limit_rates WHERE spentUntil < ? ORDER BY spentUntil LIMIT ?)`,
    activitiesDoneBefore,
    limit,
  );
}

/** Returns how many were looked at. */
function purgeTurns(
  database: Database,
  { activitiesDoneBefore: before, limit }: PurgeRequest,
): number {
  const old = runSteps(database, oldTurns(before, limit));
  for (const { keys, line } of old) runSteps(database, removeOldTurns(line, keys, before));
  return old.reduce((count, { keys }) => count + keys.length, 0);
}

export function statistics(database: Database): StoreStatistics {
  const instances: Record<InstanceStatus, number> = {
    Runnable: 0,
    Suspended: 0,
    Complete: 0,
    Terminated: 0,
  };
  for (const row of database.all(
    'SELECT status, COUNT(*) AS n FROM instances INDEXED BY instances_status GROUP BY status',
  )) {
    instances[statusOf(row)] = row.number('n');
  }
  const undelivered = database.get('SELECT COUNT(*) AS n FROM events WHERE deliveredTo IS NULL');
  return {
    instances,
    activities: database
      .all(
        `SELECT name, COUNT(*) AS waiting, MIN(availableAt) AS oldestAvailableAt FROM activities
          WHERE done = 0 AND settled = 0 AND tokenHash IS NULL GROUP BY name ORDER BY waiting DESC, name LIMIT 10`,
      )
      .map((row) => ({
        name: row.text('name'),
        waiting: row.number('waiting'),
        oldestAvailableAt: row.numberOrNull('oldestAvailableAt'),
      })),
    undeliveredEvents: undelivered?.number('n') ?? 0,
  };
}

export function removeInstances(
  database: Database,
  [instances]: OperationArguments<'removeInstances'>,
): OperationResult<'removeInstances'> {
  let removed = 0;
  let historyBudget = PURGED_HISTORY_MAX;
  for (const instance of instances) {
    const { id, inSeq, revision } = instance;
    const row = database.get(
      `SELECT startTime, tags, fields FROM instances
        WHERE id = ? AND inSeq = ? AND revision IN (?, ?) AND status IN ('Complete', 'Terminated')`,
      encodeText(id),
      inSeq,
      revision,
      removalRevision(instance),
    );
    if (row === null) continue;
    historyBudget -= purgeHistory(database, id, historyBudget);
    if (historyBudget === 0) {
      markRemoval(database, instance);
      return { removed, isComplete: false };
    }
    purgeInstance(database, id);
    removeTerms(database, {
      id,
      startTime: row.number('startTime'),
      tags: tagsIn(row.textOrNull('tags')),
      index: indexIn(row.textOrNull('fields')),
    });
    removed += 1;
  }
  return { removed, isComplete: true };
}

/** In the transaction that removes the first records. The others are removed in later ones. */
function markRemoval(database: Database, instance: EndedInstance): void {
  const { retentionMs, wakeAt } = REMOVED_FIELDS;
  database.run(
    'UPDATE instances SET revision = ?, retentionMs = ?, wakeAt = ? WHERE id = ?',
    removalRevision(instance),
    retentionMs,
    wakeAt,
    encodeText(instance.id),
  );
}

function purgeHistory(database: Database, instanceId: string, limit: number): number {
  const id = encodeText(instanceId);
  return database.run(
    `DELETE FROM history WHERE instanceId = ? AND sequence IN (
       SELECT sequence FROM history WHERE instanceId = ? ORDER BY sequence LIMIT ?)`,
    id,
    id,
    limit,
  );
}

function purgeInstance(database: Database, instanceId: string): void {
  const id = encodeText(instanceId);
  for (const table of [
    'inbox',
    'actions',
    'subscriptions',
    'activities',
    'inputs',
    'joined_starts',
    'slots',
    'slot_waits',
  ] as const) {
    database.run(`DELETE FROM ${table} WHERE instanceId = ?`, id);
  }
  database.run('DELETE FROM instances WHERE id = ?', id);
}
