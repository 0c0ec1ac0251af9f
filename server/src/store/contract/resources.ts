/** Resources: see ../records/resources.ts. Rules S1–S13: ../store.ts. */
import type { ResourceKind, ResourceRecord } from '../records/resources.js';

export interface ResourceStore {
  /**
   * Inserts the resource if `expected` is null and there is none of its kind and name, or replaces the one with the revision
   * `expected`. Otherwise returns false. Of any number of concurrent callers with the same expectation, one wins.
   */
  saveResource(resource: ResourceRecord, expected: number | null): Promise<boolean>;
  /** Returns false if there is none. */
  removeResource(kind: ResourceKind, name: string): Promise<boolean>;
  getResource(kind: ResourceKind, name: string): Promise<ResourceRecord | null>;
  /** In ascending order of their names, after `afterName`. */
  listResources(
    kind: ResourceKind,
    afterName: string | null,
    limit: number,
  ): Promise<readonly ResourceRecord[]>;
  /** Removes resources that expired before the given time, the oldest first. Returns their number. */
  purgeResources(expiredBefore: number, limit: number): Promise<number>;
}
