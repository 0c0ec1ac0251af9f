/**
 * The running server without HTTP: the services of one node, and the facade that the API calls.
 *
 * Owns: how the services are put together, in which order they start and stop. Must not know: HTTP, which store,
 * backplane or Python it was given.
 */
import type { Hint } from '../backplane/backplane.js';
import { toObject, toText } from '../engine/values/convert-input.js';
import { referenceOf } from '../engine/primitives/effects.js';
import type { JsonObject } from '../engine/values/json.js';
import { AppError } from '../base/errors.js';
import { StoreUnavailableError, type AuditEntry } from '../store/store.js';
import { explainWorkflow } from './operations/explain/explain-workflow.js';
import type { Explanation } from './operations/explain/explanation.js';
import type { ChangeFilter } from './changes/change-watch.js';
import type { EventName } from './events/event-queries.js';
import type * as Host from './host.js';
import { showGauges } from './fleet/host-gauges.js';
import { hashOf, newId } from '../base/ids.js';
import type { InstanceControl } from './operations/instance-control.js';
import { viewInstance, viewNew, viewStarted } from './operations/instance-views.js';
import type { ChildStart } from './instances/node-environment.js';
import { viewNode } from './operations/node-views.js';
import { NOT_ATOMIC, ONE_NODE_ONLY } from './fleet/node-registry.js';
import type * as Views from './operations/operator-views.js';
import { NodeServices, type NodeServicesOptions } from './node-services.js';

export interface WorkflowHostOptions extends NodeServicesOptions {
  readonly info: Omit<
    Host.ServerInfo,
    'nodeId' | 'store' | 'backplane' | 'workingSet' | 'startTime'
  >;
}

/** An instance that another node runs may end without a hint; callers that wait look again after this time. */
const END_RECHECK_MS = 2000;

export class StepwrightHost implements Host.WorkflowHost {
  readonly #options: WorkflowHostOptions;
  readonly #services: NodeServices;
  readonly #startTime: number;
  #starting = 0;
  #state: 'new' | 'running' | 'stopping' = 'new';

