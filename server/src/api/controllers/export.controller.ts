import {
  Controller,
  Get,
  Middlewares,
  Path,
  Request,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { sendPieces } from '../http/piecewise-answer.js';
import { exportText } from '../wire/map/export.js';
import { checkedName } from '../wire/map/name.js';
import type { WorkflowExport } from '../wire/models/export.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { responseOf, type ApiServices } from '../http/request-context.js';

@Route('api/workflow')
@Tags('Workflows')
@Middlewares(knownQuery)
export class ExportController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Returns everything that the server knows about a run as a single JSON document: the run, its definition version, input, data,
   * steps and record of actions. The response is streamed and is always JSON. If the connection closes early, the document is
   * incomplete.
   *
   * @summary Export a run
   * @param id The id of the run
   */
  @Get('{id}/export')
  @Response<Problem>(404, 'There is no such run')
  @Security('bearer', ['conductor:viewer'])
  async exportWorkflow(
    @Path() id: string,
    @Request() request: HttpRequest,
  ): Promise<WorkflowExport> {
    const workflowId = checkedName(id, 'workflow id');
    const response = responseOf(request);
    await this.#services.host.instances.export(workflowId, (exported) =>
      sendPieces(response, exportText(exported)),
    );
    // The response has already been sent.
    return null as never;
  }
}
