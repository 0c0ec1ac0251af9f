/** Changes to an instance from outside its owner: control actions, tags, links, index fields, and the audit log. */
import { TAGS_MAX } from '../../../engine/values/tags.js';
import { tagTerms } from '../../index-terms.js';
import { indexText, tagsText } from '../../json-columns.js';
import {
  NEXT_STATUS,
  patchedTags,
  AUDIT_ENTRIES_MAX,
  type AuditEntry,
} from '../../records/control.js';
import { isLive } from '../../records/instances.js';
import { messageBytes } from '../../records/messages.js';
import { enterLines } from '../../sql/line-entries.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { encodeText, encodeOptional } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { makeDeferredAvailable, settleAllOf } from './activity-rows.js';
import { readInstance } from './instance-rows.js';
import { appendToInbox } from './inbox-rows.js';
import { noteAction } from './side-records.js';
import { changeFieldTerms, changeTerms } from './terms.js';

export function controlInstance(
  database: Database,
  [id, action, at, audit, message]: OperationArguments<'controlInstance'>,
): OperationResult<'controlInstance'> {
  const current = readInstance(database, id);
  if (current === null) return { outcome: 'missing' };
  const { from, to } = NEXT_STATUS[action];
  const isTold = current.inbox.some((known) => known.id === message?.id);
  if (isTold || !from.includes(current.status)) return { outcome: 'refused', record: current };
  const isEnd = action === 'terminate';
  const endTime = isEnd ? at : current.endTime;
  const outcome = isEnd ? 'Terminated' : current.outcome;
  const inSeq = current.inSeq + 1;
  database.run(
    `UPDATE instances SET status = ?, endTime = ?, outcome = ?, lastChangeAt = ?, inSeq = ?, wakeAt = 0,
            inboxBytes = inboxBytes + ?${isEnd ? ', failureKey = NULL, failure = NULL' : ''}
      WHERE id = ?`,
    to,
    endTime,
    outcome,
    at,
    inSeq,
    message === undefined ? 0 : messageBytes(message),
    encodeText(id),
  );
  if (message !== undefined) appendToInbox(database, id, message, inSeq);
  noteAction(database, id, audit);
  if (to === 'Runnable') makeDeferredAvailable(database, id);
  if (isEnd) settleAllOf(database, id);
  const inbox = message === undefined ? current.inbox : [...current.inbox, message];
  const failure = isEnd ? null : current.failure;
  const changes = {
    status: to,
    failure,
    endTime,
    outcome,
    lastChangeAt: at,
    inSeq,
    inbox,
    wakeAt: 0,
  };
  return { outcome: 'done', record: { ...current, ...changes } };
}

export function patchTags(
  database: Database,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): OperationResult<'patchTags'> {
  const current = readInstance(database, id);
  if (current === null) return { outcome: 'missing' };
  const tags = patchedTags(current.tags, changes);
  if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record: current };
  const inSeq = current.inSeq + 1;
  const text = tagsText(tags);
  database.run(
    'UPDATE instances SET tags = ?, inSeq = ? WHERE id = ?',
    encodeOptional(text),
    inSeq,
    encodeText(id),
  );
  changeTerms(database, current, tagTerms(current.tags), tagTerms(tags));
  noteAction(database, id, audit);
  return { outcome: 'done', record: { ...current, tags, inSeq } };
}

export function setPriority(
  database: Database,
  [id, priority, audit]: OperationArguments<'setPriority'>,
): OperationResult<'setPriority'> {
  const current = readInstance(database, id);
  if (current === null) return { outcome: 'missing' };
  if (!isLive(current.status)) return { outcome: 'refused', record: current };
  const inSeq = current.inSeq + 1;
  const key = encodeText(id);
  database.run('UPDATE instances SET priority = ?, inSeq = ? WHERE id = ?', priority, inSeq, key);
  database.run(
    'UPDATE activities SET priority = ? WHERE instanceId = ? AND done = 0',
    priority,
    key,
  );
  database.run('UPDATE slot_waits SET priority = ? WHERE instanceId = ?', priority, key);
  runSteps(database, enterLines(current, priority));
  noteAction(database, id, audit);
  return { outcome: 'done', record: { ...current, priority, inSeq } };
}

export function linkRestart(
  database: Database,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): boolean {
  const changed = database.run(
    `UPDATE instances SET restartedAs = ?, inSeq = inSeq + 1,
            failureKey = CASE WHEN endTime IS NULL THEN failureKey END,
            failure = CASE WHEN endTime IS NULL THEN failure END
      WHERE id = ?`,
    encodeText(restartedAs),
    encodeText(id),
  );
  if (changed === 0) return false;
  noteAction(database, id, audit);
  return true;
}

export function replaceIndex(
  database: Database,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): boolean {
  const text = indexText(change.after);
  const changed = database.run(
    'UPDATE instances SET fields = ?, inSeq = inSeq + 1 WHERE id = ? AND inSeq = ? AND revision = ?',
    encodeOptional(text),
    encodeText(id),
    inSeq,
    revision,
  );
  if (changed === 0) return false;
  changeFieldTerms(database, id, change);
  return true;
}

export function appendAudit(
  database: Database,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): boolean {
  if (!hasInstance(database, instanceId)) return false;
  noteAction(database, instanceId, entry);
  return true;
}

export function listAudit(
  database: Database,
  [instanceId]: OperationArguments<'listAudit'>,
): readonly AuditEntry[] | null {
  if (!hasInstance(database, instanceId)) return null;
  return database
    .all(
      'SELECT body FROM actions WHERE instanceId = ? ORDER BY sequence DESC LIMIT ?',
      encodeText(instanceId),
      AUDIT_ENTRIES_MAX,
    )
    .map((row) => JSON.parse(row.text('body')) as AuditEntry); // Written by `noteAction`.
}

function hasInstance(database: Database, id: string): boolean {
  return database.get('SELECT 1 AS found FROM instances WHERE id = ?', encodeText(id)) !== null;
}
