/** Reads whole records from the tables, page by page, in the order of their keys. */
import type { ArchivedRecords, RecordKind } from '../../archive.js';
import type { AuditEntry } from '../../records/control.js';
import { RECORD_OF, TABLES } from '../../sql/archive-tables.js';
import { disabledColumn, storedDefinitionOf } from '../../sql/definitions.js';
import type { Database, Value } from '../database.js';
import { instanceOf } from '../instance-rows.js';
import { columnName, encodeValue } from '../notation.js';
import type { Row } from '../row.js';

/** The members of a record that are the key of its row. */
const KEYS: { readonly [Kind in RecordKind]: readonly (keyof ArchivedRecords[Kind] & string)[] } = {
  definition: ['id', 'version'],
  stepScript: ['name', 'version'],
  instance: ['id'],
  joinedStart: ['id'],
  history: ['instanceId', 'sequence'],
  subscription: ['id'],
  activity: ['id'],
  slot: ['execution', 'limitName'],
  slotWait: ['execution'],
  limitRate: ['limitName', 'limitKey'],
  event: ['id'],
  bulkJob: ['id'],
  bulkIds: ['jobId', 'position'],
  notification: ['name'],
  delivery: ['id'],
  trigger: ['id'],
  resource: ['kind', 'name'],
  node: ['id'],
};

/** Of a definition, more than the columns of its table. */
const WITH_STAMP = `t.*, (SELECT ARRAY[s.id, s.request_hash] FROM @definition_stamps AS s
  WHERE s.definition_id = t.id AND s.version = t.version) AS stamp, ${disabledColumn('t.id')}`;

const READERS: { readonly [Kind in RecordKind]: (row: Row) => ArchivedRecords[Kind] } = {
  ...RECORD_OF,
  definition(row) {
    const [id, requestHash] = row.texts('stamp');
    const stamp = id === undefined || requestHash === undefined ? null : { id, requestHash };
    return { ...storedDefinitionOf(row), source: row.textOrNull('source'), stamp };
  },
  instance: (row) => ({
    ...instanceOf(row),
    // Written by `auditBodyOf`.
    audit: row.texts('audit').map((body) => JSON.parse(body) as AuditEntry),
    input: row.textOrNull('input'),
  }),
};

/** Pages are small, because an instance may have 32 MiB. */
const PAGE = 8;

export async function* recordsOf<Kind extends RecordKind>(
  database: Database,
  kind: Kind,
): AsyncGenerator<ArchivedRecords[Kind]> {
  const key = KEYS[kind];
  const names = key.map((member) => `t.${columnName(member)}`).join(', ');
  const columns = kind === 'definition' ? WITH_STAMP : 't.*';
  const selected = `SELECT ${columns} FROM @${TABLES[kind]} AS t`;
  const order = `ORDER BY ${names} LIMIT ${PAGE}`;
  let after: readonly Value[] | null = null;
  for (;;) {
    const rows: readonly Row[] =
      after === null
        ? await database.query(`${selected} ${order}`)
        : await database.query(
            `${selected} WHERE (${names}) > (${positionOf(after)}) ${order}`,
            after,
          );
    const page = rows.map(READERS[kind]);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    // A key consists of texts and numbers.
    after = key.map((member) => encodeValue(last[member] as string | number));
  }
}

function positionOf(values: readonly Value[]): string {
  const placeholders = values.map((value, index) =>
    typeof value === 'number' ? `$${index + 1}::bigint` : `$${index + 1}`,
  );
  return placeholders.join(', ');
}
