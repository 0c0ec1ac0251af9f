/** Inserts new instances: when a start is rejected, and what is stored with it. Each insert runs in a write transaction. */
import { joinedStartOf, recordIn, windowStartOf, type JoinedStart } from '../../joined-starts.js';
import type { NewActivityRecord } from '../../records/activities.js';
import {
  queueRefusal,
  TERMINATED_PER_INSERT,
  terminationOf,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
} from '../../records/instances.js';
import { JOINED_START_COLUMNS } from '../../sql/archive-tables.js';
import { lastBefore, lastCounting, SUMMARY_NAMES, summaryOf } from '../../sql/instances.js';
import { enterAtStart, refusalByPlaces } from '../../sql/places.js';
import { openWindow } from '../../sql/starts.js';
import { changesSlots } from '../../sql/slot-changes.js';
import { insert } from '../../sql/statements.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { controlInstance } from './control.js';
import { hasNoEvents } from './events.js';
import { insertInstanceRow, readInput, readInstance } from './instance-rows.js';
import { insertDeliveries } from './notifications.js';
import { insertSideRecords } from './side-records.js';
import { insertSlots } from './slot-changes.js';

type Result = OperationResult<'insertInstance'>;

interface NamedInstances {
  readonly definitionId: string;
  readonly reference: string;
  readonly limit: number;
}

const REPLACE_JOINED = `ON CONFLICT (id) DO UPDATE SET requestHash = excluded.requestHash,
  instanceId = excluded.instanceId, joinedAt = excluded.joinedAt, body = excluded.body`;

const INSERTED: Result = { outcome: 'inserted' };

export function insertInstance(
  database: Database,
  [insert]: OperationArguments<'insertInstance'>,
): Result {
  const { openDescendantsMax, record } = insert;
  const existing = readInstance(database, record.id);
  if (existing !== null) return { outcome: 'exists', record: existing };
  const refused = joinedBefore(database, record) ?? refusedNow(database, insert);
  if (refused !== null) return refused;
  if (isFull(database, record.rootId, openDescendantsMax)) return { outcome: 'full' };
  const noPlace = runSteps(database, refusalByPlaces(insert));
  if (noPlace !== null) return noPlace;
  if (!changesSlots(insert)) return write(database, insert).result;
  return database.undoable((undo) => {
    const { added, result } = write(database, insert);
    if (result.outcome !== 'inserted') return result;
    const { limitedBy, refused } = insertSlots(database, insert, added);
    if (refused.length > 0) {
      undo();
      return { outcome: 'no-slots', refused };
    }
    return limitedBy.length > 0 ? { ...result, waits: limitedBy } : result;
  });
}

/** Also returns the items that were added. */
function write(
  database: Database,
  insert: InsertInstance,
): { readonly result: Result; readonly added: readonly NewActivityRecord[] } {
  const { conflict, deliveries = [], input = null, record, side } = insert;
  const inserted = conflict?.action === 'terminate' ? terminateOpen(database, insert) : INSERTED;
  if (inserted.outcome !== 'inserted') return { result: inserted, added: [] };
  const added = insertSideRecords(database, side);
  insertInstanceRow(database, record, input);
  runSteps(database, enterAtStart(record));
  insertDeliveries(database, [deliveries]);
  const { subscriptions } = side;
  const noEvents = subscriptions.length > 0 && hasNoEvents(database, subscriptions);
  return { result: noEvents ? { ...inserted, noEvents } : inserted, added };
}

export function getInput(database: Database, [id]: OperationArguments<'getInput'>): string | null {
  return readInput(database, id);
}

export function findPredecessor(
  database: Database,
  [{ at, definitionId, id, reference }]: OperationArguments<'findPredecessor'>,
): string | null {
  return runSteps(database, lastBefore({ definitionId, reference }, { at, id }));
}

function joinedBefore(database: Database, { id, requestHash }: InstanceRecord): Result | null {
  if (requestHash === null) return null;
  const row = database.get(
    'SELECT requestHash, instanceId, body FROM joined_starts WHERE id = ?',
    encodeText(id),
  );
  if (row === null) return null;
  const body = row.textOrNull('body');
  const joined = body === null ? readInstance(database, row.text('instanceId')) : recordIn(body);
  if (joined === null) return null;
  return {
    outcome: 'joined-before',
    record: joined,
    requestHash: row.text('requestHash'),
    ...(body === null && { byWindow: true as const }),
  };
}

