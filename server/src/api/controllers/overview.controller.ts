import { Controller, Get, Middlewares, Request, Route, Security, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { allowedNames } from '../access/authentication.js';
import { toOverview } from '../wire/map/overview.js';
import type { Overview } from '../wire/models/overview.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';

@Route('api/overview')
@Tags('Server')
@Middlewares(knownQuery)
export class OverviewController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Returns statistics for the whole server: runs by status and definition, runs started and ended in the last hour and day,
   * waiting work, and nodes. Starts and ends are counted in memory, so these counts are lost when a node stops.
   *
   * @summary Get the overview
   */
  @Get()
  @Security('bearer', ['conductor:viewer'])
  async getOverview(@Request() request: HttpRequest): Promise<Overview> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    return toOverview(await this.#services.host.overview.overview(allowed));
  }
}
