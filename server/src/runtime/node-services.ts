/**
 * Constructs and connects the services of one node.
 *
 * The services know each other only through the options passed here; `host.ts` starts and stops them, and exposes them to
 * clients.
 */
import type { ControlAction } from '../store/records/control.js';
import type { InstanceRecord, InstanceSummary } from '../store/records/instances.js';
import type { InboxMessage } from '../store/records/messages.js';
import type { PostedMessage } from '../store/records/posted-messages.js';
import { InputSchemas } from '../schemas/input-schemas.js';
import { NodeQueries } from './fleet/node-queries.js';
import { InstanceEnds } from './operations/instance-ends.js';
import { createStarts, type StartServices } from './create-starts.js';
import { RequestGate } from './operations/request-gate.js';
import { ResultResender } from './activities/result-resender.js';
import { ActivityQueries } from './activities/activity-queries.js';
import { ChangeFeed } from './changes/change-feed.js';
import { EndWaiters } from './instances/end-waiters.js';
import { Evaluator } from './passes/evaluator.js';
import { EventPublisher } from './events/event-publisher.js';
import { EventQueries } from './events/event-queries.js';
import { createHousekeeping } from './create-housekeeping.js';
import type { Housekeeping } from './housekeeping/housekeeping.js';
import { IndexRefresh } from './housekeeping/index-refresh.js';
import { createBulk, type BulkServices } from './create-bulk.js';
import { InstanceControl } from './operations/instance-control.js';
import { InstanceExports } from './operations/instance-exports.js';
import { InstancePurges } from './operations/instance-purges.js';
import { InstanceRepairs } from './operations/repair/instance-repairs.js';
import { FailureQueries } from './operations/failure-queries.js';
import { InstanceQueries } from './operations/instance-queries.js';
import { InstanceRestarts } from './operations/instance-restarts.js';
import { InstanceRunner } from './instances/instance-runner.js';
import { activityNames } from './instance-state/instance-views.js';
import { CommitFollowUp } from './instances/commit-follow-up.js';
import { NodeEnvironment } from './instances/node-environment.js';
import { StepBodies } from '../step-bodies/step-bodies.js';
import { LoadMeter } from './fleet/load-meter.js';
import type { NodeServicesOptions } from './node-options.js';
import { WorkerQueries } from './activities/worker-queries.js';
import * as details from './fleet/node-details.js';
import { createDefinitions, type DefinitionServices } from './create-definitions.js';
import { createNotifications } from './create-notifications.js';
import { NodeRegistry } from './fleet/node-registry.js';
import { RunHistory } from './fleet/run-history.js';
import { readPolling } from './fleet/node-views.js';
import type { ReadingGate } from './memory/reading-gate.js';
import { createReadingGates } from './memory/reading-gates.js';
import { createWorkers, type WorkerServices } from './create-workers.js';
import { createTriggers, type TriggerServices } from './create-triggers.js';
import { createAccess, type AccessServices } from './create-access.js';
import { createWebhooks } from './create-webhooks.js';
import { NO_SECRETS } from '../secrets/secret-source.js';
import { Secrets } from './secrets/secrets.js';

/** Scan interval of a single node, which makes all changes itself; the scan only recovers from errors. */
const SCAN_MS_ALONE = 5000;

