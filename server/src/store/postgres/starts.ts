/**
 * Starts with a conflict rule (rule S10): a transaction that first takes an advisory lock on the definition and reference.
 * The lock ends with the transaction, so a node that dies blocks no other.
 */
import { joinedStartOf, windowStartOf, type JoinedStart } from '../joined-starts.js';
import {
  queueRefusal,
  referenceKeyOf,
  TERMINATED_PER_INSERT,
  terminationOf,
  type ConflictScope,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
  type TerminationEntry,
} from '../records/instances.js';
import { placesKeyOf } from '../records/places.js';
import { windowKeyOf } from '../records/windows.js';
import type { Columns } from '../sql/columns.js';
import { lastBefore, lastCounting, summaryOf } from '../sql/instances.js';
import { enterAtStart, entersLine, refusalByPlaces } from '../sql/places.js';
import { openWindow } from '../sql/starts.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Statements } from './database.js';
import { findById, insertFreely, isDisabled, joinedBefore } from './inserts.js';
import {
  appendedAudit,
  auditBodyOf,
  encodeOptional,
  instanceOf,
  RECORD_NAMES,
  SUMMARY_NAMES,
  wakesOf,
} from './instance-rows.js';
import { lockKeys } from './key-locks.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';
import { runSteps } from './shared-operations.js';
import { settleAllPart } from './side-records.js';
import { insertLocksOf, insertWithSlots } from './slot-commits.js';

type Result = OperationResult<'insertInstance'>;

export function insertInstance(
  context: PostgresContext,
  [insert]: OperationArguments<'insertInstance'>,
): Promise<Result> {
  const { conflict, places, record } = insert;
  const hasRule = conflict !== undefined || places !== undefined || insert.window !== undefined;
  if (!hasRule && !entersLine(record)) return insertFreely(context, insert);
  // Those of this process wait without a connection.
  const key = conflict === undefined ? (placesKey(record) ?? '') : referenceKeyOf(record);
  const work = (): Promise<Result> =>
    context.references.run(key, () => insertByRule(context, insert));
  if (insert.window === undefined) return work();
  return context.references.run(windowKeyOf(record, insert.window), work);
}

async function insertByRule(context: PostgresContext, insert: InsertInstance): Promise<Result> {
  const { openDescendantsMax, record } = insert;
  const attempt = async (mayInsert: boolean): Promise<Result> => {
    try {
      return await context.database.transaction((statements) =>
        insertLocked(statements, insert, mayInsert),
      );
    } catch (error) {
      if (error instanceof RolledBack) return error.result;
      throw error;
    }
  };
  if (record.rootId === null || openDescendantsMax === undefined) return attempt(true);
  const { countedInserts } = context;
  const counted = await countedInserts.insert(record.rootId, openDescendantsMax, () =>
    attempt(true),
  );
  return counted ?? attempt(false);
}

/** Ends the transaction without effect: an insert that is refused terminates nothing. */
class RolledBack extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super('The insert was refused');
    this.result = result;
  }
}

async function insertLocked(
  statements: Statements,
  insert: InsertInstance,
  mayInsert: boolean,
): Promise<Result> {
  const { record } = insert;
  await lock(statements, insert);
  // The following statements see everything that was committed before the locks were granted.
  const existing = await findById(statements, record.id);
  if (existing !== null) return { outcome: 'exists', record: existing };
  const joined = await joinedBefore(statements, record);
  if (joined !== null) return joined;
  if (await isDisabled(statements, record.definitionId)) return { outcome: 'disabled' };
  const refused =
    (await joinedWindow(statements, insert)) ?? (await refusedNow(statements, insert));
  if (refused !== null) return refused;
  if (!mayInsert) return { outcome: 'full' };
  const noPlace = await runSteps(statements, refusalByPlaces(insert));
  if (noPlace !== null) return noPlace;
  const terminated = await terminateOpen(statements, insert);
  if (terminated.isCut) return { outcome: 'more', terminated: terminated.summaries };
  const [outcome = 'not-inserted'] = await insertWithSlots(statements, [insert]);
  if (outcome !== 'not-inserted') {
    if (outcome !== 'inserted' && outcome.outcome === 'no-slots') throw new RolledBack(outcome);
    await runSteps(statements, enterAtStart(record));
    return {
      outcome: 'inserted',
      ...(insert.conflict?.action === 'terminate' && { terminated: terminated.summaries }),
      ...(outcome !== 'inserted' && { waits: outcome.waits }),
    };
  }
  const other = await findById(statements, record.id);
  if (other !== null) throw new RolledBack({ outcome: 'exists', record: other });
  const joinedMeanwhile = await joinedBefore(statements, record);
  // Else, the definition was disabled after we looked.
  throw new RolledBack(joinedMeanwhile ?? { outcome: 'disabled' });
}

