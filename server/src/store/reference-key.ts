/** Inserts of a node that have a conflict rule and the same definition and reference run one after the other. */
import type { InstanceRecord } from './records/instances.js';

/** Distinguishes `ab` and `c` from `a` and `bc`. */
export function referenceKeyOf({
  definitionId,
  reference,
}: Pick<InstanceRecord, 'definitionId' | 'reference'>): string {
  return `${definitionId.length}:${definitionId}:${reference ?? ''}`;
}
