import {
  Body,
  Controller,
  Extension,
  Get,
  Middlewares,
  Path,
  Post,
  Put,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { mayView } from '../access/authentication.js';
import { requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';
import { checkedName } from '../wire/map/name.js';
import { toWireTime } from '../wire/map/time.js';
import { toBackfillRequest, toTrigger } from '../wire/map/trigger.js';
import { toControlledWorkflow } from '../wire/map/workflow.js';
import type { Problem } from '../wire/models/problem.js';
import type { Backfill, BackfillTimes, Trigger } from '../wire/models/trigger.js';
import type { ControlledWorkflow } from '../wire/models/workflow.js';

@Route('api/definition')
@Tags('Triggers')
@Middlewares(knownQuery)
export class TriggerController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the triggers of the newest version of a definition, in the order of the definition.
   *
   * @summary List the triggers of a definition
   * @param id The id of the definition
   */
  @Get('{id}/triggers')
  @Response<Problem>(404, 'There is no such definition')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async listTriggers(@Path() id: string): Promise<Trigger[]> {
    const definitionId = checkedName(id, 'definition id');
    return (await this.#services.host.triggers.list(definitionId)).map(toTrigger);
  }

  /**
   * Pauses a trigger on all nodes. Due times and events that occur while it is paused never start runs.
   *
   * @summary Pause a trigger
   * @param id The id of the definition
   * @param name The name of the trigger
   */
  @Put('{id}/triggers/{name}/pause')
  @Response<Problem>(404, 'There is no such definition or trigger')
  @Security('bearer', ['conductor:controller'])
  async pauseTrigger(@Path() id: string, @Path() name: string): Promise<Trigger> {
    const { triggers } = this.#services.host;
    return toTrigger(await triggers.pause(...namesOf(id, name)));
  }

  /**
   * Resumes a paused trigger. Due times and events in the pause are skipped.
   *
   * @summary Resume a trigger
   * @param id The id of the definition
   * @param name The name of the trigger
   */
  @Put('{id}/triggers/{name}/resume')
  @Response<Problem>(404, 'There is no such definition or trigger')
  @Security('bearer', ['conductor:controller'])
  async resumeTrigger(@Path() id: string, @Path() name: string): Promise<Trigger> {
    const { triggers } = this.#services.host;
    return toTrigger(await triggers.resume(...namesOf(id, name)));
  }

  /**
   * Starts a run of a trigger now, even if the trigger is paused or other runs are open. The definition's `OnConflict` applies.
   * The response shows the run before its first step; it contains `data`, `index` and `lastError` only if the caller also has the
   * scope `conductor:viewer`.
   *
   * @summary Fire a trigger
   * @param id The id of the definition
   * @param name The name of the trigger
   */
  @Post('{id}/triggers/{name}/fire')
  @SuccessResponse(201, 'Started')
  @Response<ControlledWorkflow>(
    200,
    'With `OnConflict: existing`: the run that has the reference, and may have ended',
  )
  @Response<Problem>(400, 'An expression failed, or the data does not fit the definition')
  @Response<Problem>(404, 'There is no such definition or trigger')
  @Response<Problem>(409, 'The definition is disabled, or another run has the reference')
  @Security('bearer', ['conductor:controller'])
  async fireTrigger(
    @Path() id: string,
    @Path() name: string,
    @Request() request: HttpRequest,
  ): Promise<ControlledWorkflow> {
    const { instance, isNew } = await this.#services.host.triggers.fire(...namesOf(id, name));
    this.setStatus(isNew ? 201 : 200);
    this.setHeader('Location', `/api/workflow/${encodeURIComponent(instance.id)}`);
    return toControlledWorkflow(instance, await mayView(request, instance.definitionId));
  }

  /**
   * Starts runs for the due times of a cron trigger in a period, at most 1,000, in order and according to its `Overlap`. A due
   * time that has already started a run is skipped, and so are future times: the trigger starts their runs when they are due.
   *
   * @summary Backfill runs for a period
   * @param id The id of the definition
   * @param name The name of the trigger
   */
  @Post('{id}/triggers/{name}/backfill')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(
    400,
    'The period is invalid or has too many due times, or the trigger has none',
  )
  @Response<Problem>(404, 'There is no such definition or trigger')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Response<Problem>(429, 'Too many backfills of the trigger are waiting')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'Backfill')
  async backfillTrigger(
    @Path() id: string,
    @Path() name: string,
    @Body() body: Backfill,
  ): Promise<BackfillTimes> {
    const period = toBackfillRequest(body);
    const times = await this.#services.host.triggers.backfill(...namesOf(id, name), period);
    this.setStatus(202);
    return { times: times.map(toWireTime) };
  }
}

function namesOf(id: string, name: string): [definitionId: string, name: string] {
  return [checkedName(id, 'definition id'), checkedName(name, 'trigger name')];
}
