import {
  Controller,
  Get,
  Middlewares,
  Path,
  Query,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { checkedName } from '../wire/map/name.js';
import { checkedSearch } from '../wire/map/search.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import { toStepExecution } from '../wire/map/workflow.js';
import type { Problem } from '../wire/models/problem.js';
import type {
  StepExecutionPage,
  StepExecutionStatusFilter,
  StepOrder,
} from '../wire/models/step-execution.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class StepExecutionController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the executions of a run in pages: ended executions in order, then open ones with the reason for their wait. An
   * execution must match all filters.
   *
   * With a filter, the server searches a long run piece by piece, up to 2,000 executions for each page. A page may then have
   * fewer items than `limit`, or none, even if there is a next page. Continue with its cursor and the same filters.
   *
   * @summary List the steps of a run
   * @param id The id of the run
   * @param order `asc` lists the oldest first; `desc` lists the open executions first, then the newest
   * @param stepId Returns only executions of the step with this id
   * @param status Returns only executions with this status. `Waiting` includes `Retrying`
   * @param item Returns only executions for the item with this zero-based index in the innermost Foreach around the step
   * @isLong item must be a whole number
   * @minimum item 0 must be at least 0
   * @maximum item 9007199254740991 is too large
   * @param turn With `stepId`: returns only executions inside this While or Recur in this iteration, counted from 1. If the step
   * isn't a loop, returns the execution with this number, with all its attempts. For a Foreach, use `item`. Can't be combined
   * with `order=desc`
   * @isLong turn must be a whole number
   * @minimum turn 1 must be at least 1
   * @maximum turn 9007199254740991 is too large
   * @param search Returns only executions with this text in their inputs, outputs, item or error: in a name, string or number,
   * ignoring case. At most 200 characters
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{id}/steps')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async listWorkflowSteps(
    @Path() id: string,
    @Query() order: StepOrder = 'asc',
    @Query() stepId?: string,
    @Query() status?: StepExecutionStatusFilter,
    @Query() item?: number,
    @Query() turn?: number,
    @Query() search?: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<StepExecutionPage> {
    const workflowId = checkedName(id, 'workflow id');
    const request = {
      ...toPageRequest(limit, cursor),
      order,
      stepId: stepId === undefined ? null : checkedName(stepId, 'step id'),
      status: status ?? null,
      item: item ?? null,
      turn: turn ?? null,
      search: search === undefined ? null : checkedSearch(search),
    };
    return toWirePage(
      await this.#services.host.instances.listSteps(workflowId, request),
      toStepExecution,
    );
  }
}
