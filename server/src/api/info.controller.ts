import { Controller, Get, Middlewares, Route, Tags } from '@tsoa/runtime';
import { toServerInfo } from './map/info.js';
import type { ServerInfo } from './models/info.js';
import { knownQuery } from './query-names.js';
import type { ApiServices } from './request-context.js';

@Route('api/info')
@Tags('Server')
@Middlewares(knownQuery)
export class InfoController extends Controller {
  constructor(private readonly services: ApiServices) {
    super();
  }

  /**
   * The server that answers: its version, machine, store and backplane.
   *
   * @summary Get server information
   */
  @Get()
  async getInfo(): Promise<ServerInfo> {
    return toServerInfo(this.services.host.info());
  }
}
