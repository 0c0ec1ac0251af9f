/**
 * Starts with a conflict rule (rule S10): a transaction that first takes an advisory lock on the definition and reference.
 * The lock ends with the transaction, so a node that dies blocks nobody.
 */
import { createHash } from 'node:crypto';
import type { OperationArguments, OperationResult } from '../operations.js';
import {
  TERMINATED_PER_INSERT,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
} from '../records/instances.js';
import { referenceKeyOf } from '../reference-turns.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { appendedAudit, auditBodyOf } from './audit.js';
import type { Statements } from './database.js';
import { insertAll, insertFreely, isDisabled } from './inserts.js';
import {
  instanceOf,
  RECORD_COLUMNS,
  SUMMARY_COLUMNS,
  summaryOf,
  wakesOf,
} from './instance-rows.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { settleAllPart } from './side-records.js';

type Result = OperationResult<'insertInstance'>;

export function insertInstance(
  context: PostgresContext,
  [insert]: OperationArguments<'insertInstance'>,
): Promise<Result> {
  if (insert.conflict === undefined) return insertFreely(context, insert);
  return context.referenceTurns.take(referenceKeyOf(insert.record), () =>
    insertByRule(context, insert),
  );
}

async function insertByRule(context: PostgresContext, insert: InsertInstance): Promise<Result> {
  const { openDescendantsMax, record } = insert;
  const attempt = (mayInsert: boolean): Promise<Result> =>
    context.database.transaction((statements) => insertLocked(statements, insert, mayInsert));
  if (record.rootId === null || openDescendantsMax === undefined) return attempt(true);
  const { countedInserts } = context;
  const counted = await countedInserts.insert(record.rootId, openDescendantsMax, () =>
    attempt(true),
  );
  return counted ?? attempt(false);
}

async function insertLocked(
  statements: Statements,
  insert: InsertInstance,
  mayInsert: boolean,
): Promise<Result> {
  const { record } = insert;
  await statements.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockOf(record)]);
  // The following statements see everything that was committed before the lock was granted.
  const existing = await findById(statements, record.id);
  if (existing !== null) return { outcome: 'exists', record: existing };
  const joined = await joinedBefore(statements, insert);
  if (joined !== null) return joined;
  if (await isDisabled(statements, record.definitionId)) return { outcome: 'disabled' };
  const refused = await refusedNow(statements, insert);
  if (refused !== null) return refused;
  if (!mayInsert) return { outcome: 'full' };
  const terminated = await terminateOpen(statements, insert);
  if (terminated.isCut) return { outcome: 'more', terminated: terminated.summaries };
  const [outcome] = await insertAll(statements, [insert]);
  if (outcome === 'inserted') {
    return insert.conflict?.action === 'terminate'
      ? { outcome, terminated: terminated.summaries }
      : { outcome };
  }
  const other = await findById(statements, record.id);
  // The definition was disabled after we looked.
  return other === null ? { outcome: 'disabled' } : { outcome: 'exists', record: other };
}

/** Different references may share a lock by chance, and then only wait for each other. */
function lockOf(record: InstanceRecord): string {
  return createHash('sha256').update(referenceKeyOf(record)).digest().readBigInt64BE().toString();
}

async function findById(statements: Statements, id: string): Promise<InstanceRecord | null> {
  const [row] = await statements.query(`SELECT ${RECORD_COLUMNS} FROM @instances WHERE id = $1`, [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : instanceOf(row);
}

const OPEN = `reference = $1 AND definition_id = $2 AND status IN ('Runnable', 'Suspended')`;

async function newestOpen(
  statements: Pick<Statements, 'query'>,
  of: { readonly definitionId: string; readonly reference: string },
): Promise<InstanceRecord | null> {
  const [row] = await statements.query(
    `SELECT ${RECORD_COLUMNS} FROM @instances WHERE ${OPEN} ORDER BY start_time DESC, id DESC LIMIT 1`,
    [encodeTextWithoutNul(of.reference), encodeTextWithoutNul(of.definitionId)],
  );
  return row === undefined ? null : instanceOf(row);
}

async function joinedBefore(
  statements: Statements,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  if (conflict === undefined || record.requestHash === null) return null;
  const [row] = await statements.query(
    'SELECT request_hash, instance_id FROM @joined_starts WHERE id = $1',
    [encodeTextWithoutNul(record.id)],
  );
  const joined = row === undefined ? null : await findById(statements, row.text('instance_id'));
  if (row === undefined || joined === null) return null;
  return { outcome: 'joined', record: joined, requestHash: row.text('request_hash') };
}

async function refusedNow(
  statements: Statements,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  const { definitionId, id, reference, requestHash } = record;
  if (conflict?.action === 'terminate' || reference === null) return null;
  const newest = await newestOpen(statements, { definitionId, reference });
  if (newest === null) return null;
  if (conflict?.action === 'join' && requestHash !== null) {
    await statements.execute(
      `INSERT INTO @joined_starts (id, request_hash, instance_id) VALUES ($1, $2, $3)
       ON CONFLICT (id) DO UPDATE SET request_hash = EXCLUDED.request_hash, instance_id = EXCLUDED.instance_id`,
      [id, requestHash, newest.id].map(encodeTextWithoutNul),
    );
  }
  return { outcome: 'in-use', record: newest };
}

async function terminateOpen(
  statements: Statements,
  { conflict, record }: InsertInstance,
): Promise<{ readonly summaries: readonly InstanceSummary[]; readonly isCut: boolean }> {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null)
    return { summaries: [], isCut: false };
  const found = await statements.query(
    `SELECT id FROM @instances WHERE ${OPEN} ORDER BY start_time DESC, id DESC LIMIT $3::bigint`,
    [
      encodeTextWithoutNul(reference),
      encodeTextWithoutNul(definitionId),
      TERMINATED_PER_INSERT + 1,
    ],
  );
  if (found.length === 0) return { summaries: [], isCut: false };
  const parameters = new Parameters();
  const { audit } = conflict;
  const at = parameters.add(audit.time);
  const entry = `ARRAY[${parameters.add(auditBodyOf(audit))}]`;
  const ids = found
    .slice(0, TERMINATED_PER_INSERT)
    .map((row) => encodeTextWithoutNul(row.text('id')));
  const text = withParts(
    [
      `changed AS (
  UPDATE @instances SET status = 'Terminated', end_time = ${at}, outcome = 'Terminated', last_change_at = ${at},
         in_seq = in_seq + 1, wake_at = 0, audit = ${appendedAudit('audit', entry)}
   WHERE id IN (SELECT id FROM @instances WHERE id = ANY(${parameters.add(ids)}::text[])
                   AND status IN ('Runnable', 'Suspended') ORDER BY id FOR UPDATE)
  RETURNING *
)`,
      wakesOf('changed'),
      settleAllPart('changed'),
    ],
    `SELECT ${SUMMARY_COLUMNS} FROM changed ORDER BY start_time DESC, id DESC`,
  );
  const changed = await statements.query(text, parameters.values);
  return { summaries: changed.map(summaryOf), isCut: found.length > TERMINATED_PER_INSERT };
}
