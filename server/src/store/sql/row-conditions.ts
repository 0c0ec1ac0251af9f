/** Conditions on tags and index fields, checked on a row with the columns `tags` and `fields`. */
import { indexIn, tagsIn } from '../json-columns.js';
import { fulfills, type IndexCondition } from '../records/index-conditions.js';
import type { StoredRow } from './stored-row.js';

export function fulfillsAll(
  row: Pick<StoredRow, 'textOrNull'>,
  where: readonly IndexCondition[],
): boolean {
  if (where.length === 0) return true;
  const fields = {
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
  };
  return where.every((condition) => fulfills(fields, condition));
}
