/**
 * One bulk job on the node that owns it: collects the ids, acts on each instance at the job's rate, and stores the progress.
 *
 *  BJ1 However often a node dies, the job acts once on each instance: the next node continues where the stored progress ends,
 *      at most `AHEAD_MAX` instances behind, and the actions on these have no second effect (bulk-actions.ts).
 *  BJ2 A node acts only while it knows that it owns the job: it has confirmed this in the store less than `CONFIRMED_MS` ago,
 *      which is shorter than a node's lease.
 *  BJ3 A job stopped on any node starts no further action after `CHECK_MS` plus one read.
 */
// It identifies a log line; runs don't depend on it.
// eslint-disable-next-line no-restricted-imports
import { randomUUID } from 'node:crypto';
import { backOffMs } from '../../base/back-off.js';
import { sleep, type Clock } from '../../base/clock.js';
import { AppError, type ErrorCode } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import {
  BULK_CHUNK,
  type BulkJobRecord,
  type BulkProgressResult,
} from '../../store/records/bulk-jobs.js';
import { StoreRefusedError, StoreUnavailableError, type Store } from '../../store/store.js';
import { STORE_BACK_OFF, StoreRetry } from '../instances/store-retry.js';
import type { BulkActions, BulkActor } from './bulk-actions.js';
import { readAbout, readIds, readTask } from './bulk-codec.js';
import { bulkFailure } from './bulk-failure.js';
import { collectIds } from './bulk-collection.js';
import { BulkProgressTracker, type BulkOutcome } from './bulk-progress.js';
import type { BulkAction } from './bulk-types.js';
import { Pacer } from './pacer.js';

/** Maximum number of instances that a job may be ahead of its stored progress. */
const AHEAD_MAX = 2000;
/** Actions of one job at the same time. */
const WIDTH_MIN = 4;
/**
 * How long an action may take before the job falls behind its rate, and the maximum number of concurrent actions. A
 * modification is applied by the node that runs the instance, which may look for messages only once per second; waiting for it
 * costs little.
 */
const WIDTHS = {
  modify: { seconds: 2, max: 1000 },
  others: { seconds: 0.1, max: 32 },
} as const;
/** How often the progress is stored, or, without progress, the job's state is read. */
const CHECK_MS = 500;
const CONFIRMED_MS = 3000;
/** Maximum time that an action yields to waiting instances of other callers. */
const GIVE_WAY_MS = 50;
const GIVE_WAY_TIMES_MAX = 10;
/** Maximum number of attempts of an action with temporary errors. */
const ATTEMPTS_MAX = 60;

/** How long a stopped job keeps trying to store its last outcomes. */
const LAST_SAVE_MS = 10_000;

/** The action may succeed later, or has been sent: a repetition has no second effect (BJ1). */
const TEMPORARY_CODES: ReadonlySet<ErrorCode> = new Set([
  'modification_pending',
  'overloaded',
  'python_unavailable',
  'store_unavailable',
  'stopping',
  'too_many_requests',
]);

export interface BulkJobRunOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly actions: Pick<BulkActions, 'act'>;
  /** Whether instances wait for a turn on this node. */
  readonly isBusy: () => boolean;
  readonly acted: (action: BulkAction, outcome: 'done' | 'skipped' | 'failed') => void;
}

/** Why a run ended: the job is done; a user stopped it; another node owns it; or this node released it. */
export type BulkRunEnd = 'done' | 'stopped' | 'lost' | 'released';

function widthOf(action: BulkAction, perSecond: number): number {
  const { seconds, max } = WIDTHS[action === 'modify' ? 'modify' : 'others'];
  return Math.max(WIDTH_MIN, Math.min(max, Math.ceil(perSecond * seconds)));
}

export class BulkJobRun {
  readonly #options: BulkJobRunOptions;
  readonly #job: BulkJobRecord;
  readonly #action: BulkAction;
  readonly #by: BulkActor;
  readonly #progress: BulkProgressTracker;
  readonly #pacer: Pacer;
  readonly #width: number;
  /** Before this position, the job may have acted already. */
  readonly #repeatsBefore: number;
  readonly #underWay = new Set<Promise<void>>();
  readonly #collected: Promise<void>;
  #setCollected: () => void = () => undefined;
  #oneEnded: () => void = () => undefined;
  #matched: number;
  #isCollected: boolean;
  #savedPosition: number;
  #confirmedAt: number;
  #end: BulkRunEnd | null = null;
  #checking: Promise<void> | null = null;
  #cancelCheck: () => void = () => undefined;

