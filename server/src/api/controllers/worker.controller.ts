import {
  Controller,
  Get,
  Middlewares,
  Queries,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import { toWorkerList, toWorkerListRequest } from '../wire/map/worker.js';
import type { Problem } from '../wire/models/problem.js';
import type { WorkerList, WorkerQuery } from '../wire/models/worker.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';

@Route('api/workers')
@Tags('Activities')
@Middlewares(knownQuery)
export class WorkerController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the workers that poll this server or hold work items: first the workers waiting for work, then the most recent pollers.
   * Polls on other nodes appear with the node's next heartbeat, within a few seconds.
   *
   * @summary List workers
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listWorkers(@Queries() query: WorkerQuery): Promise<WorkerList> {
    return toWorkerList(await this.#services.host.workers.list(toWorkerListRequest(query)));
  }
}
