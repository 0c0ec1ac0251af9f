/** Starts: one statement inserts the instances that arrive at the same moment, together with their side records. */
import type { CountOpenDescendants } from '../counted-inserts.js';
import { GroupCommit } from '../group-commit.js';
import { recordIn } from '../joined-starts.js';
import type { InsertInstance, InstanceRecord } from '../records/instances.js';
import { messageBytes } from '../records/messages.js';
import { columnsWithin, type Columns } from '../sql/columns.js';
import { INSTANCE_COLUMNS } from '../sql/instances.js';
import { changesSlots } from '../sql/slot-changes.js';
import type { OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database, Statements } from './database.js';
import { instanceOf, RECORD_NAMES, wakesOf } from './instance-rows.js';
import { getInstance } from './instances.js';
import { unlessJoined } from './key-locks.js';
import { insertDeliveriesParts, lengthOfDeliveries } from './notifications.js';
import { columnNames, Parameters, withParts } from './parameters.js';
import type { Groups, PostgresContext, SlotInsertOutcome } from './postgres-context.js';
import { insertSideParts } from './side-records.js';
import { allTermsOf, termParts } from './terms.js';

interface InboxRow {
  readonly instanceId: string;
  readonly position: number;
  readonly id: string;
  readonly body: string;
}

const INBOX: Columns<InboxRow> = {
  instance_id: ['text', ({ instanceId }) => instanceId],
  position: ['number', ({ position }) => position],
  message_id: ['text', ({ id }) => id],
  body: ['text', ({ body }) => body],
  bytes: ['number', messageBytes],
};

/** The same columns, and the input. */
const COLUMNS: Columns<InsertInstance> = {
  ...columnsWithin(INSTANCE_COLUMNS, ({ record }: InsertInstance) => record),
  input: ['text', ({ input }) => input ?? null],
};

const COLUMN_NAMES = columnNames(COLUMNS);

export function createInsertGroup(database: Database): Groups['inserts'] {
  const statements: Pick<Statements, 'query'> = {
    query: (text, values = []) => database.queryGroup(text, values),
  };
  return new GroupCommit({
    keyOf: ({ record }) => record.id,
    sizeOf: sizeOfInsert,
    repeatLimits: database.repeatLimits,
    send: (inserts) => insertAll(statements, inserts),
  });
}

/** Approximate number of characters. */
export function sizeOfInsert({ deliveries, input = '', record, side }: InsertInstance): number {
  return (
    record.state.length +
    input.length +
    (side.activities.length + side.history.length) * 1000 +
    lengthOfDeliveries(deliveries)
  );
}

/** An insert without a conflict rule. */
export async function insertFreely(
  context: PostgresContext,
  insert: InsertInstance,
): Promise<OperationResult<'insertInstance'>> {
  const { openDescendantsMax, record } = insert;
  const submit = (): Promise<SlotInsertOutcome> =>
    changesSlots(insert)
      ? context.groups.slotInserts.submit(insert)
      : context.groups.inserts.submit(insert);
  const outcome =
    record.rootId === null || openDescendantsMax === undefined
      ? await submit()
      : await context.countedInserts.insert(record.rootId, openDescendantsMax, submit);
  if (outcome === 'inserted') return { outcome };
  if (outcome !== 'not-inserted' && outcome !== null) return outcome;
  const existing = await getInstance(context, [record.id]);
  if (existing !== null) return { outcome: 'exists', record: existing };
  const joined = await joinedBefore(context.database, record);
  if (joined !== null) return joined;
  if (await isDisabled(context.database, record.definitionId)) return { outcome: 'disabled' };
  if (outcome === null) return { outcome: 'full' };
  throw new StoreUnavailableError(
    `The instance ${record.id} was removed, or its definition enabled, while it was inserted`,
  );
}

export async function joinedBefore(
  statements: Statements,
  { id, requestHash }: InstanceRecord,
): Promise<Extract<OperationResult<'insertInstance'>, { outcome: 'joined-before' }> | null> {
  if (requestHash === null) return null;
  const [row] = await statements.query(
    'SELECT request_hash, instance_id, body FROM @joined_starts WHERE id = $1',
    [encodeTextWithoutNul(id)],
  );
  if (row === undefined) return null;
  const body = row.textOrNull('body');
  const joined =
    body === null ? await findById(statements, row.text('instance_id')) : recordIn(body);
  if (joined === null) return null;
  return {
    outcome: 'joined-before',
    record: joined,
    requestHash: row.text('request_hash'),
    ...(body === null && { byWindow: true as const }),
  };
}

