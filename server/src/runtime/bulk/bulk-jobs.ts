/** Bulk jobs for clients: create, preview, read, list and stop. */
import { sleep, type Clock } from '../../base/clock.js';
import { AppError, type ErrorCode } from '../../base/errors.js';
import { hashOf, type Ids } from '../../base/ids.js';
import {
  definitionsWithin,
  allowsName,
  allowsAllNames,
  type AllowedNames,
} from '../../base/allowed-names.js';
import type { Logger } from '../../base/logger.js';
import {
  BULK_CHUNK,
  type BulkJobRecord,
  type BulkJobSummary,
} from '../../store/records/bulk-jobs.js';
import type { Store } from '../../store/store.js';
import type { ApiKeyState } from '../access/api-key-types.js';
import { listItem } from '../instance-state/instance-views.js';
import type { InstanceListItem } from '../model/instance-types.js';
import type { InstanceQueries } from '../operations/instance-queries.js';
import type { InstanceRepairs } from '../operations/repair/instance-repairs.js';
import {
  decodeCursor,
  encodeCursor,
  pageOf,
  type Page,
  type PageRequest,
} from '../model/paging.js';
import {
  bulkJobItem,
  readAbout,
  readIds,
  viewBulkJob,
  writeAbout,
  writeFailures,
  writeIds,
  writeTask,
} from './bulk-codec.js';
import { toInstanceFilter } from './bulk-collection.js';
import { bulkFailure } from './bulk-failure.js';
import { RUNNING_JOBS_MAX, type BulkRunner } from './bulk-runner.js';
import {
  PER_SECOND,
  type BulkCreated,
  type BulkFailure,
  type BulkFilter,
  type BulkJobKey,
  type BulkJobListItem,
  type BulkJobView,
  type BulkPreview,
  type BulkRequest,
} from './bulk-types.js';

/** How long a request waits for all ids to be stored. */
const COLLECT_WAIT_MS = 5000;
/** Limits of the count in a preview. */
const COUNT_LIMITS = { max: 1_000_000, ms: 3000 };
const PREVIEWED = 20;
/** Errors of a dry run that show an obstacle of the instance. */
const OBSTACLES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'modification_impossible',
  'invalid_data',
  'workflow_not_found',
]);
const LIST = 'bulk-jobs';

export interface BulkJobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly nodeId: string;
  readonly queries: Pick<InstanceQueries, 'count' | 'list'>;
  readonly runner: Pick<BulkRunner, 'insert' | 'runOf'>;
  readonly repairs: Pick<InstanceRepairs, 'modify'>;
  readonly keyStateOf: (apiKeyId: string) => Promise<ApiKeyState>;
}

export class BulkJobs {
  readonly #options: BulkJobsOptions;

  constructor(options: BulkJobsOptions) {
    this.#options = options;
  }

  /**
   * Stores and starts a job. Resolves when all ids have been stored, or after `COLLECT_WAIT_MS`; from then on, the job survives
   * this node.
   *
   * @throws AppError `invalid_request`, `too_many_bulk_jobs`, `idempotency_conflict`
   */
  async create(request: BulkRequest): Promise<BulkCreated> {
    const { logger, runner, store } = this.#options;
    const job = this.#newJob(request);
    const ids = idsOf(request);
    const known = job.requestHash === null ? null : await store.getBulkJob(job.id);
    if (known !== null) return this.#createdBefore(known, job);
    await this.#refuseTooMany();
    const chunks = chunksOf(ids ?? []);
    const inserted = await runner.insert(job, chunks);
    if (inserted.outcome === 'exists') return this.#createdBefore(inserted.record, job);
    const { action, actor, reason } = request;
    logger.info({ bulkJob: job.id, action, actor, reason }, 'created a bulk job');
    await this.#within(COLLECT_WAIT_MS, inserted.run.collected);
    return { id: job.id, ...inserted.run.matched };
  }

