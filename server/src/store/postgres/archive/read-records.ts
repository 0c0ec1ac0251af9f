/** Reads whole records from the tables, page by page, in the order of their keys. */
import type { ArchivedActivity, ArchivedRecords, RecordKind } from '../../archive.js';
import type { AuditEntry } from '../../records/control.js';
import { activityOf } from '../activities.js';
import { bulkIdsOf, bulkJobOf } from '../bulk-jobs.js';
import { deliveryOf, notificationOf } from '../notifications.js';
import type { Database, Value } from '../database.js';
import { disabledColumn, stepScriptOf, storedDefinitionOf } from '../definitions.js';
import { eventOf, subscriptionOf } from '../events.js';
import { nodeOf } from '../housekeeping.js';
import { instanceOf } from '../instance-rows.js';
import { encodeTextWithoutNul } from '../../text-codec.js';
import { resourceOf } from '../resources.js';
import { triggerOf } from '../triggers.js';
import type { Row } from '../row.js';

interface Source<Item> {
  readonly table: string;
  /** More than the columns of the table. */
  readonly columns?: string;
  /** The columns of the key, each with its value in a record. */
  readonly key: Readonly<Record<string, (item: Item) => string | number>>;
  readonly recordOf: (row: Row) => Item;
}

export const SOURCES: { readonly [Kind in RecordKind]: Source<ArchivedRecords[Kind]> } = {
  definition: {
    table: 'definitions',
    columns: `(SELECT ARRAY[s.id, s.request_hash] FROM @definition_stamps AS s
                WHERE s.definition_id = t.id AND s.version = t.version) AS stamp, ${disabledColumn('t.id')}`,
    key: { id: ({ id }) => id, version: ({ version }) => version },
    recordOf: (row) => {
      const [id, requestHash] = row.texts('stamp');
      const stamp = id === undefined || requestHash === undefined ? null : { id, requestHash };
      return { ...storedDefinitionOf(row), source: row.textOrNull('source'), stamp };
    },
  },
  stepScript: {
    table: 'step_scripts',
    key: { name: ({ name }) => name, version: ({ version }) => version },
    recordOf: stepScriptOf,
  },
  instance: {
    table: 'instances',
    key: { id: ({ id }) => id },
    recordOf: (row) => ({
      ...instanceOf(row),
      // Written by `auditBodyOf`.
      audit: row.texts('audit').map((body) => JSON.parse(body) as AuditEntry),
      input: row.textOrNull('input'),
    }),
  },
  joinedStart: {
    table: 'joined_starts',
    key: { id: ({ id }) => id },
    recordOf: (row) => ({
      id: row.text('id'),
      requestHash: row.text('request_hash'),
      instanceId: row.text('instance_id'),
      joinedAt: row.number('joined_at'),
      body: row.textOrNull('body'),
    }),
  },
  history: {
    table: 'history',
    key: { instance_id: ({ instanceId }) => instanceId, sequence: ({ sequence }) => sequence },
    recordOf: (row) => ({
      instanceId: row.text('instance_id'),
      sequence: row.number('sequence'),
      body: row.text('body'),
    }),
  },
  subscription: {
    table: 'subscriptions',
    key: { id: ({ id }) => id },
    recordOf: subscriptionOf,
  },
  activity: { table: 'activities', key: { id: ({ id }) => id }, recordOf: archivedActivityOf },
  event: {
    table: 'events',
    key: { id: ({ id }) => id },
    recordOf: (row) => ({ ...eventOf(row), takenBy: row.texts('taken_by') }),
  },
  bulkJob: { table: 'bulk_jobs', key: { id: ({ id }) => id }, recordOf: bulkJobOf },
  bulkIds: {
    table: 'bulk_ids',
    key: { job_id: ({ jobId }) => jobId, position: ({ position }) => position },
    recordOf: bulkIdsOf,
  },
  notification: {
    table: 'notifications',
    key: { name: ({ name }) => name },
    recordOf: notificationOf,
  },
  delivery: { table: 'deliveries', key: { id: ({ id }) => id }, recordOf: deliveryOf },
  trigger: { table: 'triggers', key: { id: ({ id }) => id }, recordOf: triggerOf },
  resource: {
    table: 'resources',
    key: { kind: ({ kind }) => kind, name: ({ name }) => name },
    recordOf: resourceOf,
  },
  node: { table: 'nodes', key: { id: ({ id }) => id }, recordOf: nodeOf },
};

/** Columns of keys that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['version', 'sequence', 'position']);

/** Pages are small, because an instance may have 32 MiB. */
const PAGE = 8;

export async function* recordsOf<Kind extends RecordKind>(
  database: Database,
  kind: Kind,
): AsyncGenerator<ArchivedRecords[Kind]> {
  const { columns, key, recordOf, table } = SOURCES[kind];
  const names = Object.keys(key);
  const selected = `SELECT t.*${columns === undefined ? '' : `, ${columns}`} FROM @${table} AS t`;
  const order = `ORDER BY ${names.map((name) => `t.${name}`).join(', ')} LIMIT ${PAGE}`;
  const position = names.map((name, index) =>
    NUMBERS.has(name) ? `$${index + 1}::bigint` : `$${index + 1}`,
  );
  const beyond = `WHERE (${names.map((name) => `t.${name}`).join(', ')}) > (${position.join(', ')})`;
  let after: readonly Value[] | null = null;
  for (;;) {
    const rows: readonly Row[] =
      after === null
        ? await database.query(`${selected} ${order}`)
        : await database.query(`${selected} ${beyond} ${order}`, after);
    const page = rows.map(recordOf);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = Object.values(key).map((valueOf) => stored(valueOf(last)));
  }
}

function stored(value: string | number): Value {
  return typeof value === 'string' ? encodeTextWithoutNul(value) : value;
}

function archivedActivityOf(row: Row): ArchivedActivity {
  const data = row.textOrNull('result_data');
  return {
    ...activityOf(row),
    deferred: row.boolean('deferred'),
    settled: row.boolean('settled'),
    doneAt: row.numberOrNull('done_at'),
    result:
      data === null
        ? null
        : { data, succeeded: row.boolean('succeeded'), hash: row.text('result_hash') },
  };
}
