/** Writes whole records into the tables: a batch takes one statement for each table. */
import type {
  ArchivedActivity,
  ArchivedDefinition,
  ArchivedEvent,
  ArchivedRecords,
  RecordKind,
} from '../../archive.js';
import type { JoinedStart } from '../../joined-starts.js';
import type { StepScriptRecord } from '../../records/definitions.js';
import type { SubscriptionRecord } from '../../records/events.js';
import type { HistoryRecord } from '../../records/instances.js';
import type { NodeRecord } from '../../records/nodes.js';
import { encodeTextWithoutNul } from '../../text-codec.js';
import { auditBodyOf } from '../audit.js';
import { BULK_IDS_COLUMNS, BULK_JOB_COLUMNS } from '../bulk-jobs.js';
import { DELIVERY_COLUMNS, NOTIFICATION_COLUMNS } from '../notifications.js';
import type { Database } from '../database.js';
import { setDefinitionDisabled } from '../definitions.js';
import { insertAll } from '../inserts.js';
import { encodeOptional } from '../instance-rows.js';
import { RESOURCE_COLUMNS } from '../resources.js';
import { TRIGGER_COLUMNS } from '../triggers.js';
import { type Columns, Parameters } from '../parameters.js';

type Writers = {
  readonly [Kind in RecordKind]: (
    database: Database,
    records: readonly ArchivedRecords[Kind][],
  ) => Promise<void>;
};

export const WRITERS: Writers = {
  async definition(database, records) {
    await insert(database, 'definitions', records, DEFINITIONS);
    const stamped = records.flatMap(({ id, stamp, version }) =>
      stamp === null ? [] : [{ ...stamp, definitionId: id, version }],
    );
    await insert(database, 'definition_stamps', stamped, STAMPS);
    for (const { disabled, id } of records) {
      if (disabled) await setDefinitionDisabled({ database }, [id, true]);
    }
  },
  stepScript: (database, records) => insert(database, 'step_scripts', records, STEP_SCRIPTS),
  async instance(database, records) {
    const side = { history: [], subscriptions: [], activities: [] };
    await insertAll(
      database,
      records.map(({ input, ...record }) => ({ record, side, ...(input !== null && { input }) })),
      true,
    );
    await fillLists(database, {
      table: 'instances',
      column: 'audit',
      lists: records.map(({ audit, id }) => [id, audit.map(auditBodyOf)]),
    });
  },
  joinedStart: (database, records) => insert(database, 'joined_starts', records, JOINED_STARTS),
  history: (database, records) => insert(database, 'history', records, HISTORY),
  subscription: (database, records) => insert(database, 'subscriptions', records, SUBSCRIPTIONS),
  activity: (database, records) => insert(database, 'activities', records, ACTIVITIES),
  async event(database, records) {
    await insert(database, 'events', records, EVENTS);
    await fillLists(database, {
      table: 'events',
      column: 'taken_by',
      lists: records.map(({ id, takenBy }) => [id, takenBy.map(encodeTextWithoutNul)]),
    });
  },
  bulkJob: (database, records) => insert(database, 'bulk_jobs', records, BULK_JOB_COLUMNS),
  bulkIds: (database, records) => insert(database, 'bulk_ids', records, BULK_IDS_COLUMNS),
  notification: (database, records) =>
    insert(database, 'notifications', records, NOTIFICATION_COLUMNS),
  delivery: (database, records) => insert(database, 'deliveries', records, DELIVERY_COLUMNS),
  trigger: (database, records) => insert(database, 'triggers', records, TRIGGER_COLUMNS),
  resource: (database, records) => insert(database, 'resources', records, RESOURCE_COLUMNS),
  node: (database, records) => insert(database, 'nodes', records, NODES),
};

const DEFINITIONS: Columns<ArchivedDefinition> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  version: ['bigint', ({ version }) => version],
  description: ['text', ({ description }) => encodeOptional(description)],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  body: ['text', ({ body }) => encodeTextWithoutNul(body)],
  source: ['text', ({ source }) => encodeOptional(source)],
};

interface Stamp {
  readonly id: string;
  readonly requestHash: string;
  readonly definitionId: string;
  readonly version: number;
}

const STAMPS: Columns<Stamp> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  request_hash: ['text', ({ requestHash }) => encodeTextWithoutNul(requestHash)],
  definition_id: ['text', ({ definitionId }) => encodeTextWithoutNul(definitionId)],
  version: ['bigint', ({ version }) => version],
};

const STEP_SCRIPTS: Columns<StepScriptRecord> = {
  name: ['text', ({ name }) => encodeTextWithoutNul(name)],
  version: ['bigint', ({ version }) => version],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  source: ['text', ({ source }) => encodeTextWithoutNul(source)],
};

