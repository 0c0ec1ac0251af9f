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
  Query,
  Request,
  Res,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
  type TsoaResponse,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { allowsAllNames, type AllowedNames } from '../../base/allowed-names.js';
import { allowedNames } from '../access/authentication.js';
import { asJson, requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, contextOf, type ApiServices } from '../http/request-context.js';
import {
  assertMayFilter,
  toBulkJob,
  toBulkJobSummary,
  toBulkPreview,
  toBulkRequest,
  toCreatedBulkJob,
} from '../wire/map/bulk.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import { toWorkflowSummary } from '../wire/map/workflow.js';
import type {
  BulkJob,
  BulkJobPage,
  BulkPreview,
  BulkRequest,
  CreatedBulkJob,
} from '../wire/models/bulk.js';
import type { Problem } from '../wire/models/problem.js';
import type { WorkflowPage } from '../wire/models/workflow.js';

@Route('api/bulk')
@Tags('Bulk jobs')
@Middlewares(knownQuery)
export class BulkController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Creates a job that takes one action on many runs: on all runs that match a filter when the job begins, or on the runs that
   * you name. The job runs on the server, at no more than `perSecond` runs per second, and acts once on each run, even if nodes
   * crash. With `dryRun`, nothing happens: the response shows the number of runs and the first of them.
   *
   * The job is authorized when it is created, so it continues when the token expires or the API key is removed. To prevent that,
   * stop the job.
   *
   * @summary Create a bulk job
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the job that the first request created.
   * @param preview With `dryRun`: the runs that the job would act on
   */
  @Post()
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body is invalid')
  @Response<Problem>(
    403,
    'The filter has `where` or `failure`, and the caller lacks the scope `conductor:viewer`',
  )
  @Response<Problem>(
    409,
    '20 bulk jobs are running already (`too_many_bulk_jobs`), or the idempotency key was already used with a different request',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'BulkRequest')
  async createBulkJob(
    @Body() body: BulkRequest,
    @Request() request: HttpRequest,
    @Res() preview: TsoaResponse<200, BulkPreview>,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<CreatedBulkJob> {
    const { bulk } = this.#services.host;
    const allowed = await allowedNames(request, 'conductor:controller');
    const mayRead = await mayReadWithin(request, allowed);
    assertMayFilter(body, mayRead);
    const job = toBulkRequest(body, {
      actor: await actorOf(request),
      apiKeyId: (await contextOf(request).verifiedToken)?.apiKeyId ?? null,
      allowed,
      idempotency: await toIdempotencyKey(request, idempotencyKey, asJson(body)),
    });
    if (body.dryRun === true) {
      return preview(200, toBulkPreview(await bulk.preview(job), mayRead)) as never;
    }
    const created = toCreatedBulkJob(await bulk.create(job));
    this.setHeader('Location', `/api/bulk/${encodeURIComponent(created.id)}`);
    return created;
  }

  /**
   * Lists bulk jobs without their failures, the newest first, in pages. Jobs are removed a week after they have ended.
   *
   * @summary List bulk jobs
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 100 must be at most 100
   * @param cursor `nextCursor` of the previous page
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listBulkJobs(
    @Request() request: HttpRequest,
    @Query() limit: number = 50,
    @Query() cursor?: string,
  ): Promise<BulkJobPage> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    const page = await this.#services.host.bulk.list(toPageRequest(limit, cursor), allowed);
    return toWirePage(page, toBulkJobSummary);
  }

  /**
   * Returns a bulk job with its progress and its first failures.
   *
   * @summary Get a bulk job
   * @param id The id of the bulk job
   */
  @Get('{id}')
  @Response<Problem>(404, 'There is no such bulk job')
  @Security('bearer', ['conductor:viewer'])
  async getBulkJob(@Path() id: string, @Request() request: HttpRequest): Promise<BulkJob> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    const { bulk } = this.#services.host;
    return toBulkJob(await bulk.get(checkedName(id, 'bulk job id'), allowed), true);
  }

  /**
   * Lists the runs of a bulk job in their current state, in the order in which the job processes them. Removed runs are omitted.
   *
   * @summary List the runs of a bulk job
   * @param id The id of the bulk job
   * @param limit The maximum number of runs on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 100 must be at most 100
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{id}/runs')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such bulk job')
  @Security('bearer', ['conductor:viewer'])
  async listRunsOfBulkJob(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() limit: number = 50,
    @Query() cursor?: string,
  ): Promise<WorkflowPage> {
    const page = toPageRequest(limit, cursor);
    const { bulk } = this.#services.host;
    const allowed = await allowedNames(request, 'conductor:viewer');
    const runs = await bulk.listRuns(checkedName(id, 'bulk job id'), page, allowed);
    return toWirePage(runs, toWorkflowSummary);
  }

  /**
   * Stops a bulk job, so it acts on no more runs. Actions in progress still finish, within about a second. If the job has already
   * ended, nothing changes.
   *
   * @summary Stop a bulk job
   * @param id The id of the bulk job
   */
  @Delete('{id}')
  @Response<Problem>(404, 'There is no such bulk job')
  @Security('bearer', ['conductor:controller'])
  async stopBulkJob(@Path() id: string, @Request() request: HttpRequest): Promise<BulkJob> {
    const jobId = checkedName(id, 'bulk job id');
    const allowed = await allowedNames(request, 'conductor:controller');
    const stopped = await this.#services.host.bulk.stop(jobId, await actorOf(request), allowed);
    return toBulkJob(stopped, await mayReadWithin(request, stopped.allowed));
  }
}

async function mayReadWithin(request: HttpRequest, allowed: AllowedNames): Promise<boolean> {
  return allowsAllNames(await allowedNames(request, 'conductor:viewer'), allowed);
}
