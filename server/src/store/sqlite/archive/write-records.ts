/** Writes whole records into the tables of the embedded store: each is one row with the rows that belong to it. */
import type { ArchivedRecords, RecordKind } from '../../archive.js';
import { ROW_COLUMNS, TABLES, type RowKind } from '../../sql/archive-tables.js';
import { DEFINITION_COLUMNS, DEFINITION_OPERATIONS, STAMP_COLUMNS } from '../../sql/definitions.js';
import { turnsOfInstances, turnsOfItems, turnsOfWaits } from '../../sql/imported-turns.js';
import { insert } from '../../sql/statements.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { STORED_EVENT_COLUMNS } from '../statements/events.js';
import { insertInstanceRow } from '../statements/instance-rows.js';
import { noteAction } from '../statements/side-records.js';

type Write<Kind extends RecordKind> = (database: Database, record: ArchivedRecords[Kind]) => void;

export const WRITERS: { readonly [Kind in RecordKind]: Write<Kind> } = {
  definition(database, record) {
    const { disabled, id, stamp, version } = record;
    runSteps(database, insert(TABLES.definition, DEFINITION_COLUMNS, record));
    if (disabled) runSteps(database, DEFINITION_OPERATIONS.setDefinitionDisabled([id, true]));
    if (stamp === null) return;
    const row = { ...stamp, definitionId: id, version };
    runSteps(database, insert('definition_stamps', STAMP_COLUMNS, row));
  },
  instance(database, instance) {
    const { audit, input, ...record } = instance;
    insertInstanceRow(database, record, input);
    runSteps(database, turnsOfInstances([instance]));
    for (const entry of audit) noteAction(database, record.id, entry);
  },
  event(database, event) {
    const takenBy = event.deliveredTo === null ? null : event.takenBy;
    runSteps(database, insert(TABLES.event, STORED_EVENT_COLUMNS, { ...event, takenBy }));
  },
  stepScript: rowWriter('stepScript'),
  joinedStart: rowWriter('joinedStart'),
  history: rowWriter('history'),
  subscription: rowWriter('subscription'),
  activity(database, item) {
    rowWriter('activity')(database, item);
    runSteps(database, turnsOfItems([item]));
  },
  slot: rowWriter('slot'),
  slotWait(database, wait) {
    rowWriter('slotWait')(database, wait);
    runSteps(database, turnsOfWaits([wait]));
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
  return (database, record) => runSteps(database, insert(TABLES[kind], ROW_COLUMNS[kind], record));
}
