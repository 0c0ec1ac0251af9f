/** Converts text search results between host and wire. */
import type { FindRequest, InstanceFindings } from '../../../runtime/operations/find-instances.js';
import type * as wire from '../models/find.js';
import type { IndexValue } from '../models/workflow.js';
import { toWireTimeOrNull } from './time.js';
import { toWorkflowSummary } from './workflow.js';

const LIMIT_DEFAULT = 20;

export function toFindRequest({
  cursor,
  limit = LIMIT_DEFAULT,
  text,
}: wire.FindQuery): FindRequest {
  return { text, limit, cursor: cursor ?? null };
}

export function toFindings(findings: InstanceFindings): wire.WorkflowFindings {
  const { definitionId, exact, items, nextCursor, partsFrom } = findings;
  return {
    items: items.map(({ instance, matches }) => ({
      workflow: toWorkflowSummary(instance),
      // A `bigint` is written as a number.
      matches: matches.map((match) => ({ ...match, value: match.value as IndexValue })),
    })),
    exact,
    partsFrom: toWireTimeOrNull(partsFrom),
    nextCursor,
    definitionId,
  };
}
