/**
 * The running server without HTTP: one node, and the areas that the API calls.
 *
 * Owns: the order in which services start and stop, the reaction to hints from other nodes, and the service methods that
 * clients can call. Must not know: HTTP, and the kind of its store, backplane or Python.
 *
 * Callers' arguments are checked by type but not by value: validating lengths, casing and formats is the API's job. Times are
 * milliseconds since 1970. Every call may throw AppError. Each method documents the codes that are specific to it; any method
 * can also throw `store_unavailable`, `overloaded` or `stopping`.
 */
import type { Hint } from '../backplane/backplane.js';
import type { Service } from '../base/service.js';
import { SharedWork } from '../base/shared-work.js';
import type { ChangeFeed } from './changes/change-feed.js';
import { showStatisticsAge, showGauges } from './host-gauges.js';
import { NOT_ATOMIC, ONE_NODE_ONLY } from './fleet/node-registry.js';
import { EventTakers } from './events/event-takers.js';
import { StatisticsCache } from './fleet/statistics-cache.js';
import type { Readiness, ServerInfo } from './fleet/node-types.js';
import type { NodeServicesOptions } from './node-options.js';
import { NodeServices } from './node-services.js';
import { SecretList } from './operations/secret-list.js';
import { OverviewQueries } from './operations/overview-queries.js';
import { UndoPreviews } from './operations/undo-previews.js';

export interface HostOptions extends NodeServicesOptions {
  readonly info: Pick<ServerInfo, 'name' | 'version' | 'machineName' | 'osVersion'>;
}

/** The operations available to clients, by area: the methods of the services themselves, behind the gate. */
function areasOf(services: NodeServices, { clock, store }: Pick<HostOptions, 'clock' | 'store'>) {
  const { gate } = services;
  return {
    definitions: definitionCalls(services),
    customSteps: gate.before(services.steps, 'put', 'get', 'list', 'listVersions'),
    instances: {
      ...instanceCalls(services),
      ...gate.before(undoPreviewsOf(services, { store, clock }), 'previewUndo'),
    },
    triggers: triggerCalls(services),
    events: {
      ...gate.before(services.publisher, 'publish'),
      ...gate.before(services.eventQueries, 'get', 'list', 'listWaiters'),
      ...gate.before(new EventTakers({ store, clock, catalog: services.catalog }), 'canTake'),
    },
    activities: {
      ...gate.before(services.broker, 'pull'),
      ...gate.before(services.claims, 'complete', 'extend', 'release', 'assertWithin'),
      ...gate.before(services.activityQueries, 'listQueues', 'listItems'),
    },
    bulk: gate.before(services.bulk.jobs, 'create', 'preview', 'get', 'list', 'listRuns', 'stop'),
    notifications: notificationCalls(services),
    keys: keyCalls(services),
    secrets: gate.before(new SecretList(services.catalog, services.secrets), 'list'),
    webhooks: {
      ...gate.before(services.webhooks.calls, 'put', 'get', 'list', 'remove'),
      ...gate.before(services.webhooks.receiver, 'receive'),
    },
    limits: gate.before(services.limits.calls, 'put', 'get', 'list', 'remove'),
    audit: {
      ...gate.before(services.access.auditLog, 'list'),
      // Completed changes are recorded even while the server stops.
      record: services.access.auditLog.record.bind(services.access.auditLog),
    },
    nodes: gate.before(services.nodeQueries, 'list'),
    workers: gate.before(services.workerQueries, 'list'),
  };
}

function undoPreviewsOf(
  { catalog, queries }: NodeServices,
  options: Pick<HostOptions, 'clock' | 'store'>,
): UndoPreviews {
  return new UndoPreviews({ ...options, catalog, queries });
}

