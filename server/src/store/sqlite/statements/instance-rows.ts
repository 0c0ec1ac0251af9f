/** Instances as rows: reading and writing them as a whole. */
import type { InstanceRecord } from '../../records/instances.js';
import { inboxBytes } from '../../records/messages.js';
import type { Columns } from '../../sql/columns.js';
import { INSTANCE_COLUMNS, summaryOf } from '../../sql/instances.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insert } from '../../sql/statements.js';
import { runSteps } from '../shared-operations.js';
import { insertTerms } from './terms.js';
import { insertInbox, readInbox } from './inbox-rows.js';

interface InsertedInstance extends InstanceRecord {
  readonly input: string | null;
}

const COLUMNS: Columns<InsertedInstance> = {
  ...INSTANCE_COLUMNS,
  inboxBytes: ['number', ({ inbox }) => inboxBytes(inbox)],
  input: ['text', ({ input }) => input],
};

/** Longer inputs are in a table of their own: every commit writes the whole row of its instance. */
const INPUT_LENGTH_MAX = 1000;

export function readInstance(database: Database, id: string): InstanceRecord | null {
  const row = database.get('SELECT * FROM instances WHERE id = ?', encodeText(id));
  if (row === null) return null;
  return { ...summaryOf(row), inbox: readInbox(database, id), state: row.text('state') };
}

/** With its inbox and its terms. */
export function insertInstanceRow(
  database: Database,
  record: InstanceRecord,
  input: string | null,
): void {
  const isLong = isLongInput(input);
  runSteps(database, insert('instances', COLUMNS, { ...record, input: isLong ? null : input }));
  if (isLong) insertLongInput(database, record.id, input);
  insertInbox(database, record.id, record.inbox);
  insertTerms(database, record);
}

function isLongInput(input: string | null): input is string {
  return input !== null && input.length > INPUT_LENGTH_MAX;
}

function insertLongInput(database: Database, id: string, input: string): void {
  const text = 'INSERT OR REPLACE INTO inputs (instanceId, body) VALUES (?, ?)';
  database.run(text, encodeText(id), encodeText(input));
}

export function replaceInput(database: Database, id: string, input: string): void {
  const isLong = isLongInput(input);
  const own = isLong ? null : encodeText(input);
  database.run('UPDATE instances SET input = ? WHERE id = ?', own, encodeText(id));
  if (isLong) insertLongInput(database, id, input);
  else database.run('DELETE FROM inputs WHERE instanceId = ?', encodeText(id));
}

export function readInput(database: Database, id: string): string | null {
  const row = database.get(
    `SELECT COALESCE(instances.input, inputs.body) AS input
       FROM instances LEFT JOIN inputs ON instanceId = instances.id WHERE instances.id = ?`,
    encodeText(id),
  );
  return row?.textOrNull('input') ?? null;
}
