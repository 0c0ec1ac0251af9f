/** Tags, links and index fields that are written between two commits. */
import { TAGS_MAX } from '../../engine/model/tags.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { patchedTags } from '../records/control.js';
import { noteAction } from './audit.js';
import type { MemoryData } from './memory-data.js';

export function patchTags(
  data: MemoryData,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): OperationResult<'patchTags'> {
  const current = data.instances.get(id);
  if (current === undefined) return { outcome: 'missing' };
  const tags = patchedTags(current.tags, changes);
  if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record: current };
  const record = { ...current, tags, inSeq: current.inSeq + 1 };
  data.instances.set(id, record);
  noteAction(data, id, audit);
  return { outcome: 'done', record };
}

export function linkRestart(
  data: MemoryData,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): boolean {
  const current = data.instances.get(id);
  if (current === undefined) return false;
  const failure = current.endTime === null ? current.failure : null;
  data.instances.set(id, { ...current, restartedAs, failure, inSeq: current.inSeq + 1 });
  noteAction(data, id, audit);
  return true;
}

export function replaceIndex(
  data: MemoryData,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): boolean {
  const current = data.instances.get(id);
  if (current?.inSeq !== inSeq || current.revision !== revision) return false;
  data.instances.set(id, { ...current, index: change.after, inSeq: inSeq + 1 });
  return true;
}
