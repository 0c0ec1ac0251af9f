import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Put,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { AppError } from '../../base/errors.js';
import { allowsName } from '../../base/allowed-names.js';
import { allowedNames } from '../access/authentication.js';
import type { ReportedResult } from '../../runtime/activities/activity-results.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { asJson, nullableBody } from '../http/body-reader.js';
import {
  toActivityItem,
  toActivityQueue,
  toExtendedLease,
  toWorkItem,
} from '../wire/map/activity.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import { toWorkerOrigin } from '../wire/map/worker.js';
import type {
  ActivityItemPage,
  ActivityQueueList,
  ExtendedLease,
  WorkItem,
} from '../wire/models/activity.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { addressOf, isCallerDisconnected, type ApiServices } from '../http/request-context.js';
import { waitForCaller } from '../http/waiting-calls.js';

@Route('api/activity')
@Tags('Activities')
@Middlewares(knownQuery)
export class ActivityController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Claims the oldest waiting work item of an activity. Each item is delivered to one worker at a time. If none is
   * waiting, the call waits up to `timeout` seconds.
   *
   * @summary Claim a work item
   * @param id The name of the activity
   * @param workerId The name of the worker, shown to operators
   * @param workerHost The name of its machine, shown to operators
   * @param workerVersion The version of the worker program, shown to operators
   * @param timeout Seconds to wait for work, up to a limit of the server
   * @isLong timeout must be a whole number of seconds
   * @minimum timeout 0 must not be negative
   * @maximum timeout 9007199254740991 must be at most 9007199254740991
   * @param lease Seconds after which the item returns to the queue, unless the worker has reported a result or extended the lease. By default, it never returns.
   * @isLong lease must be a whole number of seconds
   * @minimum lease 1 must be at least 1
   * @maximum lease 9007199254740991 must be at most 9007199254740991
   */
  @Get('{id}')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'No work arrived before the timeout')
  @Security('bearer', ['conductor:worker'])
  async pullActivity(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() workerId: string = '',
    @Query() timeout: number = 0,
    @Query() lease?: number,
    @Header('X-Worker-Host') workerHost: string = '',
    @Header('X-Worker-Version') workerVersion: string = '',
  ): Promise<WorkItem> {
    const { host, limits } = this.#services;
    const poll = {
      name: checkedName(id, 'activity name'),
      workerId: checkedName(workerId, 'worker id'),
      origin: toWorkerOrigin(workerHost, workerVersion, addressOf(request)),
      timeoutMs: Math.min(timeout, limits.pollTimeoutSecondsMax) * 1000,
      leaseMs: lease === undefined ? null : this.#leaseMs(lease),
    };
    const pull = async (gone: AbortSignal) => {
      const found = await host.activities.pull({ ...poll, signal: gone });
      if (found !== null) this.#releaseIfUndelivered(found.token, gone);
      return found;
    };
    const item =
      timeout === 0
        ? await pull(isCallerDisconnected(request))
        : await waitForCaller(request, pull);
    if (item === null) throw new AppError('no_work', `There is no work for '${id}'`);
    return toWorkItem(item);
  }

  /**
   * Reports the result of a work item. The body is the result: any JSON value, `null` by default. Repeating the call is
   * accepted and changes nothing.
   *
   * @summary Report success
   * @param token The token of the work item
   */
  @Post('success/{token}')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(
    404,
    'The token is unknown or stale, or the work was canceled; nothing was changed',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:worker'])
  @Middlewares(nullableBody)
  @Extension('x-request-schema', 'JsonValue')
  @Extension('x-request-optional', true)
  async succeedActivity(
    @Path() token: string,
    @Body() result: unknown,
    @Request() request: HttpRequest,
  ): Promise<void> {
    await this.#complete(request, token, { succeeded: true, data: asJson(result) });
  }

  /**
   * Reports that a work item has failed. The body is the reason, any JSON value, and becomes the error of the step. With
   * `retry=false`, the step is not retried, and its OnRetriesExhausted applies.
   *
   * @summary Report failure
   * @param token The token of the work item
   * @param retry Whether another attempt may succeed
   */
  @Post('fail/{token}')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(
    404,
    'The token is unknown or stale, or the work was canceled; nothing was changed',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:worker'])
  @Middlewares(nullableBody)
  @Extension('x-request-schema', 'JsonValue')
  @Extension('x-request-optional', true)
  async failActivity(
    @Path() token: string,
    @Body() reason: unknown,
    @Request() request: HttpRequest,
    @Query() retry: boolean = true,
  ): Promise<void> {
    await this.#complete(request, token, {
      succeeded: false,
      data: asJson(reason),
      retryable: retry,
    });
  }

  /**
   * Extends the lease of a work item, and reports whether its run is being undone.
   *
   * @summary Extend a lease
   * @param token The token of the work item
   * @param lease The new lease in seconds from now; by default, as long as the lease with which the item was claimed
   * @isLong lease must be a whole number of seconds
   * @minimum lease 1 must be at least 1
   * @maximum lease 9007199254740991 must be at most 9007199254740991
   */
  @Put('{token}/heartbeat')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'The token is unknown or stale, or the work was canceled')
  @Security('bearer', ['conductor:worker'])
  async extendActivity(
    @Path() token: string,
    @Request() request: HttpRequest,
    @Query() lease?: number,
  ): Promise<ExtendedLease> {
    const { workTokenFailures, host } = this.#services;
    const extended = await workTokenFailures.guard(addressOf(request), () =>
      host.activities.extend(token, lease === undefined ? null : this.#leaseMs(lease)),
    );
    return toExtendedLease(extended);
  }

  /**
   * Returns a work item to its previous position in the queue. If its run is being undone, no worker gets the item again, and the
   * run continues without knowing how far the worker got.
   *
   * @summary Release a work item
   * @param id The token of the work item
   */
  @Delete('{id}')
  @SuccessResponse(202, 'Released')
  @Response<Problem>(
    404,
    'The token is unknown or stale, or the work was canceled; nothing was changed',
  )
  @Security('bearer', ['conductor:worker'])
  async releaseActivity(@Path() id: string, @Request() request: HttpRequest): Promise<void> {
    const { workTokenFailures, host } = this.#services;
    await workTokenFailures.guard(addressOf(request), () => host.activities.release(id));
  }

  /**
   * Lists the queues of all activities, those with the most waiting items first.
   *
   * @summary List activity queues
   */
  @Get()
  @Security('bearer', ['conductor:viewer'])
  async listActivityQueues(): Promise<ActivityQueueList> {
    const queues = await this.#services.host.activities.listQueues();
    return { items: queues.map(toActivityQueue), nextCursor: null };
  }

  /**
   * Lists the open work items of an activity in pages: first those that are waiting, the oldest first, then those of
   * runs that are not Runnable, then those that workers hold.
   *
   * @summary List the work items of an activity
   * @param id The name of the activity
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{id}/queue')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listActivityItems(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<ActivityItemPage> {
    const name = checkedName(id, 'activity name');
    const page = toPageRequest(limit, cursor);
    const found = await this.#services.host.activities.listItems(name, page);
    const allowed = await allowedNames(request, 'conductor:viewer');
    const items = found.items.filter(({ definitionId }) => allowsName(allowed, definitionId ?? ''));
    return toWirePage({ ...found, items }, toActivityItem);
  }

  async #complete(request: HttpRequest, token: string, result: ReportedResult): Promise<void> {
    const { workTokenFailures, host } = this.#services;
    await workTokenFailures.guard(addressOf(request), () =>
      host.activities.complete(token, result),
    );
  }

  #leaseMs(leaseSeconds: number): number {
    return Math.min(leaseSeconds, this.#services.limits.leaseSecondsMax) * 1000;
  }

  /** Releases an item whose caller has disconnected or lost its right, so that another worker can claim it immediately. */
  #releaseIfUndelivered(token: string, gone: AbortSignal): void {
    const { host, logger } = this.#services;
    const release = () => {
      host.activities.release(token, 'undelivered').catch((error: unknown) => {
        logger.warn(
          { err: error },
          'failed to release a work item that was not delivered to its worker',
        );
      });
    };
    if (gone.aborted) release();
    else gone.addEventListener('abort', release, { once: true });
  }
}
