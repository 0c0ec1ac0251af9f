import {
  Controller,
  Get,
  Middlewares,
  Query,
  Request,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { allowedNames } from '../access/authentication.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';
import { toSchedule } from '../wire/map/trigger.js';
import type { Problem } from '../wire/models/problem.js';
import type { Schedule } from '../wire/models/trigger.js';

const HOUR_MS = 3_600_000;

@Route('api/schedule')
@Tags('Triggers')
@Middlewares(knownQuery)
export class ScheduleController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the cron triggers of all definitions that fire in the next hours, each with its due times. Paused triggers and triggers
   * of disabled definitions are omitted.
   *
   * @summary List upcoming due times
   * @param hours The length of the period
   * @isInt hours must be a whole number
   * @minimum hours 1 must be at least 1
   * @maximum hours 168 must be at most 168
   * @param limit The maximum number of triggers
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async getSchedule(
    @Request() request: HttpRequest,
    @Query() hours: number = 24,
    @Query() limit: number = 100,
  ): Promise<Schedule> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    const period = { periodMs: hours * HOUR_MS, limit, allowed };
    return toSchedule(await this.#services.host.triggers.schedule(period));
  }
}
