/** Tags, links and index fields that are written between two commits. */
import { TAGS_MAX } from '../../engine/model/tags.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { patchedTags } from '../records/control.js';
import { StoreUnavailableError } from '../store.js';
import { encodeText } from '../text-codec.js';
import { auditPush } from './audit-documents.js';
import { instanceOf } from './instance-documents.js';
import { getInstance, WITHOUT_KEPT } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { tagFieldsOf, valueFieldsOf } from './term-fields.js';

/** How often other writers may change the tags of an instance between our read and our update. */
const ATTEMPTS_MAX = 10;

export async function patchTags(
  context: MongoContext,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): Promise<OperationResult<'patchTags'>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const tags = patchedTags(record.tags, changes);
    if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record };
    const { set, unset } = tagFieldsOf(tags);
    const before = tagFieldsOf(record.tags).set.tags ?? { $exists: false };
    const changed = await context.instances.findOneAndUpdate(
      { _id: encodeText(id), tags: before },
      {
        ...(Object.keys(set).length > 0 && { $set: set }),
        ...(Object.keys(unset).length > 0 && { $unset: unset }),
        $push: auditPush(audit),
        $inc: { inSeq: 1 },
      },
      { returnDocument: 'after', projection: WITHOUT_KEPT },
    );
    if (changed !== null) return { outcome: 'done', record: instanceOf(changed) };
  }
  throw new StoreUnavailableError(`The tags of instance ${id} have too many concurrent writers`);
}

export async function linkRestart(
  { instances }: MongoContext,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): Promise<boolean> {
  const change = {
    $set: { restartedAs: encodeText(restartedAs) },
    $push: auditPush(audit),
    $inc: { inSeq: 1 },
  };
  const _id = encodeText(id);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const ended = { _id, endTime: { $ne: null } };
    const $unset = { failureKey: '', failure: '' } as const;
    if ((await instances.updateOne(ended, { ...change, $unset })).matchedCount > 0) return true;
    const open = { _id, endTime: null };
    if ((await instances.updateOne(open, change)).matchedCount > 0) return true;
    if ((await instances.findOne({ _id }, { projection: { _id: 1 } })) === null) return false;
  }
  throw new StoreUnavailableError(`The end of instance ${id} has too many concurrent writers`);
}

export async function replaceIndex(
  { instances }: MongoContext,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): Promise<boolean> {
  const { set, unset } = valueFieldsOf(change.after);
  const { matchedCount } = await instances.updateOne(
    { _id: encodeText(id), inSeq, revision },
    {
      ...(Object.keys(set).length > 0 && { $set: set }),
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
      $inc: { inSeq: 1 },
    },
  );
  return matchedCount > 0;
}
