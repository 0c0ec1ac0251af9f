/** Tags, links and index fields that are written between two commits. */
import { TAGS_MAX } from '../../engine/model/tags.js';
import { indexText, tagsText } from '../json-columns.js';
import { tagTerms, termChanges } from '../index-terms.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { patchedTags } from '../records/control.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { appendedAudit, auditBodyOf } from './audit.js';
import { encodeOptional, instanceOf, RECORD_NAMES } from './instance-rows.js';
import { getInstance } from './instances.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { indexChangeOf, termParts } from './terms.js';

/** How often other writers may change the tags of an instance between our read and our update. */
const ATTEMPTS_MAX = 10;

export async function patchTags(
  context: PostgresContext,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): Promise<OperationResult<'patchTags'>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const tags = patchedTags(record.tags, changes);
    if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record };
    const parameters = new Parameters();
    const terms = { id, ...termChanges(tagTerms(record.tags), tagTerms(tags)) };
    const [before, after] = [record.tags, tags].map((each) =>
      parameters.add(encodeOptional(tagsText(each))),
    );
    const added = `ARRAY[${parameters.add(auditBodyOf(audit))}]`;
    const changed = `changed AS (
  UPDATE @instances SET tags = ${after}::text, in_seq = in_seq + 1, audit = ${appendedAudit('audit', added)}
   WHERE id = ${parameters.add(encodeTextWithoutNul(id))} AND tags IS NOT DISTINCT FROM ${before}::text
  RETURNING *
)`;
    const text = withParts(
      [changed, ...termParts(parameters, 'changed', [terms])],
      `SELECT ${RECORD_NAMES} FROM changed`,
    );
    const [row] = await context.database.query(text, parameters.values);
    if (row !== undefined) return { outcome: 'done', record: instanceOf(row) };
  }
  throw new StoreUnavailableError(`The tags of instance ${id} have too many concurrent writers`);
}

export async function linkRestart(
  { database }: PostgresContext,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): Promise<boolean> {
  const text = `UPDATE @instances
    SET restarted_as = $2, in_seq = in_seq + 1, audit = ${appendedAudit('audit', 'ARRAY[$3]')},
        failure_key = CASE WHEN end_time IS NULL THEN failure_key END,
        failure = CASE WHEN end_time IS NULL THEN failure END
    WHERE id = $1`;
  const values = [encodeTextWithoutNul(id), encodeTextWithoutNul(restartedAs), auditBodyOf(audit)];
  return (await database.execute(text, values)) > 0;
}

export async function replaceIndex(
  { database }: PostgresContext,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): Promise<boolean> {
  const parameters = new Parameters();
  const changed = `changed AS (
  UPDATE @instances SET fields = ${parameters.add(encodeOptional(indexText(change.after)))}::text, in_seq = in_seq + 1
   WHERE id = ${parameters.add(encodeTextWithoutNul(id))} AND in_seq = ${parameters.add(inSeq)}::bigint
     AND revision = ${parameters.add(revision)}::bigint
  RETURNING id, start_time
)`;
  const text = withParts(
    [changed, ...termParts(parameters, 'changed', [indexChangeOf(id, change)])],
    'SELECT id FROM changed',
  );
  return (await database.query(text, parameters.values)).length > 0;
}
