/** Instances: reads, commits, takeovers, and searches for instances that need a node. Each write runs in a transaction. */
import { storedFailingSince } from '../../failing-since.js';
import { failureText, indexText } from '../../json-columns.js';
import type { NewActivityRecord } from '../../records/activities.js';
import type {
  DueInstance,
  InstanceClaim,
  InstanceCommit,
  IndexChange,
  InstanceRecord,
} from '../../records/instances.js';
import type { WindowChange } from '../../records/windows.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { CLAIM_NAMES, claimOf } from '../../sql/instances.js';
import { changesSlots } from '../../sql/slot-changes.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { settleAllOf } from './activity-rows.js';
import { readInstance, replaceInput } from './instance-rows.js';
import { clearInbox } from './inbox-rows.js';
import { insertDeliveries } from './notifications.js';
import { noteAction, insertSideRecords, removeSideRecords } from './side-records.js';
import { commitSlots } from './slot-changes.js';
import { changeFieldTerms } from './terms.js';

const CLAIM_COLUMNS = CLAIM_NAMES.join(', ');

export function getInstance(
  database: Database,
  [id]: OperationArguments<'getInstance'>,
): InstanceRecord | null {
  return readInstance(database, id);
}

export function commitInstance(
  database: Database,
  [commit]: OperationArguments<'commitInstance'>,
): OperationResult<'commitInstance'> {
  if (changesSlots(commit)) return commitSlots(database, commit, writeCommit);
  return writeCommit(database, commit) === null ? 'lost' : 'committed';
}

/** Returns the items that were added; null: the commit is lost. */
function writeCommit(
  database: Database,
  commit: InstanceCommit,
): readonly NewActivityRecord[] | null {
  const { failingErrorAt, failingSince } = storedFailingSince(commit);
  const changed = database.run(
    `UPDATE instances SET status = ?, endTime = ?, outcome = ?, lastChangeAt = ?, errorAt = ?, failingSince = ?,
            failingErrorAt = ?, failureKey = ?, failure = ?, wakeAt = ?, state = ?, schemaVersion = ?, underWay = ?, crashes = ?,
            inboxBytes = CASE WHEN ? THEN inboxBytes ELSE 0 END, revision = revision + 1
      WHERE id = ? AND epoch = ? AND inSeq = ? AND revision = ?`,
    commit.status,
    commit.endTime,
    commit.outcome,
    commit.lastChangeAt,
    commit.errorAt,
    failingSince,
    failingErrorAt,
    commit.failure?.key ?? null,
    encodeOptional(failureText(commit.failure)),
    commit.wakeAt,
    encodeText(commit.state),
    commit.schemaVersion,
    commit.underWay ? 1 : 0,
    commit.crashes ?? 0,
    commit.keepInbox === true ? 1 : 0,
    encodeText(commit.id),
    commit.epoch,
    commit.inSeq,
    commit.revision,
  );
  if (changed === 0) return null;
  if (commit.indexChange !== undefined) writeIndex(database, commit.id, commit.indexChange);
  if (commit.version !== undefined) writeVersion(database, commit, commit.version);
  if (commit.queued !== undefined) writeQueued(database, commit);
  if (commit.window !== undefined) writeWindow(database, commit.id, commit.window);
  for (const entry of commit.audit ?? []) noteAction(database, commit.id, entry);
  if (commit.keepInbox !== true) clearInbox(database, commit.id);
  const added = insertSideRecords(database, commit.side);
  insertDeliveries(database, [commit.deliveries ?? []]);
  removeSideRecords(database, commit);
  if (commit.status === 'Complete' || commit.status === 'Terminated') {
    settleAllOf(database, commit.id);
  }
  return added;
}

/** A statement of its own: few commits change index fields. */
function writeIndex(database: Database, id: string, change: IndexChange): void {
  const text = indexText(change.after);
  database.run(
    'UPDATE instances SET fields = ? WHERE id = ?',
    encodeOptional(text),
    encodeText(id),
  );
  changeFieldTerms(database, id, change);
}

