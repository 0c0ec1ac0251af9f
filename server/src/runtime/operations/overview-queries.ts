/**
 * Statistics of the whole fleet: runs by status and definition, starts and ends of the last hour and day, work without workers,
 * nodes.
 *
 * Everything is bounded and shared by concurrent callers, so that any number of open pages costs the same.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.js';
import { runForServer } from '../../base/limits/current-caller.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { InstanceStatus } from '../../store/records/instances.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import type { Store } from '../../store/store.js';
import type { ActivityQueries } from '../activities/activity-queries.js';
import type { ActivityQueueView } from '../activities/activity-types.js';
import { listSummaries } from '../definitions/definition-summaries.js';
import { readDetails } from '../fleet/node-details.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import {
  addUp,
  HOUR_MS,
  HOURS,
  MINUTE_MS,
  MINUTES,
  type RunBucket,
  type RunHistory,
  type RunHistoryReport,
} from '../fleet/run-history.js';
import type { StatisticsCache } from '../fleet/statistics-cache.js';
import { searches } from '../model/bounded-search.js';

/** How long an answer is cached. */
const KEPT_MS = 3000;
/** Maximum number of cached answers for callers with different prefixes. */
const REACHES_MAX = 100;
const DEFINITIONS_MAX = 100;
/** Open runs of a definition and status are counted up to this number. */
export const OPEN_RUNS_MAX = 1000;
const QUEUES_MAX = 10;

export interface OverviewQueriesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly startTime: number;
  readonly history: RunHistory;
  readonly statisticsCache: StatisticsCache;
  readonly nodes: Pick<NodeRegistry, 'id' | 'looksAlive'>;
  readonly activities: Pick<ActivityQueries, 'listQueues'>;
}

export interface OpenRuns {
  readonly definitionId: string;
  /** At most `OPEN_RUNS_MAX`; `exact` is false if there may be more. */
  readonly runnable: number;
  readonly suspended: number;
  readonly exact: boolean;
}

export interface OverviewView {
  readonly time: number;
  /** The earliest start of a live node: the history has no older counts. */
  readonly countedSince: number;
  /** Null if the store can't count now, or the caller may not see all runs. */
  readonly byStatus: Readonly<Record<InstanceStatus, number>> | null;
  readonly byStatusTime: number;
  /** Definitions with open runs, most runs first. */
  readonly definitions: readonly OpenRuns[];
  /** False: some definitions were not counted. */
  readonly definitionsExact: boolean;
  /** Empty if the caller may not see all runs, like `hours` and `queues`. */
  readonly minutes: readonly RunBucket[];
  readonly hours: readonly RunBucket[];
  /** Queues with waiting items, ordered by oldest item. */
  readonly queues: readonly ActivityQueueView[];
  readonly unattendedQueues: number;
  readonly nodes: { readonly alive: number; readonly dead: number };
}

type OpenList = Pick<OverviewView, 'definitions' | 'definitionsExact'>;

export class OverviewQueries {
  readonly #options: OverviewQueriesOptions;
  #newest: OverviewView | null = null;
  #reading: Promise<OverviewView> | null = null;
  /** Keyed by the callers' prefixes. */
  readonly #narrow = new LRUCache<
    string,
    { readonly time: number; readonly open: Promise<OpenList> }
  >({
    max: REACHES_MAX,
  });

  constructor(options: OverviewQueriesOptions) {
    this.#options = options;
  }

  /** At most a few seconds old. */
  async overview(allowed: AllowedNames): Promise<OverviewView> {
    const view = await this.#whole();
    if (allowed === 'all') return view;
    return within(
      view,
      view.definitionsExact ? listed(allowed, view) : await this.#openWithin(allowed),
    );
  }

  /** Definitions within the prefixes may all sort after the ones that the whole view has counted. */
  #openWithin(allowed: readonly string[]): Promise<OpenList> {
    const { clock, store } = this.#options;
    const key = allowed.toSorted().join('\n');
    const kept = this.#narrow.get(key);
    const time = clock.now();
    if (kept !== undefined && time - kept.time < KEPT_MS) return kept.open;
    const limit = DEFINITIONS_MAX + 1;
    // Other callers share the result.
    const open = runForServer(async () =>
      this.#openRuns(await listSummaries(store, { after: null, limit, allowed })),
    );
    this.#narrow.set(key, { time, open });
    // The next caller tries again.
    open.catch(() => this.#narrow.delete(key));
    return open;
  }

