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
import type { InstanceAction } from '../../runtime/operations/control-types.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { hasScope } from '../authentication.js';
import { objectBody } from '../http/body-reader.js';
import { toExplanation } from '../wire/map/explanation.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import {
  toControlledWorkflow,
  toListRequest,
  toStartData,
  toStepExecution,
  toWorkflow,
  toWorkflowSummary,
} from '../wire/map/workflow.js';
import type { Explanation } from '../wire/models/explanation.js';
import type { Problem } from '../wire/models/problem.js';
import type {
  ControlledWorkflow,
  StepExecutionPage,
  StepOrder,
  Workflow,
  WorkflowPage,
  WorkflowQuery,
} from '../wire/models/workflow.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, addressOf, callerGone, type ApiServices } from '../http/request-context.js';

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
   * Starts a workflow on the newest version of a definition. The body is its data; without a body it starts with `{}`.
   *
   * @summary Start a workflow
   * @param id The id of the definition
   * @param reference A text of your own by which you can find the workflow again
   * @param idempotencyKey A text of your own: the same key with the same start answers as the first time, and starts nothing.
   */
  @Post('{id}')
  @SuccessResponse(201, 'Started')
  @Response<Problem>(400, 'The data is not an object, or the body cannot be read')
  @Response<Problem>(404, 'There is no such definition')
  @Response<Problem>(409, 'The idempotency key was already used with a different start request')
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
    @Query() reference?: string,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<Workflow> {
    const startData = toStartData(data);
    const instance = await this.#services.host.instances.start({
      definitionId: checkedName(id, 'definition id'),
      data: startData,
      reference: reference === undefined ? null : checkedName(reference, 'reference'),
      idempotency: await toIdempotencyKey(request, idempotencyKey, startData),
    });
    this.setHeader('Location', `/api/workflow/${encodeURIComponent(instance.id)}`);
    return toWorkflow(instance);
  }

  /**
   * Workflows without their data, newest first, one page of them.
   *
   * @summary List workflows
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listWorkflows(@Queries() query: WorkflowQuery): Promise<WorkflowPage> {
    const { limit = PAGE_SIZE_DEFAULT, cursor, ...filter } = query;
    const request = toListRequest(toPageRequest(limit, cursor), filter);
    return toWirePage(await this.#services.host.instances.list(request), toWorkflowSummary);
  }

  /**
   * A workflow with its data. With `wait` the answer comes when the workflow has ended or the time is over.
   *
   * @summary Get a workflow
   * @param id The id of the workflow
   * @param wait Seconds to wait for the end; long waits are cut short
   * @isInt wait must be a whole number of seconds
   * @minimum wait 0 must not be negative
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
    const { host, limits, waiting } = this.#services;
    const workflowId = checkedName(id, 'workflow id');
    const waitMs = Math.min(wait, limits.waitSecondsMax) * 1000;
    return toWorkflow(
      waitMs === 0
        ? await host.instances.get(workflowId)
        : await waiting.guard(addressOf(request), () =>
            host.instances.wait(workflowId, waitMs, callerGone(request)),
          ),
    );
  }

  /**
   * What ran in the workflow, in order, then what is open and what it waits for; one page of it. A page of one step may
   * hold fewer than `limit`, or none, and have a next one: the steps of a long workflow are looked through a piece at a time.
   *
   * @summary List the steps of a workflow
   * @param id The id of the workflow
   * @param order `desc`: what is open comes first, the newest before the others
   * @param stepId Only executions of the step of the definition that has this id
   * @param limit How many on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the page before
   */
  @Get('{id}/steps')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async listWorkflowSteps(
    @Path() id: string,
    @Query() order: StepOrder = 'asc',
    @Query() stepId?: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<StepExecutionPage> {
    const workflowId = checkedName(id, 'workflow id');
    const request = {
      ...toPageRequest(limit, cursor),
      order,
      stepId: stepId === undefined ? null : checkedName(stepId, 'step id'),
    };
    return toWirePage(
      await this.#services.host.instances.listSteps(workflowId, request),
      toStepExecution,
    );
  }

  /**
   * Why a workflow stands where it stands: one reason for each step that runs or waits, in words and as values, and what
   * an operator can do about it.
   *
   * @summary Explain a workflow
   * @param id The id of the workflow
   */
  @Get('{id}/explain')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async explainWorkflow(@Path() id: string): Promise<Explanation> {
    return toExplanation(
      await this.#services.host.instances.explain(checkedName(id, 'workflow id')),
    );
  }

  /**
   * Stops a workflow until it is resumed. A step that runs just now ends first. The answer
   * has `data` and `lastError` only for callers who also have the scope `conductor:viewer`.
   *
   * @summary Suspend a workflow
   * @param id The id of the workflow
   */
  @Put('{id}/suspend')
  @Response<Problem>(400, 'The workflow is not Runnable')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:controller'])
  async suspendWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, 'suspend');
  }

  /**
   * Lets a suspended workflow go on. A step whose failure suspended it is tried again. The answer
   * has `data` and `lastError` only for callers who also have the scope `conductor:viewer`.
   *
   * @summary Resume a workflow
   * @param id The id of the workflow
   */
  @Put('{id}/resume')
  @Response<Problem>(400, 'The workflow is not Suspended')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:controller'])
  async resumeWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, 'resume');
  }

  /**
   * Ends a workflow for good. One that has ended stays as it is. The answer has `data` and `lastError` only for callers who
   * also have the scope `conductor:viewer`.
   *
   * With `compensate=true` it first compensates what it has done: everything that waits or runs is cancelled, then the
   * `CompensateWith` of every completed step and of every open saga runs, the newest first. The answer comes at once, with
   * the workflow still Runnable; it is Terminated when all are through. A suspended workflow is resumed for it. Asked again
   * meanwhile, nothing changes; without `compensate` it ends at once.
   *
   * @summary Terminate a workflow
   * @param id The id of the workflow
   * @param compensate Whether to compensate what the workflow has done before it ends
   */
  @Delete('{id}')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:controller'])
  async terminateWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() compensate: boolean = false,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, compensate ? 'compensate' : 'terminate');
  }

  /**
   * Tries every step again at once that waits for its next try after a failure. The answer
   * has `data` and `lastError` only for callers who also have the scope `conductor:viewer`.
   *
   * @summary Retry failed steps now
   * @param id The id of the workflow
   */
  @Put('{id}/retry')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(409, 'No step is waiting for a retry')
  @Security('bearer', ['conductor:controller'])
  async retryWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, 'retry');
  }

  async #control(
    request: HttpRequest,
    id: string,
    action: InstanceAction,
  ): Promise<ControlledWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const actor = await actorOf(request);
    const controlled = await this.#services.host.instances.control(workflowId, action, actor);
    return toControlledWorkflow(controlled, await hasScope(request, 'conductor:viewer'));
  }
}
