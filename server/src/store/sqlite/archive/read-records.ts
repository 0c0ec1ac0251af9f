/** Reads whole records from the tables of the embedded store. */
import type { ArchivedRecords, RecordKind } from '../../archive.js';
import { RECORD_OF, TABLES } from '../../sql/archive-tables.js';
import { disabledColumn, storedDefinitionOf } from '../../sql/definitions.js';
import { summaryOf } from '../../sql/instances.js';
import type { Database } from '../database.js';
import { translate } from '../notation.js';
import type { Row } from '../row.js';
import { listAudit } from '../statements/control.js';
import { readInput } from '../statements/instance-rows.js';
import { readInbox } from '../statements/inbox-rows.js';

const DEFINITIONS = `SELECT definitions.*, definition_stamps.id AS stampId, requestHash, ${translate(disabledColumn('definitions.id'))}
  FROM definitions LEFT JOIN definition_stamps
    ON definitionId = definitions.id AND definition_stamps.version = definitions.version`;

type Readers = {
  readonly [Kind in RecordKind]: (row: Row, database: Database) => ArchivedRecords[Kind];
};

const READERS: Readers = {
  ...RECORD_OF,
  definition(row) {
    const stampId = row.textOrNull('stampId');
    return {
      ...storedDefinitionOf(row),
      source: row.textOrNull('source'),
      stamp: stampId === null ? null : { id: stampId, requestHash: row.text('requestHash') },
    };
  },
  instance(row, database) {
    const summary = summaryOf(row);
    return {
      ...summary,
      inbox: readInbox(database, summary.id),
      state: row.text('state'),
      audit: listAudit(database, [summary.id])?.toReversed() ?? [],
      input: readInput(database, summary.id),
    };
  },
};

export function* recordsOf<Kind extends RecordKind>(
  database: Database,
  kind: Kind,
): Generator<ArchivedRecords[Kind]> {
  const text = kind === 'definition' ? DEFINITIONS : `SELECT * FROM ${TABLES[kind]}`;
  for (const row of database.each(text)) yield READERS[kind](row, database);
}