export class NodeServices {
  readonly gate = new RequestGate();
  readonly endWaiters: EndWaiters;
  readonly inputSchemas = new InputSchemas();
  readonly changes: ChangeFeed;
  readonly steps: DefinitionServices['steps'];
  readonly limits: DefinitionServices['limits'];
  readonly catalog: DefinitionServices['catalog'];
  readonly secrets: Secrets;
  readonly claims: WorkerServices['claims'];
  readonly broker: WorkerServices['broker'];
  readonly slots: WorkerServices['slots'];
  readonly results: ResultResender;
  readonly publisher: EventPublisher;
  readonly environment: NodeEnvironment;
  readonly bodies: StepBodies;
  readonly followUp: CommitFollowUp;
  readonly nodes: NodeRegistry;
  readonly runner: InstanceRunner;
  readonly housekeeping: Housekeeping;
  readonly indexRefresh: IndexRefresh;
  readonly starts: StartServices['starts'];
  readonly joins: StartServices['joins'];
  readonly ends: InstanceEnds;
  readonly queries: InstanceQueries;
  readonly failureQueries: FailureQueries;
  readonly nodeQueries: NodeQueries;
  readonly control: InstanceControl;
  readonly restarts: InstanceRestarts;
  readonly purges: InstancePurges;
  readonly exports: InstanceExports;
  readonly repairs: InstanceRepairs;
  readonly bulk: BulkServices;
  readonly notifications: ReturnType<typeof createNotifications>;
  readonly triggers: TriggerServices;
  readonly access: AccessServices;
  readonly webhooks: ReturnType<typeof createWebhooks>;
  readonly eventQueries: EventQueries;
  readonly history: RunHistory;
  readonly activityQueries: ActivityQueries;
  readonly workerQueries: WorkerQueries;
  readonly #options: NodeServicesOptions;
  readonly #load = new LoadMeter();
  readonly #startTime: number;

