import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Header,
  Middlewares,
  Patch,
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
import type { ReportedResult } from '../../runtime/activities/activity-results.js';
import type {
  ControlOptions,
  ControlOutcome,
  InstanceAction,
} from '../../runtime/model/control-types.js';
import { allowedNames, mayView } from '../access/authentication.js';
import { asJson, nullableBody, requiredBody } from '../http/body-reader.js';
import {
  assertCompensates,
  toControlAnswer,
  toInstanceAction,
  toPreview,
  toWorkflowAction,
  withoutInput,
} from '../wire/map/control.js';
import { toRestart } from '../wire/map/repair.js';
import { toTagChanges } from '../wire/map/tags.js';
import { toMilliseconds } from '../wire/map/debounce.js';
import { toControlledWorkflow } from '../wire/map/workflow.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { toOptionalReason } from '../wire/map/body-members.js';
import { checkedName } from '../wire/map/name.js';
import type {
  ControlAnswer,
  ControlRequest,
  RestartRequest,
  TerminationResponse,
  WorkflowActionList,
} from '../wire/models/control.js';
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
   * Applies one action to many runs independently: if it fails for one run, it still applies to the others.
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
    const { instances } = this.#services.host;
    const allowed = await allowedNames(request, 'conductor:controller');
    const reached = await instances.within(ids, allowed);
    const outcomes = await instances.controlMany(
      ids.filter((id) => reached.has(id)),
      toInstanceAction(body),
      { actor: await actorOf(request), detail: toOptionalReason(body.reason, '/reason') },
    );
    const left = [...outcomes];
    return toControlAnswer(
      ids.map((id) => (reached.has(id) ? left.shift() : undefined) ?? missing(id)),
    );
  }

  /**
   * Suspends a run until it is resumed. A step in progress finishes first. The response contains `data`, `index` and `lastError`
   * only if the caller also has the scope `conductor:viewer`.
   *
   * @summary Suspend a run
   * @param id The id of the run
   */
  @Put('{id}/suspend')
  @Response<Problem>(400, 'The run is not Runnable')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:controller'])
  async suspendWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, 'suspend');
  }

  /**
   * Resumes a suspended run. If a failed step suspended it, the step is retried. The response contains `data`, `index` and
   * `lastError` only if the caller also has the scope `conductor:viewer`.
   *
   * @summary Resume a run
   * @param id The id of the run
   */
  @Put('{id}/resume')
  @Response<Problem>(400, 'The run is not Suspended')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:controller'])
  async resumeWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    return this.#control(request, id, 'resume');
  }

  /**
   * Terminates a run. A run that has already ended does not change. The response contains `data`, `index` and `lastError` only if
   * the caller also has the scope `conductor:viewer`.
   *
   * With `compensate=true`, the run is rolled back first: it cancels every step that is only waiting, waits up to `grace` for
   * work in flight, then runs the `CompensateWith` of every step that has begun and of every open saga, starting with the last
   * one to end. The server responds immediately, while the run is still Runnable; the run is Terminated when all compensations
   * are complete. A suspended run is resumed for this. In the meantime, repeating the call changes nothing, and a call without
   * `compensate` terminates the run immediately. With `dryRun=true`, nothing changes: the response lists the steps that would be
   * undone and the work in flight.
   *
   * With `purge=true`, an ended run is removed together with its input, history and record of actions, without being written to
   * `archive_dir`. The response shows the run before its removal. Terminate an open run first.
   *
   * @summary Terminate or purge a run
   * @param id The id of the run
   * @param compensate Whether to undo the completed steps first. Can't be combined with `purge`
   * @param purge Whether to remove the run, which must have ended
   * @param grace With `compensate`: how long to wait for work in flight, 10 minutes by default: seconds, `hh:mm:ss`, `d.hh:mm:ss` or ISO 8601 such as `PT5M`
   * @param dryRun With `compensate`: only show what would be undone
   * @param reason The reason, shown in the record of actions and the audit log
   * @minLength reason 1 must not be empty
   * @maxLength reason 500 must have at most 500 characters
   */
  @Delete('{id}')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(409, 'With `purge`: the run is open, or its parent run waits for its result')
  @Security('bearer', ['conductor:controller'])
  async terminateWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() compensate: boolean = false,
    @Query() purge: boolean = false,
    @Query() grace?: string,
    @Query() dryRun: boolean = false,
    @Query() reason?: string,
  ): Promise<TerminationResponse> {
    assertCompensates(compensate, { dryRun, grace, purge });
    if (purge) return this.#purge(request, id);
    if (dryRun) {
      const { instances } = this.#services.host;
      return toPreview(await instances.previewUndo(checkedName(id, 'workflow id')));
    }
    const options = {
      detail: toOptionalReason(reason),
      ...(grace !== undefined && { graceMs: toMilliseconds(grace, 'grace') }),
    };
    return this.#control(request, id, compensate ? 'compensate' : 'terminate', options);
  }

  /**
   * Immediately retries every failed step that is waiting for its next attempt. The response contains `data`, `index` and
   * `lastError` only if the caller also has the scope `conductor:viewer`.
   *
   * @summary Retry failed steps now
   * @param id The id of the run
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
    return toControlledWorkflow(tagged, await mayView(request, tagged.definitionId));
  }

  /**
   * Starts a run again: as a new run with the same input, reference and tags, and with the version of the definition that
   * the old run uses, unless the body names another. The old run does not change; if it is open, it stays open. The
   * response shows the new run before its first step.
   *
   * @summary Start a run again
   * @param id The id of the run
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first response, and no further run is started.
   */
  @Post('{id}/restart')
  @SuccessResponse(201, 'Started')
  @Response<Problem>(
    400,
    'The body is invalid, or the input does not fit the `Input` of the version',
  )
  @Response<Problem>(
    404,
    'There is no such run or version, or the run was started before the server kept inputs',
  )
  @Response<Problem>(
    409,
    'The definition is disabled, or the idempotency key was already used with a different request',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'RestartRequest')
  async restartWorkflow(
    @Path() id: string,
    @Body() body: RestartRequest,
    @Request() request: HttpRequest,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<ControlledWorkflow> {
    const restart = {
      ...toRestart(body),
      idempotency: await toIdempotencyKey(request, idempotencyKey, { ...body }),
    };
    const workflowId = checkedName(id, 'workflow id');
    const { instances } = this.#services.host;
    const viewed = await allowedNames(request, 'conductor:viewer');
    const mayRead = (await instances.within([workflowId], viewed)).has(workflowId);
    const instance = await instances
      .restart(workflowId, restart, await actorOf(request))
      .catch((error: unknown) => {
        throw mayRead ? error : withoutInput(error);
      });
    this.setHeader('Location', `/api/workflow/${encodeURIComponent(instance.id)}`);
    this.setStatus(201);
    return toControlledWorkflow(instance, mayRead);
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
   * @maximum executionId 2147483647 must be at most 2147483647
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
   * @maximum executionId 2147483647 must be at most 2147483647
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

  async #purge(request: HttpRequest, id: string): Promise<ControlledWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const actor = await actorOf(request);
    const purged = await this.#services.host.instances.purge(workflowId, actor);
    return toControlledWorkflow(purged, await mayView(request, purged.definitionId));
  }

  async #control(
    request: HttpRequest,
    id: string,
    action: InstanceAction,
    options: ControlOptions = {},
  ): Promise<ControlledWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const actor = await actorOf(request);
    const { instances } = this.#services.host;
    const controlled = await instances.control(workflowId, action, actor, options);
    return toControlledWorkflow(controlled, await mayView(request, controlled.definitionId));
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

/** The same error as for a run that doesn't exist. */
function missing(workflowId: string): ControlOutcome {
  return { workflowId, outcome: 'missing', status: null };
}
