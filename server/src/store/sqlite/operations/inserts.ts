/** Starts of instances: what they are refused for, and what they keep. Each insert runs in a write transaction. */
import type { OperationArguments, OperationResult } from '../../operations.js';
import {
  TERMINATED_PER_INSERT,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
} from '../../records/instances.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { hasNoEvents } from './events.js';
import {
  insertInstanceRow,
  readInput,
  readInstance,
  SUMMARY_COLUMNS,
  summaryOf,
} from './instance-rows.js';
import { controlInstance } from './instances.js';
import { insertSideRecords } from './side-records.js';

type Result = OperationResult<'insertInstance'>;

interface OpenReference {
  readonly definitionId: string;
  readonly reference: string;
}

const INSERTED: Result = { outcome: 'inserted' };

export function insertInstance(
  database: Database,
  [insert]: OperationArguments<'insertInstance'>,
): Result {
  const { conflict, input = null, openDescendantsMax, record, side } = insert;
  const existing = readInstance(database, record.id);
  if (existing !== null) return { outcome: 'exists', record: existing };
  const refused = joinedBefore(database, insert) ?? refusedNow(database, insert);
  if (refused !== null) return refused;
  if (isFull(database, record.rootId, openDescendantsMax)) return { outcome: 'full' };
  const inserted = conflict?.action === 'terminate' ? terminateOpen(database, insert) : INSERTED;
  if (inserted.outcome !== 'inserted') return inserted;
  insertSideRecords(database, side);
  insertInstanceRow(database, record, input);
  const { subscriptions } = side;
  const noEvents = subscriptions.length > 0 && hasNoEvents(database, subscriptions);
  return noEvents ? { ...inserted, noEvents } : inserted;
}

export function getInput(database: Database, [id]: OperationArguments<'getInput'>): string | null {
  return readInput(database, id);
}

function findOpenInstance(
  database: Database,
  { definitionId, reference }: OpenReference,
): InstanceRecord | null {
  const [newest] = openIds(database, { definitionId, reference, limit: 1 });
  return newest === undefined ? null : readInstance(database, newest);
}

function joinedBefore(database: Database, { conflict, record }: InsertInstance): Result | null {
  if (conflict === undefined || record.requestHash === null) return null;
  const row = database.get(
    'SELECT requestHash, instanceId FROM joined_starts WHERE id = ?',
    encodeText(record.id),
  );
  const joined = row === null ? null : readInstance(database, row.text('instanceId'));
  if (row === null || joined === null) return null;
  return { outcome: 'joined', record: joined, requestHash: row.text('requestHash') };
}

function refusedNow(database: Database, { conflict, record }: InsertInstance): Result | null {
  const { definitionId, id, reference, requestHash } = record;
  if (isDisabled(database, definitionId)) return { outcome: 'disabled' };
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  const newest = findOpenInstance(database, { definitionId, reference });
  if (newest === null) return null;
  if (conflict.action === 'join' && requestHash !== null) {
    database.run(
      'INSERT OR REPLACE INTO joined_starts (id, requestHash, instanceId) VALUES (?, ?, ?)',
      encodeText(id),
      encodeText(requestHash),
      encodeText(newest.id),
    );
  }
  return { outcome: 'in-use', record: newest };
}

function isDisabled(database: Database, definitionId: string): boolean {
  const sql = 'SELECT 1 AS found FROM disabled_definitions WHERE id = ?';
  return database.get(sql, encodeText(definitionId)) !== null;
}

function terminateOpen(database: Database, { conflict, record }: InsertInstance): Result {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null) return INSERTED;
  const { audit } = conflict;
  const ids = openIds(database, { definitionId, reference, limit: TERMINATED_PER_INSERT + 1 });
  const terminated = ids.slice(0, TERMINATED_PER_INSERT).flatMap((id) => {
    const result = controlInstance(database, [id, 'terminate', audit.time, audit]);
    return result.outcome === 'done' ? [readSummary(database, id)] : [];
  });
  return { outcome: ids.length > TERMINATED_PER_INSERT ? 'more' : 'inserted', terminated };
}

function readSummary(database: Database, id: string): InstanceSummary {
  const sql = `SELECT ${SUMMARY_COLUMNS} FROM instances WHERE id = ?`;
  const row = database.get(sql, encodeText(id));
  if (row === null) throw new TypeError(`The instance ${id} does not exist`);
  return summaryOf(row);
}

/** Newest first. */
function openIds(
  database: Database,
  of: { readonly definitionId: string; readonly reference: string; readonly limit: number },
): readonly string[] {
  return database
    .all(
      `SELECT id FROM instances INDEXED BY instances_open_reference
        WHERE reference = ? AND reference IS NOT NULL AND definitionId = ? AND status IN ('Runnable', 'Suspended')
        ORDER BY startTime DESC, id DESC LIMIT ?`,
      encodeText(of.reference),
      encodeText(of.definitionId),
      of.limit,
    )
    .map((row) => row.text('id'));
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