  constructor(options: WorkflowHostOptions) {
    this.#options = options;
    const { backplane, clock, metrics } = options;
    this.#startTime = clock.now();
    const services = new NodeServices(options, (inputs, start) => this.#startChild(inputs, start));
    this.#services = services;
    backplane.subscribe((hint) => this.#heard(hint));
    showGauges(metrics, services, options.scripts);
  }

  async start(): Promise<void> {
    const { backplane, scripts, store } = this.#options;
    await store.start();
    if (!(await store.probeAtomicity())) await this.#refuseFleet();
    await backplane.start();
    await scripts.start();
    await this.#services.nodes.start();
    await this.#services.runner.start();
    await this.#services.broker.start();
    await this.#services.housekeeping.start();
    this.#state = 'running';
  }

  /** Drains: nothing new is taken on, work in hand ends, other nodes may take over at once. */
  async stop(): Promise<void> {
    if (this.#state === 'stopping') return;
    this.#state = 'stopping';
    this.#services.changes.close();
    this.#services.endWaiters.endAll();
    await this.#services.broker.stop();
    await this.#services.housekeeping.stop();
    await this.#services.runner.stop();
    this.#services.environment.stop();
    await this.#services.nodes.stop();
    await this.#options.scripts.stop();
    await this.#options.backplane.stop();
    await this.#options.store.stop();
  }

  // -- definitions

  registerDefinition(
    document: unknown,
    idempotency: Host.IdempotencyKey | null,
    strict = false,
  ): Promise<Host.RegisteredDefinition> {
    return this.#ask(() => this.#services.catalog.register(document, idempotency, strict));
  }

  checkDefinition(document: unknown, strict = false): Promise<Host.DefinitionCheck> {
    return this.#ask(() => this.#services.catalog.check(document, strict));
  }

  getDefinition(
    id: string,
    version: number | 'latest',
  ): Promise<{ readonly document: JsonObject; readonly summary: Host.DefinitionSummary }> {
    return this.#ask(() => this.#services.catalog.get(id, version));
  }

  listDefinitions(page: Host.PageRequest): Promise<Host.Page<Host.DefinitionSummary>> {
    return this.#ask(() => this.#services.catalog.list(page));
  }

  listDefinitionVersions(
    id: string,
    page: Host.PageRequest,
  ): Promise<Host.Page<Host.DefinitionSummary>> {
    return this.#ask(() => this.#services.catalog.versions(id, page));
  }

  // -- instances

  async startWorkflow(request: Host.StartRequest): Promise<Host.InstanceView> {
    if (this.#starting >= this.#options.settings.startsMax) {
      throw new AppError('overloaded', 'Too many workflows are being started', {
        retryAfterSeconds: 1,
      });
    }
    this.#starting += 1;
    try {
      return await this.#ask(() => this.#start(request));
    } finally {
      this.#starting -= 1;
    }
  }

  getWorkflow(id: string): Promise<Host.InstanceView> {
    return this.#ask(() => this.#services.queries.read(id, viewInstance));
  }

  async waitForWorkflow(
    id: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Host.InstanceView> {
    const { clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    for (;;) {
      // The wait begins before the look, so that an end between the two is not missed.
      const isLocal = !this.#services.isShared;
      const wakeAt = isLocal ? deadline : Math.min(deadline, clock.now() + END_RECHECK_MS);
      const wait = this.#services.endWaiters.wait(id, (wake) => clock.at(wakeAt, wake), signal);
      try {
        const isOver = clock.now() >= deadline || signal.aborted || this.#state !== 'running';
        // What runs on the only node ends on it, and has not ended yet: that needs no look.
        const isKnown = !isOver && isLocal && this.#services.runner.isRunning(id);
        const view = isKnown ? null : await this.#ask(() => this.#viewWhen(id, isOver));
        if (view !== null) return view;
        const end = await wait.over;
        if (end !== null) return end;
      } finally {
        wait.cancel();
      }
    }
  }

  listWorkflows(request: Host.InstanceListRequest): Promise<Host.Page<Host.InstanceListItem>> {
    return this.#ask(() => this.#services.queries.list(request));
  }

  listWorkflowSteps(id: string, request: Host.StepListRequest): Promise<Host.Page<Host.StepView>> {
    return this.#ask(() => this.#services.queries.listSteps(id, request));
  }

  explainWorkflow(id: string): Promise<Explanation> {
    const { clock, store } = this.#options;
    const { catalog, nodes, queries } = this.#services;
    return this.#ask(() =>
      queries.read(id, (record) => explainWorkflow(record, { clock, store, catalog, nodes })),
    );
  }

  watchChanges(filter: ChangeFilter): Host.ChangeListener {
    return this.#services.changes.watch(filter);
  }

  controlWorkflow(
    id: string,
    action: Views.SteerAction,
    actor: string,
  ): Promise<Host.InstanceView> {
    return this.#ask(() => this.#services.control.steer(id, action, actor));
  }

  controlWorkflows(
    ids: readonly string[],
    action: Views.SteerAction,
    actor: string,
  ): Promise<readonly Views.ControlOutcome[]> {
    return this.#ask(() => this.#services.control.steerMany(ids, action, actor));
  }

  answerAwaitedActivity(...args: Parameters<InstanceControl['answer']>): Promise<void> {
    return this.#ask(() => this.#services.control.answer(...args));
  }

  listWorkflowActions(id: string): Promise<readonly AuditEntry[]> {
    return this.#ask(() => this.#services.control.actions(id));
  }

  // -- events and activities

  async publishEvent(request: Host.PublishRequest): Promise<Host.PublishedEvent> {
    const { publisher, queries, control } = this.#services;
    const { forWorkflow } = request;
    const published = await this.#ask(async () => {
      if (forWorkflow === undefined) return publisher.publish(request);
      await queries.load(forWorkflow.workflowId);
      const answer = await publisher.publish(request);
      await control.notePublished(forWorkflow.workflowId, request, forWorkflow.actor);
      return answer;
    });
    this.#options.metrics.eventPublished();
    return published;
  }

  listEvents(of: EventName | null, page: Host.PageRequest): Promise<Host.Page<Views.EventView>> {
    return this.#ask(() => this.#services.eventQueries.list(of, page));
  }

  getEvent(id: string): Promise<Views.StoredEventView> {
    return this.#ask(() => this.#services.eventQueries.get(id));
  }

  listEventWaiters(
    of: EventName,
    page: Host.PageRequest,
  ): Promise<Host.Page<Views.EventWaiterView>> {
    return this.#ask(() => this.#services.eventQueries.waiters(of, page));
  }

  listActivityQueues(): Promise<readonly Views.ActivityQueueView[]> {
    return this.#ask(() => this.#services.activityQueries.queues());
  }

  listActivityItems(
    name: string,
    page: Host.PageRequest,
  ): Promise<Host.Page<Views.ActivityItemView>> {
    return this.#ask(() => this.#services.activityQueries.items(name, page));
  }

  async pullActivity(request: Host.PullRequest): Promise<Host.WorkItem | null> {
    const item = await this.#ask(() => this.#services.broker.pull(request));
    if (item !== null) this.#options.metrics.activity('handed_out');
    return item;
  }

  async completeActivity(
    token: string,
    result: Parameters<Host.WorkflowHost['completeActivity']>[1],
  ): Promise<void> {
    await this.#ask(() => this.#services.broker.complete(token, result));
    this.#options.metrics.activity(result.succeeded ? 'completed' : 'failed');
  }

  extendActivity(
    token: string,
    leaseMs: number | null,
  ): Promise<{ readonly tokenExpiresAt: number }> {
    return this.#ask(() => this.#services.broker.extend(token, leaseMs));
  }

  async releaseActivity(token: string): Promise<void> {
    await this.#ask(() => this.#services.broker.releaseToken(token));
    this.#options.metrics.activity('released');
  }

  // -- custom steps

  putStepScript(name: string, source: string, strict = false): Promise<Host.StoredScript> {
    return this.#ask(() => this.#services.steps.put(name, source, strict));
  }

  getStepScript(name: string, version: number | 'latest'): Promise<Host.StepScriptView> {
    return this.#ask(() => this.#services.steps.get(name, version));
  }

  listStepScripts(page: Host.PageRequest): Promise<Host.Page<Host.StepScriptSummary>> {
    return this.#ask(() => this.#services.steps.list(page));
  }

  listStepScriptVersions(
    name: string,
    page: Host.PageRequest,
  ): Promise<Host.Page<Host.StepScriptSummary>> {
    return this.#ask(() => this.#services.steps.versions(name, page));
  }

  // -- the server itself

  async listNodes(): Promise<readonly Host.NodeView[]> {
    const { nodes } = this.#services;
    const { store } = this.#options;
    const records = await this.#ask(() => store.listNodes());
    return records.map((record) => viewNode(record, nodes, store.kind));
  }

  info(): Host.ServerInfo {
    const { backplane, info, node, store } = this.#options;
    return {
      ...info,
      startTime: this.#startTime,
      workingSet: process.memoryUsage.rss(),
      nodeId: node.id,
      store: store.kind,
      backplane: backplane.kind,
    };
  }

  readiness(): Host.Readiness {
    const reasons: string[] = [];
    if (this.#state === 'new') reasons.push('the server is starting');
    if (this.#state === 'stopping') reasons.push('the server is stopping');
    if (!this.#services.nodes.isBeating) reasons.push('the store has not answered for too long');
    return { ready: reasons.length === 0, reasons };
  }

  async metrics(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { clock, metrics, store } = this.#options;
    // Without the store the other numbers are all the more wanted.
    const statistics = await store.statistics().catch(() => null);
    if (statistics !== null) metrics.showStore(statistics, clock.now());
    const { registry } = metrics;
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  /** What instances take of the memory that they may take together, in bytes. */
  get memoryUsed(): number {
    return this.#services.runner.memory.used;
  }

  // -- private

  /** The instance, if it has ended or is wanted as it is; otherwise null. */
  #viewWhen(id: string, asItIs: boolean): Promise<Host.InstanceView | null> {
    return this.#services.queries.read(id, (record) =>
      asItIs || record.endTime !== null ? viewInstance(record) : null,
    );
  }

  /** @throws Error when this node would not be the only one on a store that cannot keep nodes apart */
  async #refuseFleet(): Promise<void> {
    const { backplane, logger } = this.#options;
    if (backplane.kind === 'redis') {
      throw new Error(`${NOT_ATOMIC}, and Redis is for several nodes: ${ONE_NODE_ONLY}`);
    }
    await this.#services.nodes.demandToBeAlone();
    logger.warn(`${NOT_ATOMIC}: ${ONE_NODE_ONLY}`);
  }

  async #start(request: Host.StartRequest): Promise<Host.InstanceView> {
    const { data, definitionId, idempotency, reference } = request;
    const definition = await this.#services.catalog.latest(definitionId);
    const id =
      idempotency === null
        ? newId(this.#options.clock.now())
        : `k-${hashOf('start', definitionId, idempotency.key)}`;
    const requestHash = idempotency?.requestHash ?? null;
    const startTime = this.#options.clock.now();
    const result = await this.#services.runner.startInstance({
      id,
      definition,
      data,
      reference,
      parent: null,
      requestHash,
      startTime,
    });
    if (result.outcome === 'exists') {
      if (result.record.requestHash === requestHash) return viewStarted(result.record, data);
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was used for a start with other data',
        { fields: { workflowId: id } },
      );
    }
    this.#options.metrics.workflowStarted();
    return viewNew(id, definition, request, startTime);
  }

