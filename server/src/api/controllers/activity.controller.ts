import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
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
import type { ReportedResult } from '../../runtime/activities/activity-results.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { asJson, nullableBody } from '../http/body-reader.js';
import { toActivityItem, toActivityQueue, toWorkItem } from '../wire/map/activity.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import { toTokenExpiry } from '../wire/map/time.js';
import type {
  ActivityItemPage,
  ActivityQueueList,
  ExtendedLease,
  WorkItem,
} from '../wire/models/activity.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { addressOf, callerGone, type ApiServices } from '../http/request-context.js';

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
   * Hands out the oldest waiting work item of a name, to one worker at a time. Waits up to `timeout` seconds for one.
   *
   * @summary Get work
   * @param id The name of the activity
   * @param workerId Who asks, for the log
   * @param timeout Seconds to wait for work; long waits are cut short
   * @isInt timeout must be a whole number of seconds
   * @minimum timeout 0 must not be negative
   * @param lease Seconds after which the item goes back to the queue unless it was answered or extended; never when left out
   * @isInt lease must be a whole number of seconds
   * @minimum lease 1 must be at least 1
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
  ): Promise<WorkItem> {
    const { host, limits, waiting } = this.#services;
    const gone = callerGone(request);
    const poll = {
      name: checkedName(id, 'activity name'),
      workerId: checkedName(workerId, 'worker id'),
      timeoutMs: Math.min(timeout, limits.pollTimeoutSecondsMax) * 1000,
      leaseMs: lease === undefined ? null : this.#leaseMs(lease),
      signal: gone,
    };
    const item =
      timeout === 0
        ? await host.activities.pull(poll)
        : await waiting.guard(addressOf(request), () => host.activities.pull(poll));
    if (item === null) throw new AppError('no_work', `There is no work for '${id}'`);
    this.#releaseIfUndelivered(item.token, gone);
    return toWorkItem(item);
  }

  /**
   * Reports that the work is done. The body is the result: any JSON value; none is null. Sent again, it is accepted again.
   *
   * @summary Report success
   * @param token The token of the work item
   */
  @Post('success/{token}')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(404, 'The token is unknown or stale; nothing was changed')
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
   * Reports that the work failed. The body says why, in any JSON value, and is shown as the step's error. With `retry=false`
   * the step is not retried: it does what its OnRetriesExhausted says.
   *
   * @summary Report failure
   * @param token The token of the work item
   * @param retry Whether another attempt may succeed
   */
  @Post('fail/{token}')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(404, 'The token is unknown or stale; nothing was changed')
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
   * Keeps a work item for another while.
   *
   * @summary Extend a lease
   * @param token The token of the work item
   * @param lease Seconds from now; when left out, those that the work was taken for
   * @isInt lease must be a whole number of seconds
   * @minimum lease 1 must be at least 1
   */
  @Put('{token}/heartbeat')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'The token is unknown or stale')
  @Security('bearer', ['conductor:worker'])
  async extendActivity(
    @Path() token: string,
    @Request() request: HttpRequest,
    @Query() lease?: number,
  ): Promise<ExtendedLease> {
    const { guesses, host } = this.#services;
    const extended = await guesses.guard(addressOf(request), () =>
      host.activities.extend(token, lease === undefined ? null : this.#leaseMs(lease)),
    );
    return { tokenExpiry: toTokenExpiry(extended.tokenExpiresAt) };
  }

  /**
   * Gives a work item back to the queue, at its old place.
   *
   * @summary Release work
   * @param id The token of the work item
   */
  @Delete('{id}')
  @SuccessResponse(202, 'Released')
  @Response<Problem>(404, 'The token is unknown or stale; nothing was changed')
  @Security('bearer', ['conductor:worker'])
  async releaseActivity(@Path() id: string, @Request() request: HttpRequest): Promise<void> {
    const { guesses, host } = this.#services;
    await guesses.guard(addressOf(request), () => host.activities.release(id));
  }

  /**
   * How much work waits, by name, those with the most waiting work first.
   *
   * @summary List the queues of activities
   */
  @Get()
  @Security('bearer', ['conductor:viewer'])
  async listActivityQueues(): Promise<ActivityQueueList> {
    const queues = await this.#services.host.activities.listQueues();
    return { items: queues.map(toActivityQueue), nextCursor: null };
  }

  /**
   * Work items of a name that are not done, one page of them: those that wait, the oldest first, then those of workflows
   * that are not Runnable, then those that workers hold.
   *
   * @summary List the work items of a name
   * @param id The name of the activity
   * @param limit How many on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the page before
   */
  @Get('{id}/queue')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listActivityItems(
    @Path() id: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<ActivityItemPage> {
    const name = checkedName(id, 'activity name');
    const page = toPageRequest(limit, cursor);
    return toWirePage(await this.#services.host.activities.listItems(name, page), toActivityItem);
  }

  async #complete(request: HttpRequest, token: string, result: ReportedResult): Promise<void> {
    const { guesses, host } = this.#services;
    await guesses.guard(addressOf(request), () => host.activities.complete(token, result));
  }

  #leaseMs(leaseSeconds: number): number {
    return Math.min(leaseSeconds, this.#services.limits.leaseSecondsMax) * 1000;
  }

  /** An item that was claimed for a caller who hung up goes back, so that another can have it at once. */
  #releaseIfUndelivered(token: string, gone: AbortSignal): void {
    const { host, logger } = this.#services;
    const release = () => {
      host.activities.release(token).catch((error: unknown) => {
        logger.warn({ err: error }, 'A work item that nobody received could not be released');
      });
    };
    if (gone.aborted) release();
    else gone.addEventListener('abort', release, { once: true });
  }
}