/** A statement of its own: only a modification changes the version. */
function writeVersion(
  database: Database,
  { id, retentionMs = null }: InstanceCommit,
  version: number,
): void {
  const update = 'UPDATE instances SET version = ?, retentionMs = ? WHERE id = ?';
  database.run(update, version, retentionMs, encodeText(id));
}

/** A statement of its own: few instances wait for others. */
function writeQueued(database: Database, { id, queued, takesPlace }: InstanceCommit): void {
  database.run(
    "UPDATE instances SET queued = ?, place = CASE WHEN ? THEN 'held' ELSE place END WHERE id = ?",
    queued === true ? 1 : 0,
    takesPlace === true ? 1 : 0,
    encodeText(id),
  );
}

/** A statement of its own: few instances have a window. */
function writeWindow(
  database: Database,
  id: string,
  { countsFrom, input, isOpen }: WindowChange,
): void {
  database.run(
    'UPDATE instances SET countsFrom = ?, debounceKey = CASE WHEN ? THEN debounceKey END WHERE id = ?',
    countsFrom,
    isOpen ? 1 : 0,
    encodeText(id),
  );
  if (input !== undefined) replaceInput(database, id, input);
}

export function claimInstance(
  database: Database,
  [claim]: OperationArguments<'claimInstance'>,
): InstanceRecord | null {
  const changed = database.run(
    `UPDATE instances SET owner = ?, epoch = epoch + 1, crashes = crashes + ?,
            wakeAt = CASE WHEN ? THEN 0 ELSE wakeAt END
      WHERE id = ? AND epoch = ? AND schemaVersion <= ? AND (NOT ? OR (inboxBytes > 0 AND NOT underWay))`,
    encodeText(claim.owner),
    claim.suspected ? 1 : 0,
    claim.due === true ? 1 : 0,
    encodeText(claim.id),
    claim.epoch,
    claim.schemaVersionMax ?? Number.MAX_SAFE_INTEGER,
    claim.resting === true ? 1 : 0,
  );
  return changed === 0 ? null : readInstance(database, claim.id);
}

export function findDueInstances(
  database: Database,
  [dueBefore, limit, after]: OperationArguments<'findDueInstances'>,
): readonly DueInstance[] {
  const position = after === undefined ? [] : [after.wakeAt, encodeText(after.id)];
  return database
    .all(
      `SELECT ${CLAIM_COLUMNS} FROM instances
        WHERE wakeAt IS NOT NULL AND wakeAt <= ? ${after === undefined ? '' : 'AND (wakeAt, id) > (?, ?)'}
        ORDER BY wakeAt, id LIMIT ?`,
      dueBefore,
      ...position,
      limit,
    )
    .map((row) => ({ ...claimOf(row), wakeAt: row.number('wakeAt') }));
}

export function findInstancesUnderWay(
  database: Database,
  [owner, afterId, limit]: OperationArguments<'findInstancesUnderWay'>,
): readonly InstanceClaim[] {
  return database
    .all(
      `SELECT ${CLAIM_COLUMNS} FROM instances
        WHERE owner = ? AND underWay = 1 ${afterId === null ? '' : 'AND id > ?'} ORDER BY id LIMIT ?`,
      encodeText(owner),
      ...(afterId === null ? [] : [encodeText(afterId)]),
      limit,
    )
    .map(claimOf);
}

export function findChangedInstances(
  database: Database,
  [owner, after, limit]: OperationArguments<'findChangedInstances'>,
): readonly InstanceClaim[] {
  return database
    .all(
      `SELECT ${CLAIM_COLUMNS} FROM instances INDEXED BY instances_owned
        WHERE status = 'Runnable' AND owner = ? AND (lastChangeAt, id) > (?, ?) ORDER BY lastChangeAt, id LIMIT ?`,
      encodeText(owner),
      after.time,
      encodeText(after.id),
      limit,
    )
    .map(claimOf);
}
