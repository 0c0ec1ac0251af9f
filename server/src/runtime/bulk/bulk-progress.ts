/**
 * The progress of a bulk job. Actions overlap, so they don't end in the order of the ids.
 *
 * The store gets the outcomes up to the first unfinished action: a node that continues from there repeats only actions whose
 * outcome may not have been stored.
 */
import type { BulkJobRecord, BulkProgress } from '../../store/records/bulk-jobs.js';
import { readFailures, writeFailures } from './bulk-codec.js';
import type { BulkFailure } from './bulk-types.js';

export type BulkOutcome = 'done' | 'skipped' | BulkFailure;

export const FAILURES_MAX = 100;

type Counts = Pick<BulkProgress, 'done' | 'skipped' | 'failed' | 'failures'>;

export class BulkProgressTracker {
  #done: number;
  #skipped: number;
  #failed: number;
  readonly #failures: BulkFailure[];
  /** The outcomes beyond the first unfinished action, by position. */
  readonly #ahead = new Map<number, BulkOutcome>();
  #hasNewFailures = false;

  constructor(job: Pick<BulkJobRecord, 'done' | 'skipped' | 'failed' | 'failures'>) {
    this.#done = job.done;
    this.#skipped = job.skipped;
    this.#failed = job.failed;
    this.#failures = [...readFailures(job.failures)];
  }

  /** The position of the first unfinished action. */
  get position(): number {
    return this.#done + this.#skipped + this.#failed;
  }

  ended(position: number, outcome: BulkOutcome): void {
    this.#ahead.set(position, outcome);
    for (;;) {
      const next = this.#ahead.get(this.position);
      if (next === undefined) return;
      this.#ahead.delete(this.position);
      this.#count(next);
    }
  }

  /** Counts everything that has ended. Call it when no node continues the job. */
  close(): void {
    const rest = [...this.#ahead.values()];
    this.#ahead.clear();
    for (const outcome of rest) this.#count(outcome);
  }

  /** For the store. */
  counts(): Counts {
    const counts = { done: this.#done, skipped: this.#skipped, failed: this.#failed };
    return this.#hasNewFailures ? { ...counts, failures: writeFailures(this.#failures) } : counts;
  }

  /** Called when these counts have been stored. */
  saved({ failed }: Pick<Counts, 'failed'>): void {
    if (failed === this.#failed) this.#hasNewFailures = false;
  }

  #count(outcome: BulkOutcome): void {
    if (outcome === 'done') this.#done += 1;
    else if (outcome === 'skipped') this.#skipped += 1;
    else {
      this.#failed += 1;
      if (this.#failures.length >= FAILURES_MAX) return;
      this.#failures.push(outcome);
      this.#hasNewFailures = true;
    }
  }
}
