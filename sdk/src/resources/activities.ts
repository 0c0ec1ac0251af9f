/** Work items of Activity steps. Most programs leave these calls to `@stepwright/worker-sdk`, which is built on them. */
import type { ActivityDeclarations, SentParameters, SentResult } from '../activity-types.js';
import type { ActivityItem, ActivityQueue, ExtendedLease, WorkItem } from '../api-types.js';
import { isApiError } from '../errors.js';
import type { JsonValue } from '../json.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** The options of `pull`. */
export interface PullOptions extends CallOptions {
  /** The name of the worker, shown to operators; at most 200 characters. */
  readonly workerId?: string;
  /** The name of the worker's machine, shown to operators. */
  readonly host?: string;
  /** The version of the worker program, shown to operators. */
  readonly version?: string;
  /**
   * How long the server waits for work, in whole seconds.
   *
   * @default 0
   */
  readonly waitSeconds?: number;
  /**
   * The lease, in whole seconds: after this time, the work item returns to the queue unless its result was reported or its
   * lease extended. Without a lease, the item is held until it is answered or released, even if this process ends.
   */
  readonly leaseSeconds?: number;
}

/** The options of `fail`. */
export interface FailOptions extends CallOptions {
  /**
   * Whether a retry may succeed. With `false`, the step is not retried and continues with its `OnRetriesExhausted`.
   *
   * @default true
   */
  readonly retryable?: boolean;
}

/** A work item, or its token. */
export type WorkReference<TName extends string = string> =
  string | Pick<WorkItem<TName>, 'token' | 'activityName'>;