async function lock(statements: Statements, insert: InsertInstance): Promise<void> {
  const { conflict, record } = insert;
  const keys = [
    ...(conflict === undefined ? [] : [referenceKeyOf(record)]),
    ...(insert.window === undefined ? [] : [windowKeyOf(record, insert.window)]),
    ...(insert.places === undefined && !entersLine(record) ? [] : [placesKey(record) ?? '']),
    ...insertLocksOf(insert),
  ];
  const mayJoin = conflict?.action === 'join' || insert.window !== undefined;
  const joins = mayJoin && record.requestHash !== null;
  await lockKeys(statements, keys, joins ? record.id : null);
}

function placesKey({ concurrencyKey, definitionId }: InstanceRecord): string | null {
  return concurrencyKey === null ? null : placesKeyOf({ definitionId, key: concurrencyKey });
}

/** Under the lock of the reference: a start that doesn't see the instance in the queue is seen by it. */
export function findPredecessor(
  { database }: PostgresContext,
  [{ at, definitionId, id, reference }]: OperationArguments<'findPredecessor'>,
): Promise<OperationResult<'findPredecessor'>> {
  const queue = { definitionId, reference };
  return database.transaction(async (statements) => {
    await lockKeys(statements, [referenceKeyOf(queue)]);
    return runSteps(statements, lastBefore(queue, { at, id }));
  });
}

const NAMED = 'reference = $1 AND definition_id = $2';
const IN_SCOPE: Readonly<Record<ConflictScope, string>> = {
  open: `${NAMED} AND status IN ('Runnable', 'Suspended')`,
  kept: `${NAMED} AND revision >= 0`,
};

async function newestIn(
  scope: ConflictScope,
  statements: Pick<Statements, 'query'>,
  { definitionId, reference }: { readonly definitionId: string; readonly reference: string },
  columns: string,
): Promise<Row | undefined> {
  const [row] = await statements.query(
    `SELECT ${columns} FROM @instances WHERE ${IN_SCOPE[scope]} ORDER BY start_time DESC, id DESC LIMIT 1`,
    [encodeTextWithoutNul(reference), encodeTextWithoutNul(definitionId)],
  );
  return row;
}

async function joinedWindow(
  statements: Statements,
  insert: InsertInstance,
): Promise<Result | null> {
  const { record } = insert;
  const instanceId = await runSteps(statements, openWindow(insert));
  if (instanceId === null) return null;
  const kept = windowStartOf(record, instanceId);
  if (kept !== null) await insertJoinedStart(statements, kept);
  return { outcome: 'window', instanceId };
}

async function refusedNow(
  statements: Statements,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  const { definitionId, reference } = record;
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  const of = { definitionId, reference };
  if (conflict.action === 'queue') {
    const id = await runSteps(statements, lastCounting(of, record.startTime));
    const last = id === null ? null : await summaryById(statements, id);
    return queueRefusal(conflict, record, last);
  }
  const { action, scope = 'open' } = conflict;
  if (action === 'refuse') {
    const other = await newestIn(scope, statements, of, SUMMARY_NAMES);
    return other === undefined ? null : { outcome: 'in-use', record: summaryOf(other) };
  }
  const newest = await newestIn(scope, statements, of, RECORD_NAMES);
  if (newest === undefined) return null;
  const joined = instanceOf(newest);
  const kept = joinedStartOf(record, joined);
  if (kept !== null) await insertJoinedStart(statements, kept);
  return { outcome: 'joined', record: joined };
}