const JOINED_STARTS: Columns<JoinedStart> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  request_hash: ['text', ({ requestHash }) => encodeTextWithoutNul(requestHash)],
  instance_id: ['text', ({ instanceId }) => encodeTextWithoutNul(instanceId)],
  joined_at: ['bigint', ({ joinedAt }) => joinedAt],
  body: ['text', ({ body }) => encodeOptional(body)],
};

const HISTORY: Columns<HistoryRecord> = {
  instance_id: ['text', ({ instanceId }) => encodeTextWithoutNul(instanceId)],
  sequence: ['bigint', ({ sequence }) => sequence],
  body: ['text', ({ body }) => encodeTextWithoutNul(body)],
};

const SUBSCRIPTIONS: Columns<SubscriptionRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  instance_id: ['text', ({ instanceId }) => encodeTextWithoutNul(instanceId)],
  name_key: ['text', ({ nameKey }) => encodeTextWithoutNul(nameKey)],
  effective_at: ['bigint', ({ effectiveAt }) => effectiveAt],
};

const ACTIVITIES: Columns<ArchivedActivity> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  instance_id: ['text', ({ instanceId }) => encodeTextWithoutNul(instanceId)],
  name: ['text', ({ name }) => encodeTextWithoutNul(name)],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  available_at: ['bigint', ({ availableAt }) => availableAt],
  deferred: ['boolean', ({ deferred }) => deferred],
  attempt: ['bigint', ({ attempt }) => attempt],
  token_hash: ['text', ({ tokenHash }) => encodeOptional(tokenHash)],
  worker_id: ['text', ({ workerId }) => encodeOptional(workerId)],
  done: ['boolean', ({ done }) => done],
  done_at: ['bigint', ({ doneAt }) => doneAt],
  settled: ['boolean', ({ settled }) => settled],
  succeeded: ['boolean', ({ result }) => result?.succeeded ?? null],
  result_hash: ['text', ({ result }) => encodeOptional(result?.hash ?? null)],
  parameters: ['text', ({ parameters }) => encodeTextWithoutNul(parameters)],
  result_data: ['text', ({ result }) => encodeOptional(result?.data ?? null)],
};

const EVENTS: Columns<ArchivedEvent> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  name_key: ['text', ({ nameKey }) => encodeTextWithoutNul(nameKey)],
  name: ['text', ({ name }) => encodeTextWithoutNul(name)],
  key: ['text', ({ key }) => encodeTextWithoutNul(key)],
  published_at: ['bigint', ({ publishedAt }) => publishedAt],
  delivered_to: ['bigint', ({ deliveredTo }) => deliveredTo],
  request_hash: ['text', ({ requestHash }) => encodeOptional(requestHash)],
  data: ['text', ({ data }) => encodeTextWithoutNul(data)],
};

const NODES: Columns<NodeRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  beat_at: ['bigint', ({ beatAt }) => beatAt],
  url: ['text', ({ url }) => encodeTextWithoutNul(url)],
  version: ['text', ({ version }) => encodeTextWithoutNul(version)],
  hostname: ['text', ({ hostname }) => encodeTextWithoutNul(hostname)],
  pid: ['bigint', ({ pid }) => pid],
  details: ['text', ({ details }) => encodeOptional(details)],
};

async function insert<Item>(
  database: Database,
  table: string,
  items: readonly Item[],
  columns: Columns<Item>,
): Promise<void> {
  if (items.length === 0) return;
  const parameters = new Parameters();
  const names = Object.keys(columns).join(', ');
  const rows = parameters.rows('r', items, columns);
  await database.execute(
    `INSERT INTO @${table} (${names}) SELECT ${names} FROM ${rows}`,
    parameters.values,
  );
}

type IdAndList = readonly [id: string, list: readonly string[]];

const LISTS: Columns<IdAndList> = {
  id: ['text', ([id]) => encodeTextWithoutNul(id)],
  list: ['text', ([, list]) => JSON.stringify(list)],
};

/** Lists of different lengths do not fit into one parameter, so they are sent as JSON. Empty ones stay as they are. */
async function fillLists(
  database: Database,
  fill: {
    readonly table: string;
    readonly column: string;
    readonly lists: readonly IdAndList[];
  },
): Promise<void> {
  const lists = fill.lists.filter(([, list]) => list.length > 0);
  if (lists.length === 0) return;
  const parameters = new Parameters();
  const rows = parameters.rows('r', lists, LISTS);
  await database.execute(
    `UPDATE @${fill.table} AS t SET ${fill.column} = ARRAY(
       SELECT item FROM jsonb_array_elements_text(r.list::jsonb) WITH ORDINALITY AS e (item, place) ORDER BY place)
       FROM ${rows} WHERE t.id = r.id`,
    parameters.values,
  );
}
