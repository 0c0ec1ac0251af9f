/** Reads by which something is decided. */
import type { Collections } from './collections.js';

/** Nothing is decided by what a failover could undo. */
export const DECIDING = { readConcern: 'majority', readPreference: 'primary' } as const;

/** The instances of these that are Runnable. */
export async function runnableOf(
  { instances }: Pick<Collections, 'instances'>,
  of: readonly { readonly instanceId: string }[],
): Promise<ReadonlySet<string>> {
  if (of.length === 0) return new Set();
  const ids = [...new Set(of.map(({ instanceId }) => instanceId))];
  const found = await instances
    .find({ _id: { $in: ids }, status: 'Runnable' }, { ...DECIDING, projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}
