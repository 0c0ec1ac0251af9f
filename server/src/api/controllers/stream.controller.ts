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
   * What changes from now on, as server-sent events, for as long as the connection lasts. Read the lists after each
   * connect; what changed before is not told.
   *
   * `workflow` tells of a workflow after it was started, has come further or was controlled; its data is a
   * WorkflowSummary. A workflow that changes often is told of at most ten times a second, as it is then.
   *
   * `definition` tells of a new version: `{"id", "version"}`.
   *
   * `lag` means that more changed than could be told, or may have changed on a node that cannot be heard: read the lists
   * again.
   *
   * A comment line comes every 15 seconds while nothing happens. The stream ends when the token expires or the server
   * stops.
   *
   * @summary Follow changes
   * @param workflowId Tell only of this workflow
   * @param definitionId Tell only of this definition and its workflows
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
      ...(workflowId !== undefined && { workflowId: checkedName(workflowId, 'workflow id') }),
      ...(definitionId !== undefined && {
        definitionId: checkedName(definitionId, 'definition id'),
      }),
    };
    const token = await contextOf(request).verifiedToken;
    await waiting.guard(addressOf(request), () =>
      sendChanges(responseOf(request), host.changes.watch(filter), token?.expiresAt ?? null),
    );
    return '';
  }
}