  async #startChild(inputs: JsonObject, { parent, workflowId }: ChildStart) {
    const definitionId = toText(inputs['DefinitionId'] ?? null);
    const data = toObject(inputs['Data'] ?? {});
    if (!definitionId.ok) throw new AppError('invalid_request', definitionId.message);
    if (!data.ok) throw new AppError('invalid_request', `The input Data: ${data.message}`);
    const definition = await this.#services.environment.retryStore(
      () => this.#services.catalog.latest(definitionId.value),
      () => this.#state === 'stopping',
    );
    if (definition === null) throw new AppError('stopping', 'The server is stopping');
    const result = await this.#services.environment.retryStore(
      () =>
        this.#services.runner.startInstance({
          id: workflowId,
          definition,
          data: data.value,
          reference: referenceOf(inputs),
          parent,
          requestHash: null,
          startTime: this.#options.clock.now(),
        }),
      () => this.#state === 'stopping',
    );
    if (result === null) throw new AppError('stopping', 'The server is stopping');
    if (result.outcome === 'full') return result.outcome;
    this.#options.metrics.workflowStarted();
    return 'started';
  }

  #heard(hint: Hint): void {
    switch (hint.kind) {
      case 'instance':
        this.#services.runner.look(hint.id);
        break;
      case 'activity':
        this.#services.broker.offered(hint.name);
        break;
      case 'definition':
        this.#services.catalog.forget(hint.id);
        break;
      case 'step':
        this.#services.steps.forget(hint.name);
        break;
      case 'ended':
        this.#services.endWaiters.ended(hint.id);
        break;
      case 'interest':
        this.#services.changes.heardInterest();
        break;
      case 'changes':
        this.#services.changes.heardChanges(hint.changes);
        break;
    }
  }

  /** Every call from outside: refused while stopping, and a store that does not answer has its own error. */
  async #ask<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#state !== 'running') {
      const what = this.#state === 'new' ? 'starting' : 'stopping';
      throw new AppError('stopping', `The server is ${what}`, { retryAfterSeconds: 1 });
    }
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      throw new AppError('store_unavailable', 'The store does not answer', {
        cause: error,
        retryAfterSeconds: 2,
      });
    }
  }
}