async function summaryById(statements: Statements, id: string): Promise<InstanceSummary | null> {
  const text = `SELECT ${SUMMARY_NAMES} FROM @instances WHERE id = $1`;
  const [row] = await statements.query(text, [encodeTextWithoutNul(id)]);
  return row === undefined ? null : summaryOf(row);
}

async function insertJoinedStart(statements: Statements, start: JoinedStart): Promise<void> {
  const { body, id, instanceId, joinedAt, requestHash } = start;
  await statements.execute(
    `INSERT INTO @joined_starts (id, request_hash, instance_id, joined_at, body) VALUES ($1, $2, $3, $4::bigint, $5)
     ON CONFLICT (id) DO UPDATE SET request_hash = EXCLUDED.request_hash, instance_id = EXCLUDED.instance_id,
       joined_at = EXCLUDED.joined_at, body = EXCLUDED.body`,
    [
      encodeTextWithoutNul(id),
      encodeTextWithoutNul(requestHash),
      encodeTextWithoutNul(instanceId),
      joinedAt,
      encodeOptional(body),
    ],
  );
}

interface End {
  readonly id: string;
  readonly entry: TerminationEntry;
}

const ENDS: Columns<End> = {
  id: ['text', ({ id }) => id],
  at: ['number', ({ entry }) => entry.time],
  entry: ['text', ({ entry }) => auditBodyOf(entry)],
};

async function terminateOpen(
  statements: Statements,
  { conflict, record }: InsertInstance,
): Promise<{ readonly summaries: readonly InstanceSummary[]; readonly isCut: boolean }> {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null)
    return { summaries: [], isCut: false };
  const found = await statements.query(
    `SELECT id, start_time FROM @instances WHERE ${IN_SCOPE.open} ORDER BY start_time DESC, id DESC LIMIT $3::bigint`,
    [
      encodeTextWithoutNul(reference),
      encodeTextWithoutNul(definitionId),
      TERMINATED_PER_INSERT + 1,
    ],
  );
  if (found.length === 0) return { summaries: [], isCut: false };
  const parameters = new Parameters();
  const ends = found.slice(0, TERMINATED_PER_INSERT).map((row) => ({
    id: row.text('id'),
    entry: terminationOf(conflict.audit, { startTime: row.number('start_time') }),
  }));
  const ids = parameters.add(ends.map(({ id }) => encodeTextWithoutNul(id)));
  const text = withParts(
    [
      `changed AS (
  UPDATE @instances AS i SET status = 'Terminated', end_time = e.at, outcome = 'Terminated', last_change_at = e.at,
         in_seq = i.in_seq + 1, wake_at = 0, failure_key = NULL, failure = NULL,
         audit = ${appendedAudit('i.audit', 'ARRAY[e.entry]')}
    FROM ${parameters.rows('e', ends, ENDS)}
   WHERE i.id = e.id AND i.id IN (SELECT id FROM @instances WHERE id = ANY(${ids}::text[])
                   AND status IN ('Runnable', 'Suspended') ORDER BY id FOR UPDATE)
  RETURNING i.*
)`,
      wakesOf('changed'),
      settleAllPart('changed'),
    ],
    `SELECT ${SUMMARY_NAMES} FROM changed ORDER BY start_time DESC, id DESC`,
  );
  const changed = await statements.query(text, parameters.values);
  return { summaries: changed.map(summaryOf), isCut: found.length > TERMINATED_PER_INSERT };
}

export async function getInput(
  { database }: PostgresContext,
  [id]: OperationArguments<'getInput'>,
): Promise<string | null> {
  const [row] = await database.query('SELECT input FROM @instances WHERE id = $1', [
    encodeTextWithoutNul(id),
  ]);
  return row?.textOrNull('input') ?? null;
}