export async function findById(statements: Statements, id: string): Promise<InstanceRecord | null> {
  const [row] = await statements.query(`SELECT ${RECORD_NAMES} FROM @instances WHERE id = $1`, [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : instanceOf(row);
}

/**
 * The outcomes in the order of the inserts.
 * @param isImport records of another store, which are inserted whatever their definitions allow
 */
export async function insertAll(
  statements: Pick<Statements, 'query'>,
  inserts: readonly InsertInstance[],
  isImport = false,
): Promise<readonly ('inserted' | 'not-inserted')[]> {
  const parameters = new Parameters();
  const records = inserts.map(({ record }) => record);
  const rows = parameters.oneOrRows('w', inserts, COLUMNS);
  const inbox = inboxPart(parameters, inserts);
  const wakes = records.some(({ underWay, wakeAt }) => wakeAt !== null || underWay);
  const text = withParts(
    [
      inbox?.part ?? null,
      `inserted AS (
  INSERT INTO @instances (${COLUMN_NAMES}${inbox === null ? '' : ', inbox_ids, inbox_bodies, inbox_bytes'})
  SELECT ${COLUMN_NAMES}${inbox?.columns ?? ''} FROM ${rows} ${isImport ? '' : conditionsFor(records)} ORDER BY id COLLATE "C"
  ON CONFLICT (id) DO NOTHING
  RETURNING id, owner, wake_at, under_way, start_time
)`,
      wakes ? wakesOf('inserted') : null,
      ...insertSideParts(
        parameters,
        'inserted',
        inserts.map(({ record, side }) => ({ id: record.id, side })),
      ),
      ...insertDeliveriesParts(
        parameters,
        'inserted',
        inserts.map(({ deliveries = [], record }) => ({ id: record.id, deliveries })),
      ),
      ...termParts(parameters, 'inserted', records.map(allTermsOf)),
    ],
    'SELECT id FROM inserted',
  );
  const inserted = await statements.query(text, parameters.values);
  const ids = new Set(inserted.map((row) => row.text('id')));
  return records.map(({ id }) => (ids.has(id) ? 'inserted' : 'not-inserted'));
}

/** A statement sees every change that was committed before it began (rule S9). */
const IF_ENABLED =
  'WHERE NOT EXISTS (SELECT FROM @disabled_definitions AS disabled WHERE disabled.id = w.definition_id)';

const UNLESS_JOINED = `AND CASE WHEN w.request_hash IS NULL THEN true ELSE ${unlessJoined('w.id')} END`;

/** Few starts have a key. */
function conditionsFor(records: readonly InstanceRecord[]): string {
  const isKeyed = records.some(({ requestHash }) => requestHash !== null);
  return isKeyed ? `${IF_ENABLED} ${UNLESS_JOINED}` : IF_ENABLED;
}

export async function isDisabled(statements: Statements, definitionId: string): Promise<boolean> {
  const [row] = await statements.query(
    'SELECT EXISTS (SELECT FROM @disabled_definitions WHERE id = $1) AS found',
    [encodeTextWithoutNul(definitionId)],
  );
  return row?.boolean('found') ?? false;
}

/** Few instances have messages from the start. */
function inboxPart(
  parameters: Parameters,
  inserts: readonly InsertInstance[],
): { readonly part: string; readonly columns: string } | null {
  const messages = inserts.flatMap(({ record }) =>
    record.inbox.map(({ id, body }, position) => ({ instanceId: record.id, position, id, body })),
  );
  if (messages.length === 0) return null;
  const list = (column: string): string =>
    `COALESCE((SELECT array_agg(m.${column} ORDER BY m.position) FROM messages AS m WHERE m.instance_id = w.id), '{}')`;
  return {
    part: `messages AS (SELECT * FROM ${parameters.rows('m', messages, INBOX)})`,
    columns:
      `, ${list('message_id')}, ${list('body')}, ` +
      'COALESCE((SELECT sum(m.bytes) FROM messages AS m WHERE m.instance_id = w.id), 0)',
  };
}

/** Reads at most `max` entries of the index. */
export function countOpenDescendants(database: Database): CountOpenDescendants {
  return async (rootId, max) => {
    const [row] = await database.query(
      `SELECT count(*) AS open FROM (
         SELECT 1 FROM @instances WHERE root_id = $1 AND status IN ('Runnable', 'Suspended') LIMIT $2::bigint
       ) AS descendants`,
      [encodeTextWithoutNul(rootId), max],
    );
    return row?.number('open') ?? 0;
  };
}