  constructor(options: NodeServicesOptions) {
    this.#options = options;
    const { clock, store } = options;
    this.#startTime = clock.now();
    this.endWaiters = new EndWaiters(clock);
    this.history = new RunHistory(clock);
    this.changes = new ChangeFeed({
      clock,
      publish: (hint) => options.backplane.publish(hint),
      mayBeStale: () => this.#news().mayBeStale(),
    });
    const { explaining, exporting, reading } = createReadingGates(options.settings);
    const definitions = this.#createDefinitions(reading);
    ({ steps: this.steps, limits: this.limits, catalog: this.catalog } = definitions);
    this.secrets = new Secrets({ ...options, source: options.secretSource ?? NO_SECRETS });
    const workers = this.#createWorkers();
    ({ claims: this.claims, broker: this.broker, slots: this.slots } = workers);
    this.results = new ResultResender({
      ...options,
      posted: (...message) => this.runner.postedByClient(...message),
    });
    this.bodies = new StepBodies(
      options.httpRequest,
      options.customStep((name) => this.steps.find(name)),
      this.secrets,
    );
    this.notifications = createNotifications({ ...options, ...this.#news() });
    this.followUp = this.#createFollowUp();
    this.environment = this.#createEnvironment();
    this.nodes = this.#createNodes();
    this.runner = this.#createRunner();
    const { catalog, nodes } = this;
    this.failureQueries = new FailureQueries(options);
    const limits = this.limits.list;
    const gates = { reading, explaining };
    this.queries = new InstanceQueries({ store, clock, nodes, catalog, limits, ...gates });
    this.ends = this.#createEnds();
    ({ joins: this.joins, starts: this.starts } = createStarts(options, this));
    this.control = this.#createControl();
    const { queries, starts } = this;
    const changed = (record: InstanceSummary) => this.changes.controlled(record);
    this.restarts = new InstanceRestarts({ store, clock, queries, starts, changed });
    this.purges = new InstancePurges({ ...options, queries });
    this.exports = new InstanceExports({ store, catalog, queries, gate: exporting });
    this.repairs = this.#createRepairs();
    this.access = createAccess(options);
    this.bulk = this.#createBulk();
    this.triggers = createTriggers(options, this, () => this.#news().mayBeStale());
    this.publisher = this.#createPublisher();
    this.webhooks = createWebhooks(options, this);
    this.indexRefresh = this.#createIndexRefresh();
    this.housekeeping = createHousekeeping(options, this);
    this.eventQueries = new EventQueries(store, reading, this.publisher.deliveries);
    const { broker, claims } = this;
    const polling = () => readPolling(store, nodes);
    this.activityQueries = new ActivityQueries({ store, clock, polling });
    this.nodeQueries = new NodeQueries(store, nodes);
    this.workerQueries = new WorkerQueries({ store, clock, nodes, broker, claims });
  }

  /** True while other nodes share the store. */
  get isShared(): boolean {
    return this.nodes.others.length > 0;
  }

  #createNodes(): NodeRegistry {
    const { archive } = this.#options;
    return new NodeRegistry({
      ...this.#options,
      ...this.#options.settings,
      self: this.#options.node,
      details: () => {
        const { followedUntil } = this.runner;
        this.environment.changeTimes.reporting(followedUntil);
        return details.writeDetails(this.#details(), followedUntil, archive !== undefined);
      },
      onBeat: (isWritten) => this.environment.changeTimes.reported(isWritten),
      onRead: () => this.triggers.scan.nodesRead(),
      onDead: async (nodeId) => {
        await this.runner.takeOver(nodeId);
        this.slots.start();
        await this.bulk.runner.takeOver();
      },
      onLeft: () => this.slots.start(),
      hasUnfinishedWork: () => this.runner.hasUnfinishedWork,
    });
  }

  #createIndexRefresh(): IndexRefresh {
    const { catalog, nodes } = this;
    return new IndexRefresh({
      ...this.#options,
      catalog,
      isChosen: () => nodes.isChosen,
      isShared: () => this.isShared,
    });
  }

  #createRunner(): InstanceRunner {
    const { backplane, settings } = this.#options;
    return new InstanceRunner({
      environment: this.environment,
      nodes: this.nodes,
      findDefinition: (id, version) => this.catalog.find(id, version),
      committed: (...commit) => this.followUp.committed(...commit),
      hintOwner: (id, owner) =>
        backplane.publish({ kind: 'instance', id, ...(owner !== undefined && { owner }) }),
      changed: (record) => this.changes.controlled(record),
      inboxOverflowed: () => this.#options.metrics.inboxOverflowed(),
      scanIntervalMs: () =>
        this.isShared ? settings.scanIntervalMs : Math.max(settings.scanIntervalMs, SCAN_MS_ALONE),
      drainMs: settings.drainMs,
      crashesMax: settings.crashesMax,
    });
  }

  #details(): details.NodeDetails {
    const { backplane, clock } = this.#options;
    return {
      startTime: this.#startTime,
      load: {
        instancesInMemory: this.runner.inMemory,
        callsUnderWay: this.bodies.underWay,
        parkedPolls: this.broker.waiting,
        ...this.#load.read(),
      },
      pollers: this.broker.polls(details.POLLED_NAMES_MAX),
      workers: this.broker.workers.newest(details.REPORTED_WORKERS_MAX, clock.now()),
      history: this.history.report(),
      handOuts: this.claims.claimTimes.newest(details.REPORTED_CLAIM_TIMES_MAX),
      backplane: { kind: backplane.kind, connected: backplane.healthy },
    };
  }

