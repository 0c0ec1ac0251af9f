import {
  Controller,
  Get,
  Produces,
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
import { definitionsWithin } from '../../base/allowed-names.js';
import { sendChanges } from '../http/event-stream.js';
import { checkedName } from '../wire/map/name.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { addressOf, contextOf, responseOf, type ApiServices } from '../http/request-context.js';

@Route('api/stream')
@Tags('Workflows')
@Middlewares(knownQuery)
export class StreamController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Streams changes as server-sent events while the connection lasts. The stream doesn't include earlier changes, so fetch the
   * lists after each connect.
   *
   * A `workflow` event reports that a run was started, has advanced or was controlled; its data is a WorkflowSummary. A run that
   * changes often is reported at most ten times per second, with its current state.
   *
   * A `definition` event reports a new version: `{"id", "version"}`.
   *
   * A `lag` event means that some changes are missing because there were too many, or because another node can't be reached.
   * Fetch the lists again.
   *
   * While nothing changes, the server sends a comment line every 15 seconds. The stream ends when the token expires,
   * when the API key is removed, and when the server stops.
   *
   * @summary Follow changes
   * @param workflowId Report only this run
   * @param definitionId Report only this definition and its runs
   */
  @Get()
  @Produces('text/event-stream')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async streamChanges(
    @Request() request: HttpRequest,
    @Query() workflowId?: string,
    @Query() definitionId?: string,
  ): Promise<string> {
    const { host, waiting } = this.#services;
    const filter = {
      ...definitionsWithin(await allowedNames(request, 'conductor:viewer')),
      ...(workflowId !== undefined && { workflowId: checkedName(workflowId, 'workflow id') }),
      ...(definitionId !== undefined && {
        definitionId: checkedName(definitionId, 'definition id'),
      }),
    };
    const { admission } = contextOf(request);
    await waiting.guard(addressOf(request), () =>
      sendChanges(responseOf(request), host.changes.watch(filter), admission),
    );
    return '';
  }
}
