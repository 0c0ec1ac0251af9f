/**
 * Checks whether this node has memory for a start, so that it begins immediately. If not, a client's start is rejected, and a
 * step's start waits in the store.
 */
import { rootOf } from '../../engine/model/child-id.js';
import { jsonLength } from '../../engine/values/json-length.js';
import { AppError } from '../../base/errors.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceMemory } from '../memory/instance-memory.js';
import type { NewInstance } from '../instance-state/new-instance.js';

/** Memory of a start until its first commit, in bytes per character of its data. */
const START_COST = 4;

/** @throws AppError `overloaded` if the client must try again later */
export function admitStart(
  start: NewInstance,
  memory: Pick<InstanceMemory, 'tryEnter'>,
  metrics: Pick<RuntimeMetrics, 'memoryRefused'>,
): boolean {
  const bytes = jsonLength(start.data) * START_COST;
  const rootId = start.parent === null ? null : rootOf(start);
  if (memory.tryEnter({ id: start.id, rootId, bytes })) return true;
  if (start.parent !== null) return false;
  metrics.memoryRefused('start');
  const message = 'The runs in memory use all the memory that this server may use for them';
  throw new AppError('overloaded', message, { retryAfterSeconds: 1 });
}
