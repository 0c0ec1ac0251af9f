import { Controller, Get, Middlewares, Route, Security, Tags } from '@tsoa/runtime';
import { toNode } from '../wire/map/node.js';
import type { NodePage } from '../wire/models/node.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';

@Route('api/node')
@Tags('Server')
@Middlewares(knownQuery)
export class NodeController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the nodes that share the store, each with its load at the last heartbeat, a few seconds ago. A dead node stays in the
   * list for a while.
   *
   * @summary List nodes
   */
  @Get()
  @Security('bearer', ['conductor:viewer'])
  async listNodes(): Promise<NodePage> {
    const nodes = await this.#services.host.nodes.list();
    return { items: nodes.map(toNode), nextCursor: null };
  }
}