  #createControl(): InstanceControl {
    return new InstanceControl({
      ...this.#options,
      secrets: this.secrets,
      queries: this.queries,
      controlled: (...change) => this.#controlled(...change),
      changed: (record) => {
        this.endWaiters.changed(record.id);
        this.changes.controlled(record);
      },
      posted: (...message) => this.#resultPosted(...message),
    });
  }

  async #controlled(record: InstanceRecord, action: ControlAction): Promise<void> {
    this.runner.controlled(record);
    if (action === 'terminate') this.endWaiters.ended(record.id);
    if (action === 'resume' || action === 'compensate') {
      for (const name of await activityNames(record)) this.broker.announce(name);
    }
  }

  #createRepairs(): InstanceRepairs {
    return new InstanceRepairs({
      ...this.#options,
      catalog: this.catalog,
      endWaiters: this.endWaiters,
      environment: this.environment,
      gate: this.gate,
      inputSchemas: this.inputSchemas,
      queries: this.queries,
      runner: this.runner,
      controlled: (...change) => this.#controlled(...change),
    });
  }

  #createBulk(): BulkServices {
    const { access, control, environment, nodes, purges, queries, repairs, restarts } = this;
    const services = { access, control, environment, nodes, purges, queries, repairs, restarts };
    return createBulk({ ...this.#options, ...services });
  }

  #resultPosted(posted: PostedMessage, message: InboxMessage): void {
    this.runner.postedByClient(posted, message);
    if (posted.overflowed === true) this.results.soon();
  }

  #createDefinitions(reading: ReadingGate): DefinitionServices {
    return createDefinitions({
      ...this.#options,
      ...this.#news(),
      reading,
      inputSchemas: this.inputSchemas,
      triggers: () => this.triggers.registry,
      limitChanged: (name) => this.slots.limitChanged(name),
      stored: (...version) => this.#definitionStored(...version),
    });
  }

  #definitionStored(id: string, version: number): void {
    this.changes.definitionStored(id, version);
    if (version > 1) this.indexRefresh.noted(id);
    this.#options.backplane.publish({ kind: 'definition', id });
    if (version > 1) this.environment.grantAllPlaces(id);
  }

  #createEnds(): InstanceEnds {
    const { endWaiters, gate, queries, runner } = this;
    const services = { endWaiters, gate, queries, runner };
    return new InstanceEnds({ ...this.#options, ...services, isShared: () => this.isShared });
  }

  #createPublisher(): EventPublisher {
    const { control, queries, runner } = this;
    const services = { control, queries, runner, triggers: this.triggers.events };
    return new EventPublisher({ ...this.#options, ...services });
  }

  #createWorkers(): WorkerServices {
    return createWorkers({
      ...this.#options,
      secrets: this.secrets,
      others: () => this.nodes.others,
      claimer: () => this.runner.claimer,
      posted: (...message) => this.runner.posted(...message),
      resultPosted: (...message) => this.#resultPosted(...message),
      mayBeStale: () => this.#news().mayBeStale(),
    });
  }

  #createFollowUp(): CommitFollowUp {
    const { backplane, settings } = this.#options;
    return new CommitFollowUp({
      ...this.#options,
      emitLinesPerSecondMax: settings.emitLinesPerSecondMax,
      workers: this.broker,
      lookAtLimits: (keys) => this.slots.look(keys),
      history: this.history,
      changes: this.changes,
      answered: (answers) => this.repairs.answered(answers),
      joined: (...joins) => this.joins.answered(...joins),
      ended: (view) => {
        this.endWaiters.ended(view.id, view);
        backplane.publish({ kind: 'ended', id: view.id });
      },
    });
  }

  #createEnvironment(): NodeEnvironment {
    const { scripts, settings } = this.#options;
    return new NodeEnvironment({
      ...this.#options,
      announcer: this.notifications.announcer,
      evaluator: new Evaluator(scripts, this.secrets),
      limits: settings,
      workers: this.broker,
      bodies: this.bodies,
      indexPaths: (definition) => this.catalog.indexPaths(definition),
      findDefinition: (id, version) => this.catalog.find(id, version),
      placesOf: (id) => this.catalog.placesOf(id),
      lookAtLimits: (keys) => this.slots.look(keys),
      startChild: (inputs, start) => this.starts.startChild(inputs, start),
      posted: (...message) => this.runner.posted(...message),
      controlled: (record) => this.runner.controlled(record),
    });
  }

  /** Whether this node is notified of other nodes' changes immediately. */
  #news(): { readonly isShared: () => boolean; readonly mayBeStale: () => boolean } {
    const { backplane } = this.#options;
    const hears = (): boolean => backplane.kind !== 'local' && backplane.healthy;
    return { isShared: () => this.isShared, mayBeStale: () => this.isShared && !hears() };
  }
}
