/** Writes whole records into the tables: a batch takes one statement for each table. */
import type { ArchivedRecords, RecordKind } from '../../archive.js';
import { ROW_COLUMNS, TABLES, type RowKind } from '../../sql/archive-tables.js';
import type { Columns } from '../../sql/columns.js';
import { DEFINITION_COLUMNS, DEFINITION_OPERATIONS, STAMP_COLUMNS } from '../../sql/definitions.js';
import { turnsOfInstances, turnsOfItems, turnsOfWaits } from '../../sql/imported-turns.js';
import { EVENT_COLUMNS } from '../../sql/events.js';
import { encodeTextWithoutNul } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insertAll } from '../inserts.js';
import { auditBodyOf } from '../instance-rows.js';
import { columnNames, Parameters } from '../parameters.js';
import { runSteps } from '../shared-operations.js';

type Write<Kind extends RecordKind> = (
  database: Database,
  records: readonly ArchivedRecords[Kind][],
) => Promise<void>;

export const WRITERS: { readonly [Kind in RecordKind]: Write<Kind> } = {
  async definition(database, records) {
    await insert(database, TABLES.definition, records, DEFINITION_COLUMNS);
    const stamped = records.flatMap(({ id, stamp, version }) =>
      stamp === null ? [] : [{ ...stamp, definitionId: id, version }],
    );
    await insert(database, 'definition_stamps', stamped, STAMP_COLUMNS);
    for (const { disabled, id } of records) {
      if (!disabled) continue;
      await runSteps(database, DEFINITION_OPERATIONS.setDefinitionDisabled([id, true]));
    }
  },
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
    await runSteps(database, turnsOfInstances(records));
  },
  async event(database, records) {
    await insert(database, TABLES.event, records, EVENT_COLUMNS);
    await fillLists(database, {
      table: 'events',
      column: 'taken_by',
      lists: records.map(({ id, takenBy }) => [id, takenBy.map(encodeTextWithoutNul)]),
    });
  },
  stepScript: rowWriter('stepScript'),
  joinedStart: rowWriter('joinedStart'),
  history: rowWriter('history'),
  subscription: rowWriter('subscription'),
  async activity(database, records) {
    await rowWriter('activity')(database, records);
    await runSteps(database, turnsOfItems(records));
  },
  slot: rowWriter('slot'),
  async slotWait(database, records) {
    await rowWriter('slotWait')(database, records);
    await runSteps(database, turnsOfWaits(records));
  },
  limitRate: rowWriter('limitRate'),
  bulkJob: rowWriter('bulkJob'),
  bulkIds: rowWriter('bulkIds'),
  notification: rowWriter('notification'),
  delivery: rowWriter('delivery'),
  trigger: rowWriter('trigger'),
  resource: rowWriter('resource'),
  node: rowWriter('node'),
};

function rowWriter<Kind extends RowKind>(kind: Kind): Write<Kind> {
  return (database, records) => insert(database, TABLES[kind], records, ROW_COLUMNS[kind]);
}

async function insert<Item>(
  database: Database,
  table: string,
  items: readonly Item[],
  columns: Columns<Item>,
): Promise<void> {
  if (items.length === 0) return;
  const parameters = new Parameters();
  const names = columnNames(columns);
  const rows = parameters.rows('r', items, columns);
  await database.execute(
    `INSERT INTO @${table} (${names}) SELECT ${names} FROM ${rows}`,
    parameters.values,
  );
}

type IdAndList = readonly [id: string, list: readonly string[]];

const LISTS: Columns<IdAndList> = {
  id: ['text', ([id]) => id],
  list: ['text', ([, list]) => JSON.stringify(list)],
};

/** Lists of different lengths don't fit into one parameter, so they are sent as JSON. Empty ones stay as they are. */
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
