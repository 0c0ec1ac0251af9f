/** Reads whole records from the tables of the embedded store. */
import type { ArchivedActivity, ArchivedRecords, RecordKind } from '../../archive.js';
import type { Database } from '../database.js';
import { activityOf } from '../statements/activity-rows.js';
import { listAudit } from '../statements/audit.js';
import { bulkJobOf } from '../statements/bulk-jobs.js';
import { deliveryOf, notificationOf } from '../statements/notifications.js';
import { IS_DISABLED, storedDefinitionOf } from '../statements/definitions.js';
import { eventOf, takenByOf } from '../statements/events.js';
import { nodeOf } from '../statements/housekeeping.js';
import { readInput, summaryOf } from '../statements/instance-rows.js';
import { resourceOf } from '../statements/resources.js';
import { triggerOf } from '../statements/triggers.js';
import { readInbox } from '../statements/messages.js';
import type { Row } from '../row.js';

interface Source<Item> {
  readonly table: string;
  readonly sql: string;
  readonly recordOf: (row: Row, database: Database) => Item;
}

export const SOURCES: { readonly [Kind in RecordKind]: Source<ArchivedRecords[Kind]> } = {
  definition: {
    table: 'definitions',
    sql: `SELECT definitions.*, definition_stamps.id AS stampId, requestHash, ${IS_DISABLED} FROM definitions
            LEFT JOIN definition_stamps ON definitionId = definitions.id AND definition_stamps.version = definitions.version`,
    recordOf: (row) => {
      const stampId = row.textOrNull('stampId');
      return {
        ...storedDefinitionOf(row),
        source: row.textOrNull('source'),
        stamp: stampId === null ? null : { id: stampId, requestHash: row.text('requestHash') },
      };
    },
  },
  stepScript: {
    table: 'step_scripts',
    sql: 'SELECT * FROM step_scripts',
    recordOf: (row) => ({
      name: row.text('name'),
      version: row.number('version'),
      source: row.text('source'),
      createdAt: row.number('createdAt'),
    }),
  },
  instance: {
    table: 'instances',
    sql: 'SELECT * FROM instances',
    recordOf: (row, database) => {
      const summary = summaryOf(row);
      return {
        ...summary,
        inbox: readInbox(database, summary.id),
        state: row.text('state'),
        audit: listAudit(database, [summary.id])?.toReversed() ?? [],
        input: readInput(database, summary.id),
      };
    },
  },
  joinedStart: {
    table: 'joined_starts',
    sql: 'SELECT * FROM joined_starts',
    recordOf: (row) => ({
      id: row.text('id'),
      requestHash: row.text('requestHash'),
      instanceId: row.text('instanceId'),
      joinedAt: row.number('joinedAt'),
      body: row.textOrNull('body'),
    }),
  },
  history: {
    table: 'history',
    sql: 'SELECT * FROM history',
    recordOf: (row) => ({
      instanceId: row.text('instanceId'),
      sequence: row.number('sequence'),
      body: row.text('body'),
    }),
  },
  subscription: {
    table: 'subscriptions',
    sql: 'SELECT * FROM subscriptions',
    recordOf: (row) => ({
      id: row.text('id'),
      instanceId: row.text('instanceId'),
      nameKey: row.text('nameKey'),
      effectiveAt: row.number('effectiveAt'),
    }),
  },
  activity: {
    table: 'activities',
    sql: 'SELECT * FROM activities',
    recordOf: archivedActivityOf,
  },
  event: {
    table: 'events',
    sql: 'SELECT * FROM events',
    recordOf: (row) => ({ ...eventOf(row), takenBy: takenByOf(row) }),
  },
  bulkJob: { table: 'bulk_jobs', sql: 'SELECT * FROM bulk_jobs', recordOf: bulkJobOf },
  bulkIds: {
    table: 'bulk_ids',
    sql: 'SELECT * FROM bulk_ids',
    recordOf: (row) => ({
      jobId: row.text('jobId'),
      position: row.number('position'),
      ids: row.text('ids'),
    }),
  },
  notification: {
    table: 'notifications',
    sql: 'SELECT * FROM notifications',
    recordOf: notificationOf,
  },
  delivery: { table: 'deliveries', sql: 'SELECT * FROM deliveries', recordOf: deliveryOf },
  trigger: { table: 'triggers', sql: 'SELECT * FROM triggers', recordOf: triggerOf },
  resource: { table: 'resources', sql: 'SELECT * FROM resources', recordOf: resourceOf },
  node: {
    table: 'nodes',
    sql: 'SELECT * FROM nodes',
    recordOf: nodeOf,
  },
};

function archivedActivityOf(row: Row): ArchivedActivity {
  const data = row.textOrNull('resultData');
  return {
    ...activityOf(row),
    deferred: row.boolean('deferred'),
    settled: row.boolean('settled'),
    doneAt: row.numberOrNull('doneAt'),
    result:
      data === null
        ? null
        : { data, succeeded: row.boolean('succeeded'), hash: row.text('resultHash') },
  };
}
