/**
 * Constructs and connects the services of one node.
 *
 * The services know each other only through the options passed here; `host.ts` starts and stops them, and exposes them to
 * clients.
 */
import type { Backplane } from '../backplane/backplane.js';
import type { Logger } from '../base/logger.js';
import type { ScriptRuntime } from '../scripts/script-runtime.js';
import type { CustomStepBody, CustomStepOptions } from '../step-bodies/custom-step.js';
import type { StepBody } from '../step-bodies/step-body.js';
import type { InboxMessage, PostedMessage } from '../store/records/messages.js';
import type { NodeRecord } from '../store/records/nodes.js';
import type { Store } from '../store/store.js';
import { InputSchemas } from '../schemas/input-schemas.js';
import { WorkClaims } from './activities/work-claims.js';
import { NodeQueries } from './fleet/node-queries.js';
import { WorkflowEnds } from './operations/workflow-ends.js';
import { WorkflowStarts } from './operations/workflow-starts.js';
import { RequestGate } from './request-gate.js';
import { ResultResender } from './activities/result-resender.js';
import { ActivityBroker } from './activities/activity-broker.js';
import { ActivityQueries } from './activities/activity-queries.js';
import type { RunnerLimits } from './instances/runner-environment.js';
import { ChangeFeed } from './changes/change-feed.js';
import type { Clock } from '../base/clock.js';
import { DefinitionCatalog } from './definitions/definition-catalog.js';
import { EndWaiters } from './instances/end-waiters.js';
import { Evaluator } from './passes/evaluator.js';
import { EventPublisher } from './events/event-publisher.js';
import { EventQueries } from './events/event-queries.js';
import { Housekeeping } from './recovery/housekeeping.js';
import { IndexRefresh } from './recovery/index-refresh.js';
import { InstanceControl } from './operations/instance-control.js';
import { InstanceQueries } from './operations/instance-queries.js';
import { InstanceRunner } from './instances/instance-runner.js';
import { activityNames } from './operations/instance-views.js';
import { CommitFollowUp } from './instances/commit-follow-up.js';
import { NodeEnvironment } from './instances/node-environment.js';
import { StepBodies } from '../step-bodies/step-bodies.js';
import { LoadMeter } from './fleet/load-meter.js';
import { POLLED_NAMES_MAX, writeDetails, type NodeDetails } from './fleet/node-details.js';
import { NodeRegistry } from './fleet/node-registry.js';
import { pollingOf } from './fleet/node-views.js';
import { ReadingGate } from './memory/reading-gate.js';
import type { RuntimeMetrics } from './fleet/runtime-metrics.js';
import { StepScripts } from './definitions/step-scripts.js';

export interface NodeServicesOptions {
  readonly store: Store;
  readonly backplane: Backplane;
  readonly scripts: ScriptRuntime;
  readonly httpRequest: StepBody;
  /** The body of custom steps; it finds its scripts through `find`. */
  readonly customStep: (find: CustomStepOptions['find']) => CustomStepBody;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly node: Omit<NodeRecord, 'beatAt' | 'details'>;
  readonly processIsGone: (node: NodeRecord) => boolean;
  readonly settings: HostSettings;
}

export interface HostSettings extends RunnerLimits {
  /** Maximum number of concurrent starts; more are rejected. */
  readonly startsMax: number;
  /** Maximum number of lines per second that the EmitLog steps of one definition may write. */
  readonly emitLinesPerSecondMax: number;
  readonly waitersMax: number;
  readonly instanceRetentionMs: number;
  readonly eventRetentionMs: number;
  readonly scanIntervalMs: number;
  readonly drainMs: number;
  readonly crashesMax: number;
  readonly beatIntervalMs: number;
  readonly leaseMs: number;
  readonly repairIntervalMs: number;
  readonly purgeIntervalMs: number;
}

/** Scan interval while the store is the only way to learn of changes on other nodes. */
const SCAN_MS_WITHOUT_HINTS = 1000;
const SCAN_MS_WITH_HINTS = 10_000;
/** Scan interval of a single node. It learns of everything itself; the scan only recovers from errors. */
const SCAN_MS_ALONE = 5000;

/** The share of memory for instances that are read for display, in addition to that for instances at work. */
const READING_SHARE = 1 / 4;
/** Reads at the same time: enough to keep the store busy. */
const READS_MAX = 16;
/** Explanations at the same time, which keep the processor busy. */
const EXPLANATIONS_MAX = 4;