  /** Previews the instances that a job would act on, with obstacles. @throws AppError `invalid_request` */
  async preview(request: BulkRequest): Promise<BulkPreview> {
    const matches = await this.#matchesOf(request);
    return { ...matches, obstacles: await this.#obstaclesOf(request, matches.instances) };
  }

  /** Only modifications support a dry run. */
  async #obstaclesOf(
    { actor, modification, reason }: BulkRequest,
    instances: readonly InstanceListItem[],
  ): Promise<readonly BulkFailure[]> {
    if (modification === null) return [];
    const obstacles: BulkFailure[] = [];
    for (const { id } of instances) {
      try {
        await this.#options.repairs.modify(id, { ...modification, reason, dryRun: true }, actor);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // Other errors say nothing about the run: the job itself would retry.
        if (OBSTACLES.has(error.code)) obstacles.push(bulkFailure(id, error));
      }
    }
    return obstacles;
  }

  async #matchesOf(request: BulkRequest): Promise<Omit<BulkPreview, 'obstacles'>> {
    const { allowed, selection } = request;
    if (!('filter' in selection)) {
      const ids = [...new Set(selection.workflowIds)];
      return {
        matched: ids.length,
        exact: true,
        instances: await this.#existing(ids.slice(0, PREVIEWED), allowed),
      };
    }
    const filter = toInstanceFilter(filterOf(request) ?? {});
    const { items } = await this.#options.queries.list({
      ...filter,
      limit: PREVIEWED,
      cursor: null,
    });
    const { count, exact } = await this.#options.queries.count(filter, COUNT_LIMITS);
    return { matched: count, exact, instances: items };
  }

  /** @throws AppError `bulk_job_not_found`, even if the job may act on instances that the caller may not see */
  async get(id: string, allowed: AllowedNames): Promise<BulkJobView> {
    return this.#view(await this.#load(id, allowed));
  }

  /**
   * The current state of the job's instances, in processing order. Removed ones are omitted.
   * @throws AppError `bulk_job_not_found`, `invalid_request` for a cursor of another list
   */
  async listRuns(
    id: string,
    page: PageRequest,
    allowed: AllowedNames,
  ): Promise<Page<InstanceListItem>> {
    const { store } = this.#options;
    const job = await this.#load(id, allowed);
    const list = `bulk-runs ${id}`;
    const from = Number(decodeCursor(page.cursor, list)?.[0] ?? 0);
    const to = Math.min(from + page.limit, job.matched);
    const ids: string[] = [];
    while (from + ids.length < to) {
      const at = from + ids.length;
      const chunk = await store.readBulkIds(id, Math.floor(at / BULK_CHUNK));
      const read =
        chunk === null ? [] : readIds(chunk).slice(at % BULK_CHUNK, to - at + (at % BULK_CHUNK));
      if (read.length === 0) break;
      ids.push(...read);
    }
    const hasMore = ids.length > 0 && to < job.matched;
    return {
      items: await this.#existing(ids, allowed),
      nextCursor: hasMore ? encodeCursor(list, [String(to)]) : null,
    };
  }

  /**
   * Newest first, without jobs that may act on instances that the caller may not see.
   * @throws AppError `invalid_request` for a cursor of another list
   */
  async list(
    { cursor, limit }: PageRequest,
    allowed: AllowedNames,
  ): Promise<Page<BulkJobListItem>> {
    const position = decodeCursor(cursor, LIST);
    const after = position === null ? null : { time: Number(position[0]), id: position[1] ?? '' };
    const jobs = await this.#options.store.listBulkJobs(after, limit + 1);
    const items = await Promise.all(
      jobs.map(async (job) => bulkJobItem(job, await this.#keyOf(job))),
    );
    const page = pageOf(items, limit, LIST, ({ id, startTime }) => [String(startTime), id]);
    return { ...page, items: page.items.filter((job) => allowsAllNames(allowed, job.allowed)) };
  }

  /** Actions in progress still end. An ended job doesn't change. @throws AppError `bulk_job_not_found` */
  async stop(id: string, actor: string, allowed: AllowedNames): Promise<BulkJobView> {
    const { clock, logger, runner, store } = this.#options;
    if (allowed !== 'all') await this.#load(id, allowed);
    const job = await store.stopBulkJob(id, clock.now());
    if (job === null) throw notFound(id);
    if (job.state === 'Stopped') {
      logger.info({ bulkJob: id, actor }, 'a bulk job was stopped');
      runner.runOf(id)?.halt('stopped');
    }
    return this.#view(job);
  }

  async #view(job: BulkJobRecord): Promise<BulkJobView> {
    return viewBulkJob(job, await this.#keyOf(job));
  }

  async #keyOf({ about }: BulkJobSummary): Promise<BulkJobKey | null> {
    const { apiKeyId: id } = readAbout(about);
    return id === null ? null : { id, state: await this.#options.keyStateOf(id) };
  }

  #newJob(request: BulkRequest): BulkJobRecord {
    const { action, actor, apiKeyId, perSecond, allowed, reason } = request;
    const { compensate, idempotency, modification, priority } = request;
    const startTime = this.#options.clock.now();
    const ids = idsOf(request);
    return {
      id:
        idempotency === null
          ? this.#options.ids.newId(startTime)
          : `k-${hashOf('bulk', idempotency.key)}`,
      requestHash: idempotency?.requestHash ?? null,
      about: writeAbout({
        action,
        actor,
        apiKeyId,
        reason,
        perSecond: perSecond ?? PER_SECOND,
        reach: allowed,
      }),
      task: writeTask({ filter: filterOf(request), modification, compensate, priority }),
      state: 'Running',
      startTime,
      endTime: null,
      owner: this.#options.nodeId,
      epoch: 1,
      matched: ids?.length ?? 0,
      isCollected: ids !== null,
      collectedTo: null,
      done: 0,
      skipped: 0,
      failed: 0,
      failures: writeFailures([]),
    };
  }

  #createdBefore(record: BulkJobRecord, { requestHash }: BulkJobRecord): BulkCreated {
    if (record.requestHash !== requestHash) {
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was already used for another bulk job',
        { fields: { bulkJobId: record.id } },
      );
    }
    return { id: record.id, matched: record.matched, exact: record.isCollected };
  }

  async #refuseTooMany(): Promise<void> {
    const running = await this.#options.store.findRunningBulkJobs(RUNNING_JOBS_MAX);
    if (running.length < RUNNING_JOBS_MAX) return;
    throw new AppError(
      'too_many_bulk_jobs',
      `${RUNNING_JOBS_MAX} bulk jobs are running, which is the maximum: wait until one has ended, or stop one`,
    );
  }

  async #load(id: string, allowed: AllowedNames): Promise<BulkJobRecord> {
    const job = await this.#options.store.getBulkJob(id);
    if (job === null || !allowsAllNames(allowed, readAbout(job.about).reach)) throw notFound(id);
    return job;
  }

  /** The instances that exist and whose definition is allowed. */
  async #existing(
    ids: readonly string[],
    allowed: AllowedNames,
  ): Promise<readonly InstanceListItem[]> {
    const found = new Map<string, InstanceListItem>();
    for (const summary of await this.#options.store.getSummaries(ids)) {
      if (allowsName(allowed, summary.definitionId)) found.set(summary.id, listItem(summary));
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  #within(ms: number, promise: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const done = new AbortController();
    void promise.then(() => done.abort());
    return sleep(clock, ms, done.signal);
  }
}

/** Null: the request lists ids. */
function filterOf({ allowed, selection }: BulkRequest): BulkFilter | null {
  if (!('filter' in selection)) return null;
  return { ...selection.filter, ...definitionsWithin(allowed) };
}

/** Null: the job collects them. */
function idsOf({ selection }: BulkRequest): readonly string[] | null {
  return 'filter' in selection ? null : [...new Set(selection.workflowIds)];
}

function chunksOf(ids: readonly string[]) {
  const count = Math.ceil(ids.length / BULK_CHUNK);
  return Array.from({ length: count }, (_, position) => ({
    position,
    ids: writeIds(ids.slice(position * BULK_CHUNK, (position + 1) * BULK_CHUNK)),
  }));
}

function notFound(id: string): AppError {
  return new AppError('bulk_job_not_found', `There is no bulk job with the id '${id}'`, {
    fields: { bulkJobId: id },
  });
}