  async #whole(): Promise<OverviewView> {
    const newest = this.#newest;
    if (newest !== null && this.#options.clock.now() - newest.time < KEPT_MS) return newest;
    this.#reading ??= runForServer(() => this.#read()).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<OverviewView> {
    const { activities, clock, statisticsCache, store } = this.#options;
    const time = clock.now();
    const statistics = await statisticsCache.read();
    const waiting = (await activities.listQueues()).filter((queue) => queue.waiting > 0);
    const view: OverviewView = {
      time,
      byStatus: statistics?.instances ?? null,
      byStatusTime: time - statisticsCache.ageMs,
      ...(await this.#openRuns(
        await listSummaries(store, { after: null, limit: DEFINITIONS_MAX + 1, allowed: 'all' }),
      )),
      ...this.#fleet(await store.listNodes(), time),
      queues: waiting.sort(byAge).slice(0, QUEUES_MAX),
      unattendedQueues: waiting.filter(({ pollers }) => pollers === 0).length,
    };
    this.#newest = view;
    return view;
  }

  /** @param found one more than are counted, if there are that many */
  async #openRuns(found: readonly { readonly id: string }[]): Promise<OpenList> {
    const { clock } = this.#options;
    const left = found.slice(0, DEFINITIONS_MAX).map(({ id }) => id);
    const definitions: OpenRuns[] = [];
    for (const isLast of searches(clock)) {
      const definitionId = left.shift();
      if (definitionId === undefined) break;
      const runnable = await this.#count(definitionId, 'Runnable');
      const suspended = await this.#count(definitionId, 'Suspended');
      const exact = runnable.exact && suspended.exact;
      definitions.push({
        definitionId,
        runnable: runnable.count,
        suspended: suspended.count,
        exact,
      });
      if (isLast()) break;
    }
    return {
      definitions: definitions.filter((each) => openOf(each) > 0).sort(byOpen),
      definitionsExact: left.length === 0 && found.length <= DEFINITIONS_MAX,
    };
  }

  async #count(definitionId: string, status: InstanceStatus) {
    const filter = { definitionId, status };
    const max = OPEN_RUNS_MAX + 1;
    const found = await this.#options.store.countInstances({ filter, after: null, max });
    return {
      count: Math.min(found.count, OPEN_RUNS_MAX),
      exact: found.searchedTo === null && found.count <= OPEN_RUNS_MAX,
    };
  }

  /** The nodes' counts, including nodes that died recently. This node's memory is newer than its record. */
  #fleet(records: readonly NodeRecord[], now: number) {
    const { history, nodes, startTime } = this.#options;
    const others = records.filter(({ id }) => id !== nodes.id);
    const reports: RunHistoryReport[] = [history.report()];
    const startTimes = [startTime];
    let alive = 1;
    for (const record of others) {
      const details = readDetails(record.details);
      if (details !== null) reports.push(details.history);
      if (!nodes.looksAlive(record)) continue;
      alive += 1;
      if (details !== null) startTimes.push(details.startTime);
    }
    const minutes = reports.map((report) => report.minutes);
    const hours = reports.map((report) => report.hours);
    return {
      countedSince: Math.min(...startTimes),
      minutes: addUp(minutes, Math.floor(now / MINUTE_MS), MINUTES),
      hours: addUp(hours, Math.floor(now / HOUR_MS), HOURS),
      nodes: { alive, dead: others.length + 1 - alive },
    };
  }
}

/** Omits totals over all runs, which would reveal runs of other definitions. */
function within(view: OverviewView, open: OpenList): OverviewView {
  return {
    ...view,
    ...open,
    byStatus: null,
    minutes: [],
    hours: [],
    queues: [],
    unattendedQueues: 0,
  };
}

function listed(allowed: AllowedNames, { definitions }: OverviewView): OpenList {
  const inside = definitions.filter(({ definitionId }) => allowsName(allowed, definitionId));
  return { definitions: inside, definitionsExact: true };
}

function openOf({ runnable, suspended }: OpenRuns): number {
  return runnable + suspended;
}

function byOpen(left: OpenRuns, right: OpenRuns): number {
  return openOf(right) - openOf(left) || (left.definitionId < right.definitionId ? -1 : 1);
}

function byAge(left: ActivityQueueView, right: ActivityQueueView): number {
  return (left.oldestTime ?? Infinity) - (right.oldestTime ?? Infinity);
}
