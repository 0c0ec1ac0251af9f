/**
 * The bulk jobs that this node works on. A node that inserts a job owns it; when it is gone, another node claims the job, under
 * the same conditions as for the takeover of instances.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { runForServer } from '../../base/limits/current-caller.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';
import type { OperationArguments } from '../../store/store-operations.js';
import type {
  BulkJobRecord,
  BulkJobSummary,
  InsertBulkJobResult,
} from '../../store/records/bulk-jobs.js';
import type { Store } from '../../store/store.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { BulkActions } from './bulk-actions.js';
import { readAbout } from './bulk-codec.js';
import { BulkJobRun, type BulkRunEnd } from './bulk-job-run.js';

/** Maximum number of running jobs of a fleet. */
export const RUNNING_JOBS_MAX = 20;
/** How long a job is kept after its end. */
export const JOB_RETENTION_MS = 7 * 24 * 60 * 60_000;

/** Finds jobs that a stopping node released. When a node dies, the others look immediately. */
const LOOK_INTERVAL_MS = 15_000;
const PURGE_INTERVAL_MS = 10 * 60_000;
const PURGED_AT_ONCE = 100;
/** More than may run: jobs created at the same moment can exceed the maximum. */
const FOUND_MAX = 5 * RUNNING_JOBS_MAX;

export interface BulkRunnerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'bulkActed'>;
  readonly nodes: Pick<NodeRegistry, 'id' | 'isGone'>;
  readonly actions: Pick<BulkActions, 'act'>;
  readonly isBusy: () => boolean;
}

export type InsertedBulkJob =
  | { readonly outcome: 'inserted'; readonly run: BulkJobRun }
  | Extract<InsertBulkJobResult, { readonly outcome: 'exists' }>;

const ENDS: Readonly<Record<BulkRunEnd, string>> = {
  done: 'bulk job done',
  stopped: 'bulk job stopped',
  lost: 'another node continues a bulk job',
  released: 'left a bulk job to another node',
};

export class BulkRunner implements Service {
  readonly #options: BulkRunnerOptions;
  readonly #look: PeriodicTask;
  readonly #purge: PeriodicTask;
  readonly #runs = new Map<string, { readonly run: BulkJobRun; readonly ended: Promise<void> }>();
  /** Jobs being inserted: possibly stored, and owned by this node, but not yet in `#runs`. */
  readonly #inserting = new Set<BulkJobRecord>();
  #isStopping = false;

  constructor(options: BulkRunnerOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#look = new PeriodicTask({
      name: 'look for bulk jobs without a node',
      clock,
      logger,
      intervalMs: LOOK_INTERVAL_MS,
      run: () => this.#lookOnce(),
    });
    this.#purge = new PeriodicTask({
      name: 'remove ended bulk jobs',
      clock,
      logger,
      intervalMs: PURGE_INTERVAL_MS,
      run: () => this.purge(),
    });
  }

  /** Jobs that this node works on. */
  get running(): number {
    return this.#runs.size;
  }

  start(): Promise<void> {
    this.#look.startInBackground();
    this.#purge.startInBackground();
    return Promise.resolve();
  }

  /** Releases the jobs after the actions in progress. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#look.stop();
    await this.#purge.stop();
    const runs = [...this.#runs.values()];
    for (const { run } of runs) run.halt('released');
    await Promise.all(runs.map(({ ended }) => ended));
  }

  /** Stores a new job of this node, and works on it. */
  async insert(...[job, chunks]: OperationArguments<'insertBulkJob'>): Promise<InsertedBulkJob> {
    this.#inserting.add(job);
    try {
      const result = await this.#options.store.insertBulkJob(job, chunks);
      return result.outcome === 'exists' ? result : { outcome: 'inserted', run: this.#adopt(job) };
    } finally {
      this.#inserting.delete(job);
    }
  }

  /** Works on a job that this node owns, with one run only. */
  #adopt(job: BulkJobRecord): BulkJobRun {
    const registered = this.runOf(job.id);
    if (registered !== null) return registered;
    const { logger, metrics } = this.#options;
    const run = new BulkJobRun(job, {
      ...this.#options,
      acted: (action, outcome) => metrics.bulkActed(action, outcome),
    });
    // The run outlives the request that started it.
    const ended = runForServer(() => run.run())
      .then((end) => logger.info({ bulkJob: job.id }, ENDS[end]))
      .catch((error: unknown) => logger.error({ err: error, bulkJob: job.id }, 'a bulk job failed'))
      .finally(() => {
        if (this.runOf(job.id) === run) this.#runs.delete(job.id);
      });
    this.#runs.set(job.id, { run, ended });
    if (this.#isStopping) run.halt('released');
    return run;
  }

  /** The run of a job on this node. */
  runOf(jobId: string): BulkJobRun | null {
    return this.#runs.get(jobId)?.run ?? null;
  }

  /** Called when a node is gone: continues its jobs immediately. */
  async takeOver(): Promise<void> {
    await this.#look.runOnce();
  }

  async purge(): Promise<void> {
    const { clock, store } = this.#options;
    const endedBefore = clock.now() - JOB_RETENTION_MS;
    while (!this.#isStopping) {
      if ((await store.purgeBulkJobs(endedBefore, PURGED_AT_ONCE)) < PURGED_AT_ONCE) return;
    }
  }

  async #lookOnce(): Promise<void> {
    for (const job of await this.#options.store.findRunningBulkJobs(FOUND_MAX)) {
      if (this.#isStopping) return;
      if (!this.#isHere(job.id) && (await this.#hasNoNode(job))) await this.#claim(job);
    }
  }

  #isHere(jobId: string): boolean {
    return this.#runs.has(jobId) || [...this.#inserting].some(({ id }) => id === jobId);
  }

  /** If this node itself is the owner, it has failed to work on the job. */
  async #hasNoNode({ owner }: BulkJobSummary): Promise<boolean> {
    const { nodes } = this.#options;
    return owner === null || owner === nodes.id || nodes.isGone(owner);
  }

  async #claim({ epoch, id, owner }: BulkJobSummary): Promise<void> {
    const { logger, nodes, store } = this.#options;
    const job = await store.claimBulkJob(id, epoch, nodes.id);
    if (job === null || this.#isHere(id)) return;
    const { action, actor } = readAbout(job.about);
    const done = job.done + job.skipped + job.failed;
    const { matched } = job;
    logger.info({ bulkJob: id, action, actor, matched, done, owner }, 'continuing a bulk job');
    this.#adopt(job);
  }
}