function refusedNow(database: Database, insert: InsertInstance): Result | null {
  const { conflict, record } = insert;
  const { definitionId, reference } = record;
  if (isDisabled(database, definitionId)) return { outcome: 'disabled' };
  const instanceId = runSteps(database, openWindow(insert));
  if (instanceId !== null) {
    keepJoined(database, windowStartOf(record, instanceId));
    return { outcome: 'window', instanceId };
  }
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  if (conflict.action === 'queue') {
    const last = runSteps(database, lastCounting({ definitionId, reference }, record.startTime));
    const summary = last === null ? null : readSummary(database, last);
    return queueRefusal(conflict, record, summary);
  }
  const named = { definitionId, reference, limit: 1 };
  const [newest] = conflict.scope === 'kept' ? keptOf(database, named) : openOf(database, named);
  if (newest === undefined) return null;
  if (conflict.action === 'refuse') {
    return { outcome: 'in-use', record: readSummary(database, newest.id) };
  }
  return joined(database, record, readInstance(database, newest.id));
}

function joined(
  database: Database,
  start: InstanceRecord,
  record: InstanceRecord | null,
): Result | null {
  if (record === null) return null;
  keepJoined(database, joinedStartOf(start, record));
  return { outcome: 'joined', record };
}

function keepJoined(database: Database, kept: JoinedStart | null): void {
  if (kept !== null)
    runSteps(database, insert('joined_starts', JOINED_START_COLUMNS, kept, REPLACE_JOINED));
}

function isDisabled(database: Database, definitionId: string): boolean {
  const sql = 'SELECT 1 AS found FROM disabled_definitions WHERE id = ?';
  return database.get(sql, encodeText(definitionId)) !== null;
}

function terminateOpen(database: Database, { conflict, record }: InsertInstance): Result {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null) return INSERTED;
  const { audit } = conflict;
  const open = openOf(database, { definitionId, reference, limit: TERMINATED_PER_INSERT + 1 });
  const terminated = open.slice(0, TERMINATED_PER_INSERT).flatMap((each) => {
    const entry = terminationOf(audit, each);
    const result = controlInstance(database, [each.id, 'terminate', entry.time, entry]);
    return result.outcome === 'done' ? [readSummary(database, each.id)] : [];
  });
  return { outcome: open.length > TERMINATED_PER_INSERT ? 'more' : 'inserted', terminated };
}

function readSummary(database: Database, id: string): InstanceSummary {
  const sql = `SELECT ${SUMMARY_NAMES} FROM instances WHERE id = ?`;
  const row = database.get(sql, encodeText(id));
  if (row === null) throw new TypeError(`The instance ${id} does not exist`);
  return summaryOf(row);
}

/** Newest first. */
function openOf(
  database: Database,
  of: NamedInstances,
): readonly Pick<InstanceRecord, 'id' | 'startTime'>[] {
  const sql = `SELECT id, startTime FROM instances INDEXED BY instances_open_reference
    WHERE reference = ? AND reference IS NOT NULL AND definitionId = ? AND status IN ('Runnable', 'Suspended')
    ORDER BY startTime DESC, id DESC LIMIT ?`;
  return namedBy(database, sql, of);
}

/** Newest first; open and ended ones. */
function keptOf(
  database: Database,
  of: NamedInstances,
): readonly Pick<InstanceRecord, 'id' | 'startTime'>[] {
  const sql = `SELECT id, startTime FROM instances INDEXED BY instances_definition_reference
    WHERE reference = ? AND reference IS NOT NULL AND definitionId = ? AND revision >= 0
    ORDER BY startTime DESC, id DESC LIMIT ?`;
  return namedBy(database, sql, of);
}

function namedBy(
  database: Database,
  sql: string,
  { definitionId, limit, reference }: NamedInstances,
): readonly Pick<InstanceRecord, 'id' | 'startTime'>[] {
  return database
    .all(sql, encodeText(reference), encodeText(definitionId), limit)
    .map((row) => ({ id: row.text('id'), startTime: row.number('startTime') }));
}

function isFull(database: Database, rootId: string | null, max: number | undefined): boolean {
  if (rootId === null || max === undefined) return false;
  // Reads at most `max` entries of the index.
  const counted = database.get(
    `SELECT COUNT(*) AS open FROM (
       SELECT 1 FROM instances INDEXED BY instances_open_root
        WHERE rootId = ? AND rootId IS NOT NULL AND status IN ('Runnable', 'Suspended') LIMIT ?)`,
    encodeText(rootId),
    max,
  );
  return (counted?.number('open') ?? 0) >= max;
}