export class NodeServices {
  readonly gate = new RequestGate();
  readonly endWaiters: EndWaiters;
  readonly inputSchemas = new InputSchemas();
  readonly changes: ChangeFeed;
  readonly steps: StepScripts;
  readonly catalog: DefinitionCatalog;
  readonly claims: WorkClaims;
  readonly broker: ActivityBroker;
  readonly results: ResultResender;
  readonly publisher: EventPublisher;
  readonly environment: NodeEnvironment;
  readonly bodies: StepBodies;
  readonly followUp: CommitFollowUp;
  readonly nodes: NodeRegistry;
  readonly runner: InstanceRunner;
  readonly housekeeping: Housekeeping;
  readonly indexRefresh: IndexRefresh;
  readonly starts: WorkflowStarts;
  readonly ends: WorkflowEnds;
  readonly queries: InstanceQueries;
  readonly nodeQueries: NodeQueries;
  readonly control: InstanceControl;
  readonly eventQueries: EventQueries;
  readonly activityQueries: ActivityQueries;
  readonly #options: NodeServicesOptions;
  readonly #load = new LoadMeter();
  readonly #startTime: number;

  constructor(options: NodeServicesOptions) {
    this.#options = options;
    const { clock, store } = options;
    this.#startTime = clock.now();
    this.endWaiters = new EndWaiters(clock);
    this.changes = new ChangeFeed({
      clock,
      publish: (hint) => options.backplane.publish(hint),
      mayBeStale: () => this.#news().mayBeStale(),
    });
    this.steps = this.#createSteps();
    this.catalog = this.#createCatalog();
    this.claims = this.#createClaims();
    this.broker = this.#createBroker();
    this.results = new ResultResender({
      ...options,
      posted: (...message) => this.runner.postedByClient(...message),
    });
    this.bodies = new StepBodies(
      options.httpRequest,
      options.customStep((name) => this.steps.find(name)),
    );
    this.followUp = this.#createFollowUp();
    this.environment = this.#createEnvironment();
    this.nodes = new NodeRegistry({
      ...options,
      ...options.settings,
      self: options.node,
      details: () => writeDetails(this.#details(), this.runner.followedUntil),
      onDead: (nodeId) => this.runner.takeOver(nodeId),
      leavesWork: () => this.runner.leavesWork,
    });
    this.runner = this.#createRunner();
    const readingMax = options.settings.instanceMemoryMax * READING_SHARE;
    const reading = new ReadingGate(readingMax - readingMax / 4, READS_MAX);
    const explaining = new ReadingGate(readingMax / 4, EXPLANATIONS_MAX);
    const { catalog, nodes } = this;
    this.queries = new InstanceQueries({ store, clock, nodes, catalog, reading, explaining });
    this.ends = this.#createEnds();
    this.starts = this.#createStarts();
    this.control = this.#createControl();
    this.publisher = this.#createPublisher();
    this.indexRefresh = this.#createIndexRefresh();
    this.housekeeping = new Housekeeping({
      ...options,
      ...options.settings,
      publisher: this.publisher,
      results: this.results,
    });
    this.eventQueries = new EventQueries(store, reading);
    this.activityQueries = new ActivityQueries({
      store,
      clock,
      polling: async () => {
        const records = await store.listNodes();
        return (name) => pollingOf(name, records, this.nodes);
      },
    });
    this.nodeQueries = new NodeQueries(store, nodes);
  }

  /** True while other nodes share the store. */
  get isShared(): boolean {
    return this.nodes.others.length > 0;
  }

  #createIndexRefresh(): IndexRefresh {
    const { catalog, nodes } = this;
    return new IndexRefresh({
      ...this.#options,
      catalog,
      isChosen: () => nodes.others.every(({ id }) => nodes.id < id),
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
      hintOwner: (id) => backplane.publish({ kind: 'instance', id }),
      changed: (record) => this.changes.controlled(record),
      inboxOverflowed: () => this.#options.metrics.inboxOverflowed(),
      scanIntervalMs: () => (this.isShared ? settings.scanIntervalMs : SCAN_MS_ALONE),
      drainMs: settings.drainMs,
      crashesMax: settings.crashesMax,
    });
  }

