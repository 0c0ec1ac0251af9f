import {
  Body,
  Controller,
  Extension,
  Header,
  Middlewares,
  Path,
  Post,
  Request,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { Json } from '../../engine/values/json.js';
import type {
  ModifyRequest,
  RepairedInstance,
} from '../../runtime/operations/repair/repair-types.js';
import { mayView } from '../access/authentication.js';
import { asJson, requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, type ApiServices } from '../http/request-context.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toModifyRequest, toRepairedWorkflow, toRerunRequest } from '../wire/map/repair.js';
import type { Problem } from '../wire/models/problem.js';
import type { ModificationRequest, RepairedWorkflow, RerunRequest } from '../wire/models/repair.js';

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class RepairController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Repairs a run in any status, atomically: cancels open steps, changes the data, moves the run to another version of its
   * definition, starts steps and resumes the run, in this order. Results and events that have already arrived are applied first.
   * Starting a step reopens an ended run.
   *
   * @summary Modify a run
   * @param id The id of the run
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first result with the run as it is by then, and nothing is done again. It has no meaning with `dryRun`.
   */
  @Post('{id}/modify')
  @Response<Problem>(400, 'The body is invalid, or changes nothing')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(
    409,
    'The modification is impossible: `errors` has an entry for each obstacle, and nothing has changed. Or the idempotency key was already used with a different request',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Response<Problem>(429, 'Too many modifications of this run are waiting')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'ModificationRequest')
  async modifyWorkflow(
    @Path() id: string,
    @Body() body: ModificationRequest,
    @Request() request: HttpRequest,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<RepairedWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const modification = {
      ...toModifyRequest(body),
      ...(await keyOf(request, idempotencyKey, ['modify', asJson(body)])),
    };
    const actor = await actorOf(request);
    const { instances } = this.#services.host;
    return this.#answer(request, await instances.modify(workflowId, modification, actor));
  }

  /**
   * Reruns a run from a step: cancels everything that is open, starts the step, and resumes the run if it is suspended. The run's
   * data stays the same except for the changes in `data`. Equivalent to a modification with `cancel: ["*"]`.
   *
   * @summary Rerun a run from a step
   * @param id The id of the run
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first result with the run as it is by then, and nothing is done again. It has no meaning with `dryRun`.
   */
  @Post('{id}/rerun')
  @Response<Problem>(400, 'The body is invalid')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(
    409,
    'The rerun is impossible: `errors` has an entry for each obstacle, and nothing has changed. Or the idempotency key was already used with a different request',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Response<Problem>(429, 'Too many modifications of this run are waiting')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'RerunRequest')
  async rerunWorkflow(
    @Path() id: string,
    @Body() body: RerunRequest,
    @Request() request: HttpRequest,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<RepairedWorkflow> {
    const workflowId = checkedName(id, 'workflow id');
    const rerun = {
      ...toRerunRequest(body),
      ...(await keyOf(request, idempotencyKey, ['rerun', asJson(body)])),
    };
    const actor = await actorOf(request);
    const { instances } = this.#services.host;
    return this.#answer(request, await instances.rerun(workflowId, rerun, actor));
  }

  async #answer(request: HttpRequest, repaired: RepairedInstance): Promise<RepairedWorkflow> {
    return toRepairedWorkflow(repaired, await mayView(request, repaired.instance.definitionId));
  }
}

/** @param what distinguishes requests with the same key, because both calls share the keys of a run */
async function keyOf(
  request: HttpRequest,
  key: string | undefined,
  what: Json,
): Promise<Pick<ModifyRequest, 'idempotency'>> {
  const idempotency = await toIdempotencyKey(request, key, what);
  return idempotency === null ? {} : { idempotency };
}
