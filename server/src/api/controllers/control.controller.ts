import {
  Body,
  Controller,
  Extension,
  Get,
  Middlewares,
  Patch,
  Path,
  Post,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { ReportedResult } from '../../runtime/activities/activity-results.js';
import { hasScope } from '../authentication.js';
import { asJson, nullableBody, requiredBody } from '../http/body-reader.js';
import { toControlAnswer, toInstanceAction, toWorkflowAction } from '../wire/map/control.js';
import { toTagChanges } from '../wire/map/tags.js';
import { toControlledWorkflow } from '../wire/map/workflow.js';
import { checkedName } from '../wire/map/name.js';
import type { ControlAnswer, ControlRequest, WorkflowActionList } from '../wire/models/control.js';
import type { ControlledWorkflow } from '../wire/models/workflow.js';
import type { TagChanges } from '../wire/models/workflow-filter.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, type ApiServices } from '../http/request-context.js';

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class ControlController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Applies one action to many runs, independently of each other: if it fails for one run, the others are still
   * controlled.
   *
   * @summary Control many runs
   */
  @Patch()
  @Response<Problem>(400, 'The body is invalid')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'ControlRequest')
  async controlWorkflows(
    @Body() body: ControlRequest,
    @Request() request: HttpRequest,
  ): Promise<ControlAnswer> {
    const ids = body.workflowIds.map((id) => checkedName(id, 'workflow id'));
    const actor = await actorOf(request);
    const outcomes = await this.#services.host.instances.controlMany(
      ids,
      toInstanceAction(body),
      actor,
    );
    return toControlAnswer(outcomes);
  }

  /**
   * Sets tags of a run in any status: the body is merged into its tags, and `null` removes a tag. The response contains
   * `data`, `index` and `lastError` only if the caller also has the scope `conductor:viewer`.
   *
   * @summary Set tags of a run
   * @param id The id of the run
   */
  @Patch('{id}/tags')
  @Response<Problem>(400, 'A tag is invalid, or the run would have too many')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'TagChanges')
  async setWorkflowTags(
    @Path() id: string,
    @Body() changes: TagChanges,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const actor = await actorOf(request);
    const tags = toTagChanges(changes);
    const tagged = await this.#services.host.instances.setTags(workflowId, tags, actor);
    return toControlledWorkflow(tagged, await hasScope(request, 'conductor:viewer'));
  }

  /**
   * Completes an activity in place of its worker. The body is the result: any JSON value, `null` by default. If a worker
   * holds the work item, its token becomes stale.
   *
   * @summary Complete an awaited activity
   * @param id The id of the run
   * @param executionId The id of the waiting execution
   * @isInt executionId must be a whole number
   * @minimum executionId 0 must not be negative
   */
  @Post('{id}/steps/{executionId}/success')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(404, 'There is no such run or execution')
  @Response<Problem>(409, 'The execution is not waiting for an activity')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(nullableBody)
  @Extension('x-request-schema', 'JsonValue')
  @Extension('x-request-optional', true)
  async completeAwaitedActivity(
    @Path() id: string,
    @Path() executionId: number,
    @Body() result: unknown,
    @Request() request: HttpRequest,
  ): Promise<void> {
    await this.#answer(request, { id, executionId }, { succeeded: true, data: asJson(result) });
  }

  /**
   * Fails an activity in place of its worker. The body is the reason, any JSON value, and becomes the error of the
   * step. With
   * `retry=false`, the step is not retried, and its OnRetriesExhausted applies. If a worker holds the work item, its
   * token becomes stale.
   *
   * @summary Fail an awaited activity
   * @param id The id of the run
   * @param executionId The id of the waiting execution
   * @isInt executionId must be a whole number
   * @minimum executionId 0 must not be negative
   * @param retry Whether another attempt may succeed
   */
  @Post('{id}/steps/{executionId}/fail')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(404, 'There is no such run or execution')
  @Response<Problem>(409, 'The execution is not waiting for an activity')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(nullableBody)
  @Extension('x-request-schema', 'JsonValue')
  @Extension('x-request-optional', true)
  async failAwaitedActivity(
    @Path() id: string,
    @Path() executionId: number,
    @Body() reason: unknown,
    @Request() request: HttpRequest,
    @Query() retry: boolean = true,
  ): Promise<void> {
    const failure = { succeeded: false, data: asJson(reason), retryable: retry };
    await this.#answer(request, { id, executionId }, failure);
  }

  /**
   * Lists the actions on a run and their callers, the newest first: suspend, resume, terminate, retry, answers in place
   * of a worker, and events published for the run. The server keeps the most recent 100.
   *
   * @summary List the actions on a run
   * @param id The id of the run
   */
  @Get('{id}/audit')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async listWorkflowActions(@Path() id: string): Promise<WorkflowActionList> {
    const entries = await this.#services.host.instances.listActions(checkedName(id, 'workflow id'));
    return { items: entries.map(toWorkflowAction), nextCursor: null };
  }

  async #answer(
    request: HttpRequest,
    { executionId, id }: { readonly id: string; readonly executionId: number },
    result: ReportedResult,
  ): Promise<void> {
    const execution = { workflowId: checkedName(id, 'workflow id'), executionId };
    const actor = await actorOf(request);
    await this.#services.host.instances.answerActivity(execution, result, actor);
  }
}
