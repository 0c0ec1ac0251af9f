/** Bulk jobs: one action on many runs, on the server. */
import type {
  BulkJob,
  BulkJobSummary,
  BulkPreview,
  BulkRequestBody,
  CreatedBulkJob,
  WorkflowSummary,
} from '../api-types.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import { pause } from '../pause.js';
import type { Transport } from '../transport.js';
import { asQuery } from './workflow-calls.js';
import type { CountFilter } from './workflow-options.js';

/**
 * The action, the runs and the reason. List the runs in `workflowIds` (up to 10,000), or select them with `filter`, which takes
 * the filters of `workflows.list`; `{}` selects all runs.
 */
export type BulkRequest = Pick<BulkRequestBody, 'action' | 'reason' | 'modification'> & {
  /** The number of runs to act on per second. @default 50 */
  readonly perSecond?: number;
  /** With `terminate`: whether to compensate the completed steps of each run first. @default false */
  readonly compensate?: boolean;
} & (
    | { readonly filter: CountFilter; readonly workflowIds?: undefined }
    | { readonly workflowIds: readonly string[]; readonly filter?: undefined }
  );

/** How to follow a bulk job. */
export interface FollowOptions extends CallOptions {
  /** How long to wait between two requests, in milliseconds. @default 1000 */
  readonly everyMs?: number;
}

/** Creates, follows and stops bulk jobs: `client.bulk`. */
export class BulkResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a job that takes one action on many runs. It runs on the server, at no more than `perSecond` runs per second, and
   * acts once on each run that matched when it began, even if nodes crash. Each call has an idempotency key, so a retried request
   * creates only one job.
   *
   * @throws ApiError `too_many_bulk_jobs` while 20 jobs are running
   *
   * @example
   * ```ts
   * const { id } = await client.bulk.create({
   *   action: 'resume',
   *   filter: { status: 'Suspended', where: 'tag.team=billing' },
   *   reason: 'the carrier is back',
   * });
   * for await (const { state, done, matched } of client.bulk.follow(id)) console.log(state, done, matched);
   * ```
   */
  create(request: BulkRequest, options: IdempotentCallOptions = {}): Promise<CreatedBulkJob> {
    // Without `dryRun`, the response is the new job.
    return this.#post(request, false, options) as Promise<CreatedBulkJob>;
  }

  /**
   * Returns the number of runs that a job would act on, and the first 20 of them. Nothing changes.
   *
   * @example
   * ```ts
   * const { matched, workflows } = await client.bulk.preview({
   *   action: 'terminate',
   *   filter: { definitionId: 'greeting', status: 'Suspended' },
   *   reason: 'no longer needed',
   * });
   * console.log(matched, workflows[0]?.workflowId);
   * ```
   */
  preview(request: BulkRequest, options: CallOptions = {}): Promise<BulkPreview> {
    // With `dryRun`, it is the preview.
    return this.#post(request, true, options) as Promise<BulkPreview>;
  }

  /**
   * Returns a job with its progress and its first 100 failures.
   *
   * @throws ApiError `bulk_job_not_found`
   */
  get(jobId: string, options: CallOptions = {}): Promise<BulkJob> {
    return this.#transport.call(
      'get',
      '/api/bulk/{id}',
      { path: { id: jobId }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /**
   * Lists the runs of a job in their current state, in the order in which the job processes them.
   *
   * @example
   * ```ts
   * const filter = { definitionId: 'greeting', status: 'Suspended' as const };
   * const { id } = await client.bulk.create({ action: 'retry', filter, reason: 'the mail server is back' });
   * for await (const { workflowId, status, failure } of client.bulk.runs(id)) {
   *   console.log(workflowId, status, failure?.message);
   * }
   * ```
   *
   * @throws ApiError `bulk_job_not_found`
   */
  runs(
    jobId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): PagedList<WorkflowSummary> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/bulk/{id}/runs',
        { path: { id: jobId }, query: { limit, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Lists jobs without their failures, the newest first. A job is removed a week after it has ended.
   *
   * @example
   * ```ts
   * for await (const { id, action, actor, state } of client.bulk.list()) console.log(id, action, actor, state);
   * ```
   */
  list({
    limit,
    ...options
  }: CallOptions & { readonly limit?: number } = {}): PagedList<BulkJobSummary> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/bulk',
        { query: { limit, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Stops a job, so it acts on no more runs. If the job has already ended, nothing changes.
   *
   * @throws ApiError `bulk_job_not_found`
   */
  stop(jobId: string, options: CallOptions = {}): Promise<BulkJob> {
    return this.#transport.call(
      'delete',
      '/api/bulk/{id}',
      { path: { id: jobId }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /**
   * Iterates over the progress of a job: its current state, then each change, until it is `Done` or `Stopped`.
   *
   * @throws ApiError `bulk_job_not_found`
   *
   * @example
   * ```ts
   * const filter = { definitionId: 'greeting', status: 'Suspended' } as const;
   * const { id } = await client.bulk.create({ action: 'resume', filter, reason: 'fixed' });
   * for await (const job of client.bulk.follow(id, { everyMs: 200 })) {
   *   console.log(`${job.done + job.skipped + job.failed} of ${job.matched}`);
   * }
   * ```
   */
  async *follow(
    jobId: string,
    { everyMs = 1000, ...options }: FollowOptions = {},
  ): AsyncGenerator<BulkJob, void, undefined> {
    let shown = '';
    for (;;) {
      const job = await this.get(jobId, options);
      const progress = [job.state, job.matched, job.done, job.skipped, job.failed].join();
      if (progress !== shown) yield job;
      shown = progress;
      if (job.state !== 'Running') return;
      await pause(everyMs, options.signal);
    }
  }

  #post(
    { filter, ...request }: BulkRequest,
    dryRun: boolean,
    { idempotencyKey = newIdempotencyKey(), ...options }: IdempotentCallOptions,
  ): Promise<CreatedBulkJob | BulkPreview> {
    const selected = filter === undefined ? {} : { filter: asQuery(filter) };
    // JSON can't contain undefined members.
    const body = { ...request, ...selected, dryRun } as BulkRequestBody;
    return this.#transport.call(
      'post',
      '/api/bulk',
      {
        body: { json: body },
        repeatable: 'always',
        subject: {},
        idempotencyKey,
      },
      options,
    );
  }
}
