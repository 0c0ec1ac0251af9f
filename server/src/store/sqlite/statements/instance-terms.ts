/** Tags, links and index fields that are written between two commits. */
import { TAGS_MAX } from '../../../engine/model/tags.js';
import { indexText, tagsText } from '../../json-columns.js';
import { tagTerms } from '../../index-terms.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { patchedTags } from '../../records/control.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { noteAction } from './audit.js';
import { readInstance } from './instance-rows.js';
import { changeFieldTerms, changeTerms } from './terms.js';

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
