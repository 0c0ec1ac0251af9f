import type { ActivityDeclarations } from './activity-types.js';
import type { ServerInfo } from './api-types.js';
import { followChanges, type Change, type StreamOptions } from './change-stream.js';
import type { CallOptions, ClientOptions } from './options.js';
import { ActivitiesResource } from './resources/activities.js';
import { DefinitionsResource } from './resources/definitions.js';
import { EventsResource } from './resources/events.js';
import { NodesResource } from './resources/nodes.js';
import { StepsResource } from './resources/steps.js';
import { WorkflowsResource } from './resources/workflows.js';
import { Transport } from './transport.js';

/** Nothing, where the names are not known. */
type Declared<D> = string extends keyof D ? undefined : D;

/** A client of one server. It holds no connections of its own and needs no closing. */
export interface StepwrightClient<D extends ActivityDeclarations = ActivityDeclarations> {
  readonly definitions: DefinitionsResource;
  readonly workflows: WorkflowsResource;
  readonly events: EventsResource;
  readonly activities: ActivitiesResource<D>;
  readonly steps: StepsResource;
  readonly nodes: NodesResource;
  /** What was declared, for workers that use this client. */
  readonly declaredActivities: Declared<D>;
  /**
   * What changes from now on, for as long as the loop runs. Lost connections are made again by themselves; `lag` then says
   * that something may have been missed. Read what you show once before the loop, and again at each `lag`. With a
   * `workflowId` each connection begins with the workflow as it is.
   *
   * @throws ApiError when the server refuses (401, 403), NetworkError when it cannot be reached at first
   *
   * @example
   * ```ts
   * const stop = new AbortController();
   * const watching = (async () => {
   *   for await (const change of client.stream({ definitionId: 'greeting', signal: stop.signal })) {
   *     if (change.type !== 'workflow' || change.workflow.status !== 'Complete') continue;
   *     console.log('completed'); // completed
   *     stop.abort();
   *   }
   * })();
   * while (!stop.signal.aborted) {
   *   await client.workflows.start('greeting', { name: 'Ada' });
   *   await new Promise((resolve) => setTimeout(resolve, 200));
   * }
   * await watching;
   * ```
   */
  stream(options?: StreamOptions): AsyncIterable<Change>;
  /** The server that answers. */
  info(options?: CallOptions): Promise<ServerInfo>;
}

/**
 * Makes a client. No call is made before the first one that you make.
 *
 * @throws TypeError when `baseUrl` is not an HTTP address
 *
 * @example
 * ```ts
 * import { createClient } from '@stepwright/sdk';
 *
 * const client = createClient({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   timeoutMs: 20_000,
 *   retry: { limit: 3 },
 *   // token: () => freshToken(),
 * });
 * const { name, version } = await client.info();
 * console.log(name, version);
 * ```
 */
export function createClient<const D extends ActivityDeclarations = ActivityDeclarations>(
  options: ClientOptions<D>,
): StepwrightClient<D> {
  const transport = new Transport(options);
  return {
    definitions: new DefinitionsResource(transport),
    workflows: new WorkflowsResource(transport),
    events: new EventsResource(transport),
    activities: new ActivitiesResource<D>(transport),
    steps: new StepsResource(transport),
    nodes: new NodesResource(transport),
    // Without declarations D is the type of all of them.
    declaredActivities: options.activities as Declared<D>,
    stream: (streamOptions = {}) => followChanges(transport, streamOptions),
    info: (callOptions) =>
      transport.call('get', '/api/info', { repeatable: 'always', subject: {} }, callOptions),
  };
}
