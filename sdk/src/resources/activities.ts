/** Work that workflows hand out. Most programs leave this to `@stepwright/worker-sdk`, which is made of these calls. */
import type { ActivityDeclarations, SentParameters, SentResult } from '../activity-types.js';
import type { ActivityItem, ActivityQueue, ExtendedLease, WorkItem } from '../api-types.js';
import { isApiError } from '../errors.js';
import type { JsonValue } from '../json.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** How `pull` asks for work. */
export interface PullOptions extends CallOptions {
  /** Who asks, for the server's log. */
  readonly workerId?: string;
  /**
   * How long the server may wait for work, in whole seconds.
   *
   * @default 0
   */
  readonly waitSeconds?: number;
  /**
   * After how many whole seconds the work goes back to the queue unless it was answered or extended. Without it the work
   * is held until it is answered or released, even if this process is gone.
   */
  readonly leaseSeconds?: number;
}

/** How `fail` reports a failure. */
export interface FailOptions extends CallOptions {
  /**
   * Whether another attempt may succeed. With `false` the step is not retried and goes on to its `OnRetriesExhausted`.
   *
   * @default true
   */
  readonly retryable?: boolean;
}

/** A work item, or its token. */
export type WorkReference<TName extends string = string> =
  string | Pick<WorkItem<TName>, 'token' | 'activityName'>;

/** Takes and answers work: `client.activities`. */
export class ActivitiesResource<D extends ActivityDeclarations = ActivityDeclarations> {
  readonly #transport: Transport;

  /** @internal Made by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The oldest waiting work of a name, or null when there is none within `waitSeconds`.
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
    { workerId, waitSeconds, leaseSeconds, ...options }: PullOptions = {},
  ): Promise<WorkItem<K, SentParameters<D[K]>> | null> {
    try {
      const item = await this.#transport.call(
        'get',
        '/api/activity/{id}',
        {
          path: { id: activityName },
          query: { workerId, timeout: waitSeconds, lease: leaseSeconds },
          // An item in an answer that was lost is not lost: the server takes it back, or its lease ends.
          repeatable: 'always',
          subject: { activityName },
          longPollMs: (waitSeconds ?? 0) * 1000,
        },
        options,
      );
      // It is work of the name that was asked for, and the declaration says what its parameters are.
      return item as WorkItem<K, SentParameters<D[K]>>;
    } catch (error) {
      if (isApiError(error, 'no_work')) return null;
      throw error;
    }
  }

  /**
   * Reports that work is done. Safe to repeat: the server takes the same report again for five minutes.
   *
   * @param result any JSON value
   * @throws ApiError `activity_not_found` when the work is held no longer; nothing was changed
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
   * Reports that work failed. The step's error behaviour decides what follows; with `retryable: false` it is not retried.
   *
   * @param reason any JSON value; a `message` in it is shown as the error's
   * @throws ApiError `activity_not_found` when the work is held no longer; nothing was changed
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
   * Gives work back, so that another worker gets it at once.
   *
   * @throws ApiError `activity_not_found` when the work is held no longer
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
      // An earlier attempt whose answer was lost has given it back, or its lease is over: that is what was wanted.
      if (!(isApiError(error, 'activity_not_found') && error.attempts > 1)) throw error;
    }
  }

  /**
   * Keeps work for another while: `leaseSeconds` from now, or as long as it was taken for.
   *
   * @throws ApiError `activity_not_found` when the work is held no longer
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
   * How much work waits, by name, and who asks for it; those with the most waiting work first.
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
   * The work of a name that is not done: what waits, the oldest first, then what workers hold.
   *
   * @param options `limit` is the size of a page
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