function instanceCalls(services: NodeServices) {
  const { gate } = services;
  return {
    ...gate.before(services.starts, 'start'),
    ...gate.before(services.restarts, 'restart'),
    ...gate.before(services.purges, 'purge'),
    ...gate.before(services.exports, 'export'),
    ...gate.before(
      services.queries,
      'get',
      'getInput',
      'list',
      'count',
      'countOpenSteps',
      'listSteps',
      'explain',
      'explainMany',
      'find',
      'definitionOf',
      'within',
    ),
    ...gate.before(services.failureQueries, 'listFailures'),
    ...gate.before(
      services.control,
      'control',
      'controlMany',
      'answerActivity',
      'setTags',
      'setPriority',
      'listActions',
    ),
    // Each of their reads passes the gate, so that a wait ends when the server stops.
    modify: services.repairs.modify.bind(services.repairs),
    rerun: services.repairs.rerun.bind(services.repairs),
    wait: services.ends.wait.bind(services.ends),
  };
}

function definitionCalls({ catalog, gate }: NodeServices) {
  return gate.before(
    catalog,
    'register',
    'check',
    'get',
    'types',
    'setDisabled',
    'source',
    'list',
    'listVersions',
  );
}

function triggerCalls({ gate, triggers }: NodeServices) {
  const { control } = triggers;
  return gate.before(control, 'list', 'schedule', 'pause', 'resume', 'fire', 'backfill');
}

function keyCalls({ access, gate }: NodeServices) {
  return {
    ...gate.before(access.keys, 'create', 'list', 'remove'),
    ...gate.before(access.verifier, 'verify'),
  };
}

function notificationCalls({ gate, notifications }: NodeServices) {
  return gate.before(
    notifications.calls,
    'put',
    'get',
    'list',
    'pause',
    'resume',
    'remove',
    'listDeliveries',
    'redeliver',
    'test',
  );
}

type Areas = ReturnType<typeof areasOf>;

/** In Prometheus text format. */
export interface MetricsText {
  readonly text: string;
  readonly contentType: string;
}

export class Host implements Service {
  readonly definitions: Areas['definitions'];
  readonly customSteps: Areas['customSteps'];
  readonly instances: Areas['instances'];
  readonly triggers: Areas['triggers'];
  readonly keys: Areas['keys'];
  readonly secrets: Areas['secrets'];
  readonly webhooks: Areas['webhooks'];
  readonly limits: Areas['limits'];
  readonly audit: Areas['audit'];
  readonly events: Areas['events'];
  readonly activities: Areas['activities'];
  readonly bulk: Areas['bulk'];
  readonly notifications: Areas['notifications'];
  readonly nodes: Areas['nodes'];
  readonly workers: Areas['workers'];
  readonly overview: Pick<OverviewQueries, 'overview'>;
  readonly changes: Pick<ChangeFeed, 'watch'>;
  readonly #options: HostOptions;
  readonly #services: NodeServices;
  readonly #statistics: StatisticsCache;
  readonly #metrics = new SharedWork<MetricsText>();
  readonly #startTime: number;

