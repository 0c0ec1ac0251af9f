/** The terms by which instances are found, as rows. They are written in the transaction that writes the instance. */
import { fieldTerms, termChanges, termsOf, type Term } from '../../index-terms.js';
import type { IndexChange, InstanceRecord } from '../../records/instances.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';

type Place = Pick<InstanceRecord, 'id' | 'startTime'>;

/** The fields themselves have been written. */
export function changeFieldTerms(
  database: Database,
  id: string,
  { after, before }: IndexChange,
): void {
  const row = database.get('SELECT startTime FROM instances WHERE id = ?', encodeText(id));
  if (row === null) return;
  const place = { id, startTime: row.number('startTime') };
  changeTerms(database, place, fieldTerms(before), fieldTerms(after));
}

export function insertTerms(
  database: Database,
  record: Place & Pick<InstanceRecord, 'tags' | 'index'>,
): void {
  for (const term of termsOf(record)) insertTerm(database, record, term);
}

export function removeTerms(
  database: Database,
  record: Place & Pick<InstanceRecord, 'tags' | 'index'>,
): void {
  for (const term of termsOf(record)) removeTerm(database, record, term);
}

export function changeTerms(
  database: Database,
  place: Place,
  before: readonly Term[],
  after: readonly Term[],
): void {
  const { added, removed } = termChanges(before, after);
  for (const term of removed) removeTerm(database, place, term);
  for (const term of added) insertTerm(database, place, term);
}

function insertTerm(database: Database, { id, startTime }: Place, { name, value }: Term): void {
  database.run(
    'INSERT OR IGNORE INTO terms (name, value, startTime, instanceId) VALUES (?, ?, ?, ?)',
    name,
    value,
    startTime,
    encodeText(id),
  );
}

function removeTerm(database: Database, { id, startTime }: Place, { name, value }: Term): void {
  database.run(
    'DELETE FROM terms WHERE name = ? AND value = ? AND startTime = ? AND instanceId = ?',
    name,
    value,
    startTime,
    encodeText(id),
  );
}