  /** @param job as inserted or claimed by this node */
  constructor(job: BulkJobRecord, options: BulkJobRunOptions) {
    const { action, actor, perSecond, reach, reason } = readAbout(job.about);
    this.#options = options;
    this.#job = job;
    this.#action = action;
    this.#by = { jobId: job.id, actor, reason, ...readTask(job.task), allowed: reach };
    this.#progress = new BulkProgressTracker(job);
    this.#pacer = new Pacer(options.clock, perSecond);
    this.#width = widthOf(action, perSecond);
    this.#matched = job.matched;
    this.#isCollected = job.isCollected;
    this.#savedPosition = this.#progress.position;
    this.#repeatsBefore = job.epoch === 1 ? 0 : this.#savedPosition + AHEAD_MAX;
    this.#confirmedAt = options.clock.now();
    this.#collected = new Promise((resolve) => {
      this.#setCollected = resolve;
    });
    if (this.#isCollected) this.#setCollected();
  }

  get id(): string {
    return this.#job.id;
  }

  /** How many ids have been stored so far. */
  get matched(): { readonly matched: number; readonly exact: boolean } {
    return { matched: this.#matched, exact: this.#isCollected };
  }

  /** Resolves when all ids have been stored, or the run has ended. */
  get collected(): Promise<void> {
    return this.#collected;
  }

  /** Doesn't reject because of store outages. */
  async run(): Promise<BulkRunEnd> {
    this.#scheduleCheck();
    try {
      if (await this.#collect()) await this.#actOnAll();
      await Promise.all(this.#underWay);
    } finally {
      this.#cancelCheck();
      this.#setCollected();
      await this.#checking;
    }
    return this.#finish();
  }

  /** Ends the run after the actions in progress. */
  halt(end: Exclude<BulkRunEnd, 'done'>): void {
    this.#end ??= end;
    this.#pacer.close();
  }

  async #collect(): Promise<boolean> {
    if (this.#isCollected) return true;
    const { filter } = readTask(this.#job.task);
    const isComplete = await collectIds(this.#job, {
      store: this.#options.store,
      filter: filter ?? {},
      retry: (ask) => this.#retry(ask),
      matched: (count) => {
        this.#matched = count;
      },
    });
    // Another node has the job, or a user stopped it: the check finds out.
    if (!isComplete) await this.#check();
    this.#isCollected = isComplete;
    this.#setCollected();
    return isComplete;
  }

  async #actOnAll(): Promise<void> {
    let ids: readonly string[] = [];
    let loaded = -1;
    for (let position = this.#progress.position; position < this.#matched; position += 1) {
      const index = Math.floor(position / BULK_CHUNK);
      if (index !== loaded) {
        const chunk = await this.#readChunk(index);
        if (chunk === null) return;
        ids = chunk;
        loaded = index;
      }
      await this.#mayAct(position);
      if (this.#end !== null) return;
      const id = ids[position % BULK_CHUNK];
      if (id === undefined) throw new Error(`The ids of bulk job ${this.id} end at ${position}`);
      const acting: Promise<void> = this.#actOn(position, id).finally(() => {
        this.#underWay.delete(acting);
        this.#oneEnded();
      });
      this.#underWay.add(acting);
    }
  }

  async #readChunk(index: number): Promise<readonly string[] | null> {
    const { store } = this.#options;
    // The call returns an object, so that null only means that the run has ended.
    const read = await this.#retry(async () => ({ text: await store.readBulkIds(this.id, index) }));
    if (read === null) return null;
    if (read.text === null) throw new Error(`The ids ${index} of bulk job ${this.id} are missing`);
    return readIds(read.text);
  }

  /** Waits until the next action may start, or the run has ended. */
  async #mayAct(position: number): Promise<void> {
    await this.#pacer.turn();
    await this.#giveWay();
    while (this.#end === null && this.#underWay.size >= this.#width) {
      await new Promise<void>((resolve) => {
        this.#oneEnded = resolve;
      });
    }
    const { clock } = this.#options;
    while (this.#end === null) {
      const isConfirmed = clock.now() - this.#confirmedAt < CONFIRMED_MS;
      if (isConfirmed && position < this.#savedPosition + AHEAD_MAX) return;
      await this.#check();
      if (position < this.#savedPosition + AHEAD_MAX) continue;
      await this.#pacer.pauseUntil(clock.now() + STORE_BACK_OFF.firstMs);
    }
  }

  async #giveWay(): Promise<void> {
    const { clock, isBusy } = this.#options;
    for (let times = 0; times < GIVE_WAY_TIMES_MAX && isBusy(); times += 1) {
      if (this.#end !== null) return;
      await this.#pacer.pauseUntil(clock.now() + GIVE_WAY_MS);
    }
  }

  async #actOn(position: number, id: string): Promise<void> {
    const { acted } = this.#options;
    const outcome = await this.#outcomeFor(id, position < this.#repeatsBefore);
    if (outcome === null) return;
    this.#progress.ended(position, outcome);
    acted(this.#action, typeof outcome === 'string' ? outcome : 'failed');
  }

  /** Null: the run has ended, and it is unknown whether the action happened. */
  async #outcomeFor(id: string, mayBeRepeated: boolean): Promise<BulkOutcome | null> {
    const { actions } = this.#options;
    let isRepeated = mayBeRepeated;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await actions.act(this.#action, id, this.#by, isRepeated);
      } catch (error) {
        const isTemporary =
          error instanceof StoreUnavailableError ||
          (error instanceof AppError && TEMPORARY_CODES.has(error.code) && attempt < ATTEMPTS_MAX);
        if (!isTemporary) return this.#failureOf(id, error);
        isRepeated = true;
      }
      if (this.#end === null) await this.#pauseAfter(attempt);
      if (this.#end !== null) return null;
    }
  }

  #failureOf(workflowId: string, error: unknown): BulkOutcome {
    if (error instanceof AppError) return bulkFailure(workflowId, error);
    const errorId = randomUUID();
    this.#options.logger.error(
      { err: error, errorId, workflowId, bulkJob: this.id },
      'Call failed',
    );
    const message = 'An unexpected error occurred; search the server log for this errorId';
    return { workflowId, code: 'internal', message, fields: { errorId }, problems: [] };
  }

  /** Calls the store until it responds. Null: the run has ended. */
  #retry<Value>(ask: () => Promise<Value>): Promise<Value | null> {
    return new StoreRetry(this.#options.clock).untilAnswered(ask, () => this.#end !== null);
  }

  #pauseAfter(failures: number): Promise<void> {
    return sleep(this.#options.clock, backOffMs(failures, STORE_BACK_OFF));
  }

  #scheduleCheck(): void {
    const { clock } = this.#options;
    this.#cancelCheck = clock.at(clock.now() + CHECK_MS, () => {
      void this.#check().then(() => {
        if (this.#end === null) this.#scheduleCheck();
      });
    });
  }

  /** Stores the progress, or reads the job if there is none. Concurrent callers share one check. */
  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    const { clock, logger, store } = this.#options;
    const askedAt = clock.now();
    try {
      const state = await (this.#progress.position > this.#savedPosition
        ? this.#save()
        : this.#read(store));
      if (state === 'Running') this.#confirmedAt = askedAt;
      else this.halt(state === 'lost' ? 'lost' : 'stopped');
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) {
        logger.error(
          { err: error, bulkJob: this.id },
          'could not store the progress of a bulk job',
        );
      }
      // Until a check succeeds, no further action starts (BJ2).
      await this.#pauseAfter(1);
    }
  }

  async #read(store: Store): Promise<BulkProgressResult> {
    const job = await store.getBulkJob(this.id);
    return job?.epoch === this.#job.epoch ? job.state : 'lost';
  }

  async #save(
    changes: { readonly endTime?: number; readonly released?: true } = {},
  ): Promise<BulkProgressResult> {
    const counts = this.#progress.counts();
    const { store } = this.#options;
    const ids = { jobId: this.id, epoch: this.#job.epoch };
    const state = await store
      .saveBulkProgress({ ...ids, ...counts, ...changes })
      .catch((error: unknown) => {
        if (!(error instanceof StoreRefusedError)) throw error;
        // The counts are always stored. If failure details can't be stored, the job continues without them.
        const { done, failed, skipped } = counts;
        return store.saveBulkProgress({ ...ids, done, failed, skipped, ...changes });
      });
    this.#progress.saved(counts);
    this.#savedPosition = counts.done + counts.skipped + counts.failed;
    return state;
  }

  /** Stores the remaining progress. If this node dies now, the next one does it. */
  async #finish(): Promise<BulkRunEnd> {
    const { clock } = this.#options;
    if (this.#end === 'lost') return 'lost';
    if (this.#end === 'released') {
      await this.#save({ released: true }).catch(() => undefined);
      return 'released';
    }
    this.#progress.close();
    const endTime = clock.now();
    const state = await this.#saveLast(this.#end === null ? { endTime } : {});
    if (state === null) return this.#end ?? 'released';
    if (state === 'Done') return 'done';
    return state === 'lost' ? 'lost' : 'stopped';
  }

  /** Also stores outcomes of actions that ended after the job was stopped. Null: the store did not respond in time. */
  async #saveLast(changes: { readonly endTime?: number }): Promise<BulkProgressResult | null> {
    const { clock } = this.#options;
    let deadline = Infinity;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#save(changes);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
      }
      if (this.#end === 'released') return null;
      if (this.#end !== null) deadline = Math.min(deadline, clock.now() + LAST_SAVE_MS);
      if (clock.now() >= deadline) return null;
      await this.#pauseAfter(failures);
    }
  }
}
