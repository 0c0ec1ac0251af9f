/** Nodes, retention and figures. Rules S1–S13: ../store.ts. */
import type { NodeRecord } from '../records/nodes.js';
import type * as housekeeping from '../records/housekeeping.js';

export interface HousekeepingStore {
  putNode(node: NodeRecord): Promise<void>;
  listNodes(): Promise<readonly NodeRecord[]>;
  removeNode(id: string): Promise<void>;

  /** Up to `limit` expired instances with `retentionMs`, and as many without, each oldest first. */
  findExpiredInstances(
    limits: housekeeping.ExpiryLimits,
    limit: number,
  ): Promise<readonly housekeeping.EndedInstance[]>;
  /**
   * Removes these instances with everything that belongs to them, except those that have changed or are open. If this takes
   * several steps, the first one makes every commit lose that was prepared before; see `isBeingRemoved`.
   */
  removeInstances(instances: readonly housekeeping.EndedInstance[]): Promise<housekeeping.Removal>;
  purge(request: housekeeping.PurgeRequest): Promise<housekeeping.PurgeResult>;
  /** Figures for /metrics. */
  statistics(): Promise<housekeeping.StoreStatistics>;
}
