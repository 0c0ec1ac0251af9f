import {
  Body,
  Controller,
  Extension,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Queries,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { definitionsWithin } from '../../base/allowed-names.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { allowedNames, mayView } from '../access/authentication.js';
import { objectBody } from '../http/body-reader.js';
import { toExplanation } from '../wire/map/explanation.js';
import { toFailureGroups, toFailureRequest } from '../wire/map/failure.js';
import { toFindings, toFindRequest } from '../wire/map/find.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import {
  toFilter,
  toStartData,
  toControlledWorkflow,
  toStartRequest,
  toWorkflow,
  toWorkflowSummary,
} from '../wire/map/workflow.js';
import type { Explanation } from '../wire/models/explanation.js';
import type { FailureGroups, FailureQuery } from '../wire/models/failure.js';
import type {
  ExplainQuery,
  Explanations,
  FindQuery,
  WorkflowFindings,
} from '../wire/models/find.js';
import type { DataObject } from '../wire/models/json-value.js';
import type { Problem } from '../wire/models/problem.js';
import type { ControlledWorkflow, Workflow, WorkflowPage } from '../wire/models/workflow.js';
import type {
  WorkflowCount,
  WorkflowFilter,
  WorkflowQuery,
} from '../wire/models/workflow-filter.js';
import type { StartQuery } from '../wire/models/start-query.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';
import { waitForCaller } from '../http/waiting-calls.js';
import { callerOf } from '../access/caller.js';

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class WorkflowController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Starts a run of a definition. The body is the data of the run, `{}` by default. The response shows the run before its first
   * step or, with `wait`, when it has ended or the wait has timed out.
   *
   * With `wait`, or if the response is an existing run, it contains `data` and `lastError` only if the caller also has the
   * scope `conductor:viewer`.
   *
   * @summary Start a run
   * @param id The id of the definition
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first response, and no further run is started. `wait` may differ.
   */
  @Post('{id}')
  @SuccessResponse(201, 'Started')
  @Response<ControlledWorkflow>(
    200,
    'With `onConflict=existing`: the run with this reference. With `debounce`: the run that the start has joined',
  )
  @Response<Problem>(
    400,
    'A parameter is invalid, the data is not an object or does not match the `Input` of the definition, its `Reference`, a `Key` or the `Weight` fails for the data, or the body cannot be read',
  )
  @Response<Problem>(404, 'There is no such definition or version')
  @Response<Problem>(
    409,
    'The definition is disabled, another run has the reference, or the idempotency key was already used with a different start request',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(objectBody)
  @Extension('x-request-schema', 'DataObject')
  @Extension('x-request-optional', true)
  async startWorkflow(
    @Path() id: string,
    @Body() data: unknown,
    @Request() request: HttpRequest,
    @Queries() query: StartQuery,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<ControlledWorkflow> {
    const { host, limits } = this.#services;
    const { wait = 0, ...options } = query;
    const startData = toStartData(data);
    const start = toStartRequest(startData, {
      definitionId: id,
      ...options,
      ...(await callerOf(request)),
      idempotency: await toIdempotencyKey(request, idempotencyKey, startData),
    });
    const timeoutMs = Math.min(wait, limits.waitSecondsMax) * 1000;
    const started =
      timeoutMs === 0
        ? await host.instances.start(start)
        : await waitForCaller(
            request,
            (signal) => host.instances.start(start, { timeoutMs, signal }),
            ({ instance }) => ({ workflowId: instance.id }),
          );
    this.setHeader('Location', `/api/workflow/${encodeURIComponent(started.instance.id)}`);
    this.setStatus(started.isNew ? 201 : 200);
    // A new instance contains only data that the caller has sent.
    const isOwn = started.isNew && timeoutMs === 0;
    return toControlledWorkflow(started.instance, isOwn || (await mayView(request, id)));
  }

  /**
   * Lists runs without their data, the newest first, in pages. If the filters match only a few of very many runs, a page may have
   * fewer items than `limit`, or none, even if there is a next page.
   *
   * @summary List runs
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listWorkflows(
    @Queries() query: WorkflowQuery,
    @Request() request: HttpRequest,
  ): Promise<WorkflowPage> {
    const { limit = PAGE_SIZE_DEFAULT, cursor, ...filter } = query;
    const page = { ...toPageRequest(limit, cursor), ...toFilter(filter), ...(await seen(request)) };
    return toWirePage(await this.#services.host.instances.list(page), toWorkflowSummary);
  }

  /**
   * Counts the runs that match the list filters, up to 10,000.
   *
   * @summary Count runs
   */
  @Get('count')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async countWorkflows(
    @Queries() query: WorkflowFilter,
    @Request() request: HttpRequest,
  ): Promise<WorkflowCount> {
    const filter = { ...toFilter(query), ...(await seen(request)) };
    const { count, exact } = await this.#services.host.instances.count(filter);
    return { count, exact };
  }

  /**
   * Groups failed runs by cause. A run counts as failed if it shows an error and is either open or has the outcome `Failed`. It
   * leaves its group when the step succeeds, or when the run is terminated or repaired, or ends with another outcome. To list the
   * runs in a group, pass its `key` as the `failure` filter of the run list.
   *
   * @summary Group failed runs
   */
  @Get('failures')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listFailures(
    @Queries() query: FailureQuery,
    @Request() request: HttpRequest,
  ): Promise<FailureGroups> {
    const filter = { ...toFailureRequest(query), ...(await seen(request)) };
    const groups = await this.#services.host.instances.listFailures(filter);
    return toFailureGroups(groups);
  }

  /**
   * Finds runs by id, reference, tag value or index field value, and shows why each one matches. Values that equal or start with
   * the text are found in all runs, for up to 100 tag names and 100 index field names. To find the text inside values, the server
   * searches run by run, the newest first, for up to 0.3 s. `partsFrom` shows how far back it got, and `nextCursor` continues the
   * search.
   *
   * @summary Find runs by text
   */
  @Get('find')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async findWorkflows(
    @Queries() query: FindQuery,
    @Request() request: HttpRequest,
  ): Promise<WorkflowFindings> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    return toFindings(await this.#services.host.instances.find(toFindRequest(query), allowed));
  }

  /**
   * Explains several runs, in the same way as the call for a single run. It takes about half a second at most.
   *
   * @summary Explain several runs
   */
  @Get('explain')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async explainWorkflows(
    @Queries() query: ExplainQuery,
    @Request() request: HttpRequest,
  ): Promise<Explanations> {
    const ids = query.id.map((id) => checkedName(id, 'workflow id'));
    const allowed = await allowedNames(request, 'conductor:viewer');
    const { instances } = this.#services.host;
    const { items, left } = await instances.explainMany(
      [...(await instances.within(ids, allowed))],
      allowed,
    );
    return { items: items.map(toExplanation), left: [...left] };
  }

  /**
   * Returns a run with its data. With `wait`, the server responds when the run has ended or the wait has timed out.
   *
   * @summary Get a run
   * @param id The id of the run
   * @param wait Seconds to wait for the end of the run, up to a limit of the server
   * @isLong wait must be a whole number of seconds
   * @minimum wait 0 must not be negative
   * @maximum wait 9007199254740991 must be at most 9007199254740991
   */
  @Get('{id}')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async getWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() wait: number = 0,
  ): Promise<Workflow> {
    const { host, limits } = this.#services;
    const workflowId = checkedName(id, 'workflow id');
    const waitMs = Math.min(wait, limits.waitSecondsMax) * 1000;
    return toWorkflow(
      waitMs === 0
        ? await host.instances.get(workflowId)
        : await waitForCaller(request, (gone) => host.instances.wait(workflowId, waitMs, gone)),
    );
  }

  /**
   * Returns the data that a run was started with, as it was posted. It doesn't change as the run modifies its data.
   *
   * @summary Get the input of a run
   * @param id The id of the run
   */
  @Get('{id}/input')
  @Response<Problem>(404, 'There is no such run, or it was started before the server kept inputs')
  @Security('bearer', ['conductor:viewer'])
  async getWorkflowInput(@Path() id: string): Promise<DataObject> {
    return this.#services.host.instances.getInput(checkedName(id, 'workflow id'));
  }

  /**
   * Explains why a run is running, waiting, suspended or ended: one reason for each running or waiting step, as text and as
   * fields, and the actions that an operator can take.
   *
   * @summary Explain a run
   * @param id The id of the run
   */
  @Get('{id}/explain')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async explainWorkflow(@Path() id: string, @Request() request: HttpRequest): Promise<Explanation> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    const { instances } = this.#services.host;
    return toExplanation(await instances.explain(checkedName(id, 'workflow id'), allowed));
  }
}

/** The runs that the caller may see, as a filter. */
async function seen(request: HttpRequest): Promise<ReturnType<typeof definitionsWithin>> {
  return definitionsWithin(await allowedNames(request, 'conductor:viewer'));
}