  #details(): NodeDetails {
    const { backplane } = this.#options;
    return {
      startTime: this.#startTime,
      load: {
        instancesInMemory: this.runner.inMemory,
        callsUnderWay: this.bodies.underWay,
        parkedPolls: this.broker.waiting,
        ...this.#load.read(),
      },
      pollers: this.broker.polls(POLLED_NAMES_MAX),
      backplane: { kind: backplane.kind, connected: backplane.healthy },
    };
  }

  #createControl(): InstanceControl {
    return new InstanceControl({
      ...this.#options,
      queries: this.queries,
      controlled: async (record, action) => {
        this.runner.controlled(record);
        if (action === 'terminate') this.endWaiters.ended(record.id);
        if (action === 'resume' || action === 'compensate') {
          for (const name of await activityNames(record)) this.broker.announce(name);
        }
      },
      changed: (record) => {
        this.endWaiters.changed(record.id);
        this.changes.controlled(record);
      },
      posted: (...message) => this.#resultPosted(...message),
    });
  }

  #resultPosted(posted: PostedMessage, message: InboxMessage): void {
    this.runner.postedByClient(posted, message);
    if (posted.overflowed === true) this.results.soon();
  }

  #createSteps(): StepScripts {
    return new StepScripts({
      ...this.#options,
      ...this.#news(),
      hintOthers: (name) => this.#options.backplane.publish({ kind: 'step', name }),
    });
  }

  #createCatalog(): DefinitionCatalog {
    return new DefinitionCatalog({
      ...this.#options,
      ...this.#news(),
      stepScripts: this.steps,
      inputSchemas: this.inputSchemas,
      stored: (id, version) => {
        this.changes.definitionStored(id, version);
        if (version > 1) this.indexRefresh.noted(id);
        this.#options.backplane.publish({ kind: 'definition', id });
      },
    });
  }

  #createStarts(): WorkflowStarts {
    const { catalog, endWaiters, ends, environment, gate, inputSchemas, runner } = this;
    const { clock, metrics, settings } = this.#options;
    return new WorkflowStarts({
      clock,
      metrics,
      catalog,
      ends,
      environment,
      inputSchemas,
      runner,
      replaced: (record) => {
        runner.controlled(record);
        endWaiters.ended(record.id);
      },
      startsMax: settings.startsMax,
      isStopping: () => gate.state === 'stopping',
    });
  }

  #createEnds(): WorkflowEnds {
    const { endWaiters, gate, queries, runner } = this;
    const { clock } = this.#options;
    return new WorkflowEnds({
      clock,
      gate,
      queries,
      runner,
      endWaiters,
      isShared: () => this.isShared,
    });
  }

  #createPublisher(): EventPublisher {
    return new EventPublisher({
      ...this.#options,
      queries: this.queries,
      control: this.control,
      posted: (...message) => this.runner.postedByClient(...message),
    });
  }

  #createClaims(): WorkClaims {
    return new WorkClaims({
      ...this.#options,
      posted: (...message) => this.#resultPosted(...message),
      offer: (name) => this.broker.announce(name),
    });
  }

  #createBroker(): ActivityBroker {
    const { backplane, settings } = this.#options;
    const { mayBeStale } = this.#news();
    return new ActivityBroker({
      ...this.#options,
      claims: this.claims,
      waitersMax: settings.waitersMax,
      scanIntervalMs: () => (mayBeStale() ? SCAN_MS_WITHOUT_HINTS : SCAN_MS_WITH_HINTS),
      hintOthers: (name) => backplane.publish({ kind: 'activity', name }),
    });
  }

  #createFollowUp(): CommitFollowUp {
    const { backplane, settings } = this.#options;
    return new CommitFollowUp({
      ...this.#options,
      emitLinesPerSecondMax: settings.emitLinesPerSecondMax,
      workers: this.broker,
      changes: this.changes,
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
      evaluator: new Evaluator(scripts),
      limits: settings,
      workers: this.broker,
      bodies: this.bodies,
      indexPaths: (definition) => this.catalog.indexPaths(definition),
      startChild: (inputs, start) => this.starts.startChild(inputs, start),
      posted: (...message) => this.runner.posted(...message),
      controlled: (record) => this.runner.controlled(record),
    });
  }

  /** Whether this node learns immediately what other nodes do. */
  #news(): { readonly isShared: () => boolean; readonly mayBeStale: () => boolean } {
    const { backplane } = this.#options;
    const hears = (): boolean => backplane.kind !== 'local' && backplane.healthy;
    return { isShared: () => this.isShared, mayBeStale: () => this.isShared && !hears() };
  }
}
