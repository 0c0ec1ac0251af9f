import type { ActivityDeclarations } from './activity-types.js';
import type { Overview, ServerInfo } from './api-types.js';
import { followChanges, type Change, type StreamOptions } from './change-stream.js';
import type { CallOptions, ClientOptions } from './options.js';
import { ActivitiesResource } from './resources/activities.js';
import { BulkResource } from './resources/bulk.js';
import { DefinitionsResource } from './resources/definitions.js';
import { EventsResource } from './resources/events.js';
import { NotificationsResource } from './resources/notifications.js';
import { AuditResource } from './resources/audit.js';
import { KeysResource } from './resources/keys.js';
import { SecretsResource } from './resources/secrets.js';
import { LimitsResource } from './resources/limits.js';
import { WebhooksResource } from './resources/webhooks.js';
import { NodesResource } from './resources/nodes.js';
import { TriggersResource } from './resources/triggers.js';
import { WorkersResource } from './resources/workers.js';
import { StepsResource } from './resources/steps.js';
import { WorkflowsResource } from './resources/workflows.js';
import { Transport } from './transport.js';

/** `undefined` if the activity names are unknown. */
type Declared<D> = string extends keyof D ? undefined : D;

/** A client for one server. It holds no connections, so you don't have to close it. */
export interface StepwrightClient<D extends ActivityDeclarations = ActivityDeclarations> {
  readonly definitions: DefinitionsResource;
  readonly workflows: WorkflowsResource;
  readonly bulk: BulkResource;
  readonly events: EventsResource;
  readonly activities: ActivitiesResource<D>;
  readonly steps: StepsResource;
  readonly triggers: TriggersResource;
  readonly notifications: NotificationsResource;
  /** Bearer tokens that can be revoked at any time. */
  readonly keys: KeysResource;
  /** Who changed what. */
  readonly audit: AuditResource;
  /** The names of the secrets that the operator provides. */
  readonly secrets: SecretsResource;
  /** Limits that steps of any definition share. */
  readonly limits: LimitsResource;
  /** Calls from other systems that publish events and start runs. */
  readonly webhooks: WebhooksResource;
  readonly nodes: NodesResource;
  readonly workers: WorkersResource;
  /** The declared activities, for workers that use this client. */
  readonly declaredActivities: Declared<D>;
  /**
   * Streams changes from now on, for as long as the loop runs. The stream reconnects automatically; a `lag` change then says
   * that changes may have been missed. Load what you display once before the loop, and reload it after each `lag`. With a
   * `workflowId`, each connection starts with the current state of the run.
   *
   * @throws ApiError if the server rejects the request (401, 403); NetworkError if the first connection cannot be established
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
  /** Returns the name, version and environment of the node that responds. */
  info(options?: CallOptions): Promise<ServerInfo>;
  /** Returns statistics for the whole server: runs by status, starts and ends in the last hour and day, waiting work. */
  overview(options?: CallOptions): Promise<Overview>;
}

/**
 * Creates a client, without sending a request.
 *
 * @throws TypeError if `baseUrl` is not an HTTP or HTTPS URL; RangeError if `timeoutMs` or `integers` is invalid
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
    bulk: new BulkResource(transport),
    events: new EventsResource(transport),
    activities: new ActivitiesResource<D>(transport),
    steps: new StepsResource(transport),
    triggers: new TriggersResource(transport),
    notifications: new NotificationsResource(transport),
    keys: new KeysResource(transport),
    audit: new AuditResource(transport),
    secrets: new SecretsResource(transport),
    limits: new LimitsResource(transport),
    webhooks: new WebhooksResource(transport),
    nodes: new NodesResource(transport),
    workers: new WorkersResource(transport),
    // Without declarations, D is the general type, and `Declared<D>` is undefined.
    declaredActivities: options.activities as Declared<D>,
    stream: (streamOptions = {}) => followChanges(transport, streamOptions),
    overview: (callOptions) =>
      transport.call('get', '/api/overview', { repeatable: 'always', subject: {} }, callOptions),
    info: (callOptions) =>
      transport.call('get', '/api/info', { repeatable: 'always', subject: {} }, callOptions),
  };
}
