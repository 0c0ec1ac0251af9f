/** Nodes, retention and statistics. */
import type { OperationArguments, OperationResult } from '../../operations.js';
import type { InstanceStatus } from '../../records/instances.js';
import type { NodeRecord } from '../../records/nodes.js';
import type { PurgeRequest, StoreStatistics } from '../../records/housekeeping.js';
import { indexIn, tagsIn } from '../../field-text.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';
import { statusOf } from './instance-rows.js';
import { removeTerms } from './terms.js';

/** Maximum number of step records removed by one purge, so that long histories do not hold up other operations. */
const PURGED_HISTORY_MAX = 10_000;

export function putNode(database: Database, [node]: OperationArguments<'putNode'>): void {
  database.run(
    'INSERT OR REPLACE INTO nodes (id, beatAt, url, version, hostname, pid, details) VALUES (?, ?, ?, ?, ?, ?, ?)',
    encodeText(node.id),
    node.beatAt,
    encodeText(node.url),
    encodeText(node.version),
    encodeText(node.hostname),
    node.pid,
    node.details === null ? null : encodeText(node.details),
  );
}

export function listNodes(database: Database): readonly NodeRecord[] {
  return database.all('SELECT * FROM nodes ORDER BY id').map(nodeOf);
}

export function nodeOf(row: Row): NodeRecord {
  return {
    id: row.text('id'),
    beatAt: row.number('beatAt'),
    url: row.text('url'),
    version: row.text('version'),
    hostname: row.text('hostname'),
    pid: row.number('pid'),
    details: row.textOrNull('details'),
  };
}

export function removeNode(database: Database, [id]: OperationArguments<'removeNode'>): void {
  database.run('DELETE FROM nodes WHERE id = ?', encodeText(id));
}

export function purge(
  database: Database,
  [request]: OperationArguments<'purge'>,
): OperationResult<'purge'> {
  const instances = purgeInstances(database, request);
  const events = database.run(
    `DELETE FROM events WHERE id IN (
       SELECT id FROM events WHERE deliveredTo IS NOT NULL AND publishedAt < ? ORDER BY publishedAt, id LIMIT ?)`,
    request.eventsPublishedBefore,
    request.limit,
  );
  const activities = database.run(
    `DELETE FROM activities WHERE id IN (
       SELECT id FROM activities WHERE settled = 1 AND doneAt < ? ORDER BY doneAt, id LIMIT ?)`,
    request.activitiesDoneBefore,
    request.limit,
  );
  return { instances, events, activities };
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
    instances[statusOf(row.text('status'))] = row.number('n');
  }
  const undelivered = database.get('SELECT COUNT(*) AS n FROM events WHERE deliveredTo IS NULL');
  return {
    instances,
    activities: database
      .all(
        `SELECT name, COUNT(*) AS waiting, MIN(availableAt) AS oldestAvailableAt FROM activities
          WHERE done = 0 AND tokenHash IS NULL GROUP BY name ORDER BY waiting DESC, name LIMIT 10`,
      )
      .map((row) => ({
        name: row.text('name'),
        waiting: row.number('waiting'),
        oldestAvailableAt: row.numberOrNull('oldestAvailableAt'),
      })),
    undeliveredEvents: undelivered?.number('n') ?? 0,
  };
}

function purgeInstances(
  database: Database,
  { instancesEndedBefore, limit, untoldEndedBefore }: PurgeRequest,
): number {
  const ended = database.all(
    `SELECT id, startTime, tags, fields FROM instances INDEXED BY instances_ended
      WHERE endTime < ? AND status IN ('Complete', 'Terminated') AND (wakeAt IS NULL OR endTime < ?)
      ORDER BY endTime, id LIMIT ?`,
    instancesEndedBefore,
    untoldEndedBefore,
    limit,
  );
  let purged = 0;
  let historyBudget = PURGED_HISTORY_MAX;
  for (const row of ended) {
    historyBudget -= purgeHistory(database, row.text('id'), historyBudget);
    if (historyBudget === 0) break;
    purgeInstance(database, row.text('id'));
    removeTerms(database, {
      id: row.text('id'),
      startTime: row.number('startTime'),
      tags: tagsIn(row.textOrNull('tags')),
      index: indexIn(row.textOrNull('fields')),
    });
    purged += 1;
  }
  return purged;
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
  ] as const) {
    database.run(`DELETE FROM ${table} WHERE instanceId = ?`, id);
  }
  database.run('DELETE FROM instances WHERE id = ?', id);
}
