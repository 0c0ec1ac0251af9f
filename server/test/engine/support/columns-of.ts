/** What a store keeps beside the state of an instance. */
import type { Instance } from '../../../src/engine/model/instance.js';
import type { InstanceColumns } from '../../../src/engine/model/snapshot.js';

export function columnsOf(instance: Instance): InstanceColumns {
  const { id, definitionId, version, reference, status, startTime, endTime, outcome } = instance;
  const { index, tags } = instance;
  return { id, definitionId, version, reference, tags, index, status, startTime, endTime, outcome };
}
