/** Bulk jobs. Rules S1–S13: ../store.ts. */
import type {
  BulkCollection,
  BulkIdsRecord,
  BulkJobRecord,
  BulkJobSummary,
  BulkProgress,
  BulkProgressResult,
  InsertBulkJobResult,
} from '../records/bulk-jobs.js';
import type { InstancePosition } from '../records/instance-lists.js';

export interface BulkJobStore {
  /** Inserts the job together with its first ids. Does nothing if the id exists. */
  insertBulkJob(
    job: BulkJobRecord,
    chunks: readonly Pick<BulkIdsRecord, 'position' | 'ids'>[],
  ): Promise<InsertBulkJobResult>;
  getBulkJob(id: string): Promise<BulkJobRecord | null>;
  /** The newest start first, then in descending order of their ids. */
  listBulkJobs(after: InstancePosition | null, limit: number): Promise<readonly BulkJobSummary[]>;
  /** Jobs in the state Running, the oldest first. */
  findRunningBulkJobs(limit: number): Promise<readonly BulkJobSummary[]>;
  /**
   * Takes over a running job: compare-and-set on `{id, epoch}`. Sets the owner and increments the epoch. Returns null if
   * another node was faster, or the job has ended.
   */
  claimBulkJob(id: string, epoch: number, owner: string): Promise<BulkJobRecord | null>;
  /** Stores further ids: compare-and-set on `{id, epoch}` of a running job. */
  collectBulkIds(collection: BulkCollection): Promise<boolean>;
  /** The ids of one chunk, as text; null if there is no such chunk. */
  readBulkIds(jobId: string, position: number): Promise<string | null>;
  /** Compare-and-set on `{id, epoch}`. */
  saveBulkProgress(progress: BulkProgress): Promise<BulkProgressResult>;
  /** Stops the job if it is running. Returns the job as it is then; null if there is no such job. */
  stopBulkJob(id: string, at: number): Promise<BulkJobRecord | null>;
  /** Removes jobs that ended before the given time, with their ids, the oldest first. Returns their number. */
  purgeBulkJobs(endedBefore: number, limit: number): Promise<number>;
}
