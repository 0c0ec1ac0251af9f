import { Controller, Get, Middlewares, Route, Tags } from '@tsoa/runtime';
import { toServerInfo } from '../wire/map/info.js';
import type { ServerInfo } from '../wire/models/info.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';

@Route('api/info')
@Tags('Server')
@Middlewares(knownQuery)
export class InfoController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Returns information about the server: its version, machine, store and backplane.
   *
   * @summary Get server information
   */
  @Get()
  async getInfo(): Promise<ServerInfo> {
    return toServerInfo(this.#services.host.info(), this.#services);
  }
}