/** Claims and answers work items: `client.activities`. */
export class ActivitiesResource<D extends ActivityDeclarations = ActivityDeclarations> {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Claims the oldest waiting work item of an activity. Returns null if there is none within `waitSeconds`.
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * const work = await client.activities.pull('charge-card', { waitSeconds: 10, leaseSeconds: 30 });
   * if (work !== null) await client.activities.succeed(work, { receipt: 'r-1' });
   * ```
   */
  async pull<K extends keyof D & string>(
    activityName: K,
    { workerId, host, version, waitSeconds, leaseSeconds, ...options }: PullOptions = {},
  ): Promise<WorkItem<K, SentParameters<D[K]>> | null> {
    try {
      const item = await this.#transport.call(
        'get',
        '/api/activity/{id}',
        {
          path: { id: activityName },
          query: { workerId, timeout: waitSeconds, lease: leaseSeconds },
          // If the response is lost, the item is not: the server takes it back, or its lease ends.
          repeatable: 'always',
          headers: { 'x-worker-host': host, 'x-worker-version': version },
          subject: { activityName },
          longPollMs: (waitSeconds ?? 0) * 1000,
        },
        options,
      );
      // The item has the requested name, and the declaration defines the type of its parameters.
      return item as WorkItem<K, SentParameters<D[K]>>;
    } catch (error) {
      if (isApiError(error, 'no_work')) return null;
      throw error;
    }
  }

  /**
   * Reports the result of a work item. Safe to repeat: for five minutes, the server accepts the same report again.
   *
   * @param result any JSON value
   * @throws ApiError `activity_not_found` if the token is stale, `work_cancelled` if the run was undone without this work; nothing
   * has changed
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * const work = await client.activities.pull('charge-card', { waitSeconds: 10 });
   * if (work !== null) await client.activities.succeed(work, { receipt: 'r-1' });
   * ```
   */
  async succeed<K extends keyof D & string, TResult extends SentResult<D[K]>>(
    work: WorkReference<K>,
    result: JsonValue<TResult>,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#transport.call(
      'post',
      '/api/activity/success/{token}',
      {
        path: { token: tokenOf(work) },
        body: { json: result },
        repeatable: 'always',
        subject: subjectOf(work),
      },
      options,
    );
  }

  /**
   * Reports that a work item failed. The error behavior of the step decides what happens next; with `retryable: false`, the
   * step is not retried.
   *
   * @param reason any JSON value; its member `message` becomes the message of the error
   * @throws ApiError `activity_not_found` if the token is stale, `work_cancelled` if the run was undone without this work; nothing
   * has changed
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: -1 });
   * const work = await client.activities.pull('charge-card', { waitSeconds: 10 });
   * if (work !== null) await client.activities.fail(work, { message: 'an amount is positive' });
   * ```
   */
  fail(work: WorkReference): Promise<void>;
  fail<TReason>(
    work: WorkReference,
    reason: JsonValue<TReason>,
    options?: FailOptions,
  ): Promise<void>;
  async fail(
    work: WorkReference,
    reason: unknown = null,
    { retryable = true, ...options }: FailOptions = {},
  ): Promise<void> {
    await this.#transport.call(
      'post',
      '/api/activity/fail/{token}',
      {
        path: { token: tokenOf(work) },
        query: { retry: retryable ? undefined : false },
        body: { json: reason },
        repeatable: 'always',
        subject: subjectOf(work),
      },
      options,
    );
  }

  /**
   * Releases a work item, so that another worker can claim it immediately. If its run is being undone, no worker can claim it
   * again, and the run continues without knowing how far the work got.
   *
   * @throws ApiError `activity_not_found` if the token is stale, `work_cancelled` if the run was undone without this work
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * const work = await client.activities.pull('charge-card', { waitSeconds: 10 });
   * if (work !== null) await client.activities.release(work);
   * ```
   */
  async release(work: WorkReference, options: CallOptions = {}): Promise<void> {
    try {
      await this.#transport.call(
        'delete',
        '/api/activity/{id}',
        { path: { id: tokenOf(work) }, repeatable: 'always', subject: subjectOf(work) },
        options,
      );
    } catch (error) {
      // An earlier attempt whose response was lost has released the item, or its lease has ended. Either is the desired result.
      if (!(isApiError(error, 'activity_not_found') && error.attempts > 1)) throw error;
    }
  }

  /**
   * Extends the lease of a work item to `leaseSeconds` from now. The default is the lease that the item was claimed with. If
   * `cancelRequested` is true, the run is being undone: finish the work soon, and report the result or release the item.
   *
   * @throws ApiError `activity_not_found` if the token is stale, `work_cancelled` if the run was undone without this work
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * const work = await client.activities.pull('charge-card', { waitSeconds: 10, leaseSeconds: 5 });
   * if (work !== null) {
   *   const { tokenExpiry } = await client.activities.heartbeat(work, { leaseSeconds: 30 });
   *   console.log(`mine until ${tokenExpiry}`);
   * }
   * ```
   */
  heartbeat(
    work: WorkReference,
    { leaseSeconds, ...options }: CallOptions & { readonly leaseSeconds?: number } = {},
  ): Promise<ExtendedLease> {
    return this.#transport.call(
      'put',
      '/api/activity/{token}/heartbeat',
      {
        path: { token: tokenOf(work) },
        query: { lease: leaseSeconds },
        repeatable: 'always',
        subject: subjectOf(work),
      },
      options,
    );
  }

  /**
   * Returns the number of waiting and held work items and of polling workers, by activity. Activities with the most waiting
   * items come first.
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * for (const { activityName, waiting, pollers } of await client.activities.queues()) {
   *   console.log(activityName, waiting, pollers);
   * }
   * ```
   */
  async queues(options: CallOptions = {}): Promise<readonly ActivityQueue[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    return (await this.#transport.call('get', '/api/activity', call, options)).items;
  }

  /**
   * Lists the open work items of an activity: first the waiting items, oldest first, then the held ones.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * await client.workflows.start('payment', { amount: 250 });
   * for await (const { workflowId, state, workerId } of client.activities.items('charge-card')) {
   *   console.log(workflowId, state, workerId);
   * }
   * ```
   */
  items(
    activityName: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): PagedList<ActivityItem> {
    const path = { id: activityName };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/activity/{id}/queue',
        { path, query: { limit, cursor }, repeatable: 'always', subject: { activityName } },
        options,
      ),
    );
  }
}

function tokenOf(work: WorkReference): string {
  return typeof work === 'string' ? work : work.token;
}

function subjectOf(work: WorkReference): { readonly activityName?: string } {
  return typeof work === 'string' ? {} : { activityName: work.activityName };
}
