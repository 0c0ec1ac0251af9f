import type { ActivityDeclarations } from './activity-types.js';
import type { ServerInfo } from './api-types.js';
import type { CallOptions, ClientOptions } from './options.js';
import { ActivitiesResource } from './resources/activities.js';
import { DefinitionsResource } from './resources/definitions.js';
import { EventsResource } from './resources/events.js';
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
  /** What was declared, for workers that use this client. */
  readonly declaredActivities: Declared<D>;
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
    // Without declarations D is the type of all of them.
    declaredActivities: options.activities as Declared<D>,
    info: (callOptions) =>
      transport.call('get', '/api/info', { repeatable: 'always', subject: {} }, callOptions),
  };
}
