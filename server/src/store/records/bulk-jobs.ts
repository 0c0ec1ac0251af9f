/**
 * Bulk jobs: one action on many instances, and the ids of these instances.
 *
 * The ids are stored in chunks of `BULK_CHUNK` ids, so that each write is small. First they are collected; then a node takes
 * action on them in their order. `done + skipped + failed` is the position of the first id on which no action is known to
 * have ended.
 */

export type BulkJobState = 'Running' | 'Done' | 'Stopped';

/** Number of ids in each chunk except the last one. */
export const BULK_CHUNK = 1000;

/** What lists show. */
export interface BulkJobSummary {
  readonly id: string;
  /** The hash of the request, if the caller gave an Idempotency-Key. */
  readonly requestHash: string | null;
  /** The action, the actor and the reason, as text. It never changes. */
  readonly about: string;
  readonly state: BulkJobState;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The node that works on the job. Null: none. */
  readonly owner: string | null;
  /** The fence: every claim increments it, and every write of the owner is conditional on it. */
  readonly epoch: number;
  /** Number of ids that have been stored. */
  readonly matched: number;
  /** Whether all ids have been stored. */
  readonly isCollected: boolean;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

export interface BulkJobRecord extends BulkJobSummary {
  /** The filter and everything else that the action needs, as text. It never changes. */
  readonly task: string;
  /** Where the collection of ids continues, as text. Null: at the beginning. */
  readonly collectedTo: string | null;
  /** The first failures, as text. */
  readonly failures: string;
}

/** A chunk of the ids of a job: those from `position * BULK_CHUNK`. */
export interface BulkIdsRecord {
  readonly jobId: string;
  readonly position: number;
  /** The ids, as text. */
  readonly ids: string;
}

export type InsertBulkJobResult =
  | { readonly outcome: 'inserted' }
  /** There is a job with this id; nothing was inserted. */
  | { readonly outcome: 'exists'; readonly record: BulkJobRecord };

/** The next ids of a job. Accepted only from the owner with this epoch, and only while the job is running. */
export interface BulkCollection {
  readonly jobId: string;
  readonly epoch: number;
  /** Null: no more were found. */
  readonly chunk: Pick<BulkIdsRecord, 'position' | 'ids'> | null;
  /** The number of all ids, with these. */
  readonly matched: number;
  readonly collectedTo: string | null;
  readonly isCollected: boolean;
}

/** What the owner with this epoch has done so far. Also accepted after the job was stopped. */
export interface BulkProgress {
  readonly jobId: string;
  readonly epoch: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  /** Omitted: as before. */
  readonly failures?: string;
  /** Everything is done: a running job becomes Done at this time. */
  readonly endTime?: number;
  /** The owner gives the job up, so that another node can continue. */
  readonly released?: true;
}

/** The state after the write; `lost`: another node has claimed the job, or it is gone. */
export type BulkProgressResult = BulkJobState | 'lost';
