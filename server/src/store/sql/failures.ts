/** Failed instances as rows. Each store counts them in a statement of its own, for which it has an index of its own. */
import type { FailedEntry } from '../failure-counts.js';
import { failureIn } from '../json-columns.js';
import type { FailureCount } from '../records/failures.js';
import type { InstanceFailure } from '../records/instances.js';
import { failingSinceOf, statusOf } from './instances.js';
import type { StoredRow } from './stored-row.js';

/** The columns of `failedEntryOf`, and those of conditions. */
export const FAILED_ENTRY_NAMES =
  'id, definitionId, status, errorAt, failingSince, failingErrorAt, failureKey, failure, tags, fields';

export function failedEntryOf(row: StoredRow): FailedEntry {
  return {
    definitionId: row.text('definitionId'),
    failure: failureOf(row),
    status: statusOf(row),
    id: row.text('id'),
    time: row.number('errorAt'),
    failingSince: failingSinceOf(row),
  };
}

export function failureCountOf(row: StoredRow): FailureCount {
  return {
    definitionId: row.text('definitionId'),
    failure: failureOf(row),
    status: statusOf(row),
    hoursAgo: row.number('hoursAgo'),
    count: row.number('count'),
    firstAt: row.number('firstAt'),
    lastAt: row.number('lastAt'),
    example: row.text('example'),
  };
}

function failureOf(row: StoredRow): InstanceFailure {
  const failure = failureIn(row.text('failureKey'), row.textOrNull('failure'));
  if (failure === null) throw new TypeError('A counted failure has no key');
  return failure;
}