  constructor(options: HostOptions) {
    this.#options = options;
    const { backplane, clock, metrics, scripts, store } = options;
    this.#startTime = clock.now();
    this.#services = new NodeServices(options);
    const areas = areasOf(this.#services, options);
    this.definitions = areas.definitions;
    this.customSteps = areas.customSteps;
    this.instances = areas.instances;
    this.triggers = areas.triggers;
    this.keys = areas.keys;
    this.secrets = areas.secrets;
    this.webhooks = areas.webhooks;
    this.limits = areas.limits;
    this.audit = areas.audit;
    this.events = areas.events;
    this.activities = areas.activities;
    this.bulk = areas.bulk;
    this.notifications = areas.notifications;
    this.nodes = areas.nodes;
    this.workers = areas.workers;
    this.changes = this.#services.changes;
    backplane.subscribe(
      (hint) => this.#heard(hint),
      () => this.#services.isShared,
    );
    showGauges(metrics, this.#services, scripts);
    const { nodes } = this.#services;
    this.#statistics = new StatisticsCache({ store, clock, nodes: () => nodes.others.length + 1 });
    showStatisticsAge(metrics, this.#statistics);
    this.overview = this.#createOverview();
  }

  async start(): Promise<void> {
    const { backplane, scripts, store } = this.#options;
    await store.start();
    if (!(await store.probeAtomicity())) await this.#refuseFleet();
    await backplane.start();
    await scripts.start();
    // A node that takes over must know whom to tell of the changes.
    await this.#services.notifications.deliverer.start();
    await this.#services.nodes.start();
    await this.#services.runner.start();
    this.#services.slots.start();
    await this.#services.broker.start();
    await this.#services.housekeeping.start();
    await this.#services.indexRefresh.start();
    await this.#services.bulk.runner.start();
    await this.#services.triggers.scan.start();
    this.#services.gate.open();
  }

  /** Drains: rejects new work and finishes the current work. Other nodes may take over immediately. */
  async stop(): Promise<void> {
    const { gate } = this.#services;
    if (gate.state === 'stopping') return;
    gate.close();
    this.#services.changes.close();
    this.#services.endWaiters.endAll();
    await this.#services.triggers.scan.stop();
    await this.#services.bulk.runner.stop();
    await this.#services.broker.stop();
    await this.#services.claims.stop();
    await this.#services.indexRefresh.stop();
    await this.#services.housekeeping.stop();
    await this.#services.publisher.stop();
    this.#services.results.stop();
    await this.#services.runner.stop();
    // Its last commits have freed slots, too.
    this.#services.slots.stop();
    await this.#services.notifications.deliverer.stop();
    this.#services.followUp.stop();
    await this.#services.inputSchemas.stop();
    await this.#services.nodes.stop();
    await this.#options.scripts.stop();
    await this.#options.backplane.stop();
    await this.#options.store.stop();
    await this.#options.tracing?.stop();
  }

  info(): ServerInfo {
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

  readiness(): Readiness {
    const reasons: string[] = [];
    const { gate, nodes } = this.#services;
    if (gate.state !== 'open') reasons.push(`the server is ${gate.state}`);
    if (!nodes.hasHeartbeat) reasons.push('the store has not responded for too long');
    return { ready: reasons.length === 0, reasons };
  }

  /** Computed once for concurrent callers. */
  metrics(): Promise<MetricsText> {
    return this.#metrics.get('all', async (begins) => {
      begins();
      return this.#readMetrics();
    });
  }

  async #readMetrics(): Promise<MetricsText> {
    const { clock, metrics } = this.#options;
    const statistics = await this.#statistics.read();
    if (statistics !== null) metrics.showStore(statistics, clock.now());
    const uses = await this.#services.limits.calls.uses().catch(() => null);
    if (uses !== null) metrics.limits.show(uses);
    const { registry } = metrics;
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  #createOverview(): Pick<OverviewQueries, 'overview'> {
    const { activityQueries, gate, history, nodes } = this.#services;
    const queries = new OverviewQueries({
      ...this.#options,
      history,
      nodes,
      activities: activityQueries,
      statisticsCache: this.#statistics,
      startTime: this.#startTime,
    });
    return gate.before(queries, 'overview');
  }

  /** Bytes of the shared instance memory that are in use. */
  get memoryUsed(): number {
    return this.#services.runner.memory.used;
  }

  /** @throws Error if other nodes use a store that supports only one node */
  async #refuseFleet(): Promise<void> {
    const { backplane, logger } = this.#options;
    if (backplane.kind === 'redis') {
      throw new Error(
        `${NOT_ATOMIC}, and redis is set, which is for several nodes: ${ONE_NODE_ONLY}`,
      );
    }
    await this.#services.nodes.requireOneNode();
    logger.warn(`${NOT_ATOMIC}: ${ONE_NODE_ONLY}`);
  }

  #heard(hint: Hint): void {
    switch (hint.kind) {
      case 'instance':
        this.#services.runner.heard(hint);
        break;
      case 'activity':
        this.#services.broker.offered(hint.name);
        break;
      case 'definition':
        this.#services.catalog.forget(hint.id);
        this.#services.indexRefresh.noted(hint.id);
        this.#services.triggers.scan.soon();
        break;
      case 'step':
        this.#services.steps.forget(hint.name);
        break;
      case 'limit':
        this.#services.limits.list.forget(hint.name);
        break;
      case 'notifications':
        this.#services.notifications.deliverer.refreshSoon();
        break;
      case 'ended':
        this.#services.endWaiters.ended(hint.id);
        break;
      case 'interest':
        this.#services.changes.receiveInterest();
        break;
      case 'changes':
        this.#services.changes.receiveChanges(hint.changes);
        break;
    }
  }
}
