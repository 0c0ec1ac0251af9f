import {
  Body,
  Controller,
  Extension,
  Middlewares,
  Path,
  Put,
  Request,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { mayView } from '../access/authentication.js';
import { requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, type ApiServices } from '../http/request-context.js';
import { membersOf, refuseUnknown } from '../wire/map/body-members.js';
import { checkedName } from '../wire/map/name.js';
import { toControlledWorkflow, toPriority } from '../wire/map/workflow.js';
import type { PriorityRequest } from '../wire/models/control.js';
import type { Problem } from '../wire/models/problem.js';
import type { ControlledWorkflow } from '../wire/models/workflow.js';

const MEMBERS = membersOf<PriorityRequest>({ priority: true });

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class PriorityController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Changes the priority of an open run, and of its work items that wait. The response contains `data`, `index` and `lastError`
   * only if the caller also has the scope `conductor:viewer`.
   *
   * @summary Set the priority of a run
   * @param id The id of the run
   */
  @Put('{id}/priority')
  @Response<Problem>(400, 'The body is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(409, 'The run has ended')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'PriorityRequest')
  async setWorkflowPriority(
    @Path() id: string,
    @Body() body: PriorityRequest,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    refuseUnknown(body, MEMBERS, '');
    const workflowId = checkedName(id, 'workflow id');
    const actor = await actorOf(request);
    const { instances } = this.#services.host;
    const priority = toPriority(body.priority);
    const run = await instances.setPriority(workflowId, priority, { actor });
    return toControlledWorkflow(run, await mayView(request, run.definitionId));
  }
}
