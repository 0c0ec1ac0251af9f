/**
 * Lists the workers of all nodes with the items that they hold.
 *
 * Polls come from this node's memory and the last heartbeats of the other nodes; held items come from the store. So a worker
 * that no node remembers is listed as long as it holds an item.
 */
import type { Clock } from '../../base/clock.js';
import { readExecutionKey } from '../../base/ids.js';
import type { ActivityListItem } from '../../store/records/activities.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import { FAR_FUTURE_MS, type Store } from '../../store/store.js';
import { readDetails } from '../fleet/node-details.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import { searches } from '../model/bounded-search.js';
import type { ActivityBroker } from './activity-broker.js';
import type { HeldItemView, WorkerList, WorkerListRequest, WorkerView } from './activity-types.js';
import type { ClaimTime } from '../workers/claim-times.js';
import {
  WORKERS_MAX,
  workerKey,
  type PolledActivity,
  type SeenWorker,
} from '../workers/worker-registry.js';
import type { WorkClaims } from './work-claims.js';

const QUEUES_MAX = 500;
/** Number of items per read. */
const ITEMS_PER_READ = 500;
/** Maximum number of items read by one call. */
const ITEMS_MAX = 10_000;
/** Maximum number of items shown per worker. */
const ITEMS_SHOWN_MAX = 50;
const CLAIM_TIMES_MAX = 5000;

export interface WorkerQueriesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly nodes: Pick<NodeRegistry, 'id' | 'looksAlive'>;
  readonly broker: Pick<ActivityBroker, 'workers'>;
  readonly claims: Pick<WorkClaims, 'claimTimes'>;
}

interface Report {
  readonly isAlive: boolean;
  readonly workers: readonly SeenWorker[];
  readonly claimTimes: readonly ClaimTime[];
}

interface HeldItem {
  readonly name: string;
  readonly item: ActivityListItem;
}

interface Entry extends Omit<WorkerView, 'activities' | 'held' | 'items' | 'polling'> {
  lastPollTime: number | null;
  readonly activities: Map<string, PolledActivity>;
  held: number;
  readonly items: HeldItemView[];
}

export class WorkerQueries {
  readonly #options: WorkerQueriesOptions;

  constructor(options: WorkerQueriesOptions) {
    this.#options = options;
  }

  /** Waiting workers first, then the most recently seen ones. */
  async list({ activityName, limit, workerId }: WorkerListRequest): Promise<WorkerList> {
    const reports = await this.#reports();
    const { exact, held } = await this.#heldItems();
    const since = newestTimes(reports);
    const entries = entriesOf(reports);
    for (const each of held) addItem(entries, each, since.get(each.item.id) ?? null);
    const workers = Array.from(entries.values(), viewEntry)
      .filter((worker) => workerId === undefined || worker.workerId === workerId)
      .filter((worker) => activityName === undefined || concerns(worker, activityName))
      .sort(compare);
    return { items: workers.slice(0, limit), count: workers.length, exact };
  }

  /** The nodes' reports. For this node, its memory is newer than its record. */
  async #reports(): Promise<readonly Report[]> {
    const { broker, claims, clock, nodes, store } = this.#options;
    const own: Report = {
      isAlive: true,
      workers: broker.workers.newest(WORKERS_MAX, clock.now()),
      claimTimes: claims.claimTimes.newest(CLAIM_TIMES_MAX),
    };
    const others = (await store.listNodes()).filter(({ id }) => id !== nodes.id);
    return [own, ...others.map((record) => this.#reportOf(record))];
  }

  #reportOf(record: NodeRecord): Report {
    const details = readDetails(record.details);
    return {
      isAlive: this.#options.nodes.looksAlive(record),
      workers: details?.workers ?? [],
      claimTimes: details?.handOuts ?? [],
    };
  }

  /** Held items of all queues, up to a limit. */
  async #heldItems(): Promise<{ readonly held: readonly HeldItem[]; readonly exact: boolean }> {
    const { clock, store } = this.#options;
    const now = clock.now();
    const queues = await store.listActivityQueues(now, QUEUES_MAX);
    const names = queues.filter((queue) => queue.held > 0).map(({ name }) => name);
    const held: HeldItem[] = [];
    let after = { availableAt: now, id: '' };
    for (const isLast of searches(clock)) {
      const [name] = names;
      if (name === undefined) return { held, exact: queues.length < QUEUES_MAX };
      const items = await store.listActivityItems(name, now, after, ITEMS_PER_READ);
      for (const item of items) if (item.claimed && !item.deferred) held.push({ name, item });
      const last = items.at(-1);
      if (items.length === ITEMS_PER_READ && last !== undefined) after = last;
      else {
        names.shift();
        after = { availableAt: now, id: '' };
      }
      if (held.length > ITEMS_MAX || isLast()) break;
    }
    return { held, exact: names.length === 0 && queues.length < QUEUES_MAX };
  }
}

/** If several nodes delivered an item in turn, the last delivery counts. */
function newestTimes(reports: readonly Report[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { activityId, at } of reports.flatMap(({ claimTimes }) => claimTimes)) {
    times.set(activityId, Math.max(at, times.get(activityId) ?? 0));
  }
  return times;
}

/** The report of the node that last saw a worker wins. */
function entriesOf(reports: readonly Report[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { isAlive, workers } of reports) {
    for (const worker of workers) {
      const key = workerKey(worker);
      const known = entries.get(key);
      const isNewer = known === undefined || worker.lastPollAt > (known.lastPollTime ?? 0);
      const entry = isNewer ? newEntry(worker, known) : known;
      entries.set(key, entry);
      for (const polled of worker.activities) addPolls(entry, polled, isAlive);
    }
  }
  return entries;
}

type Identified = Pick<SeenWorker, 'workerId' | 'host' | 'version' | 'address'>;

function newEntry(
  worker: Identified & { readonly lastPollAt: number | null },
  known?: Entry,
): Entry {
  return {
    workerId: worker.workerId,
    host: worker.host,
    version: worker.version,
    address: worker.address,
    lastPollTime: worker.lastPollAt,
    activities: known?.activities ?? new Map<string, PolledActivity>(),
    held: 0,
    items: [],
  };
}

function addPolls({ activities }: Entry, polled: PolledActivity, isAlive: boolean): void {
  const { name, lastPollAt, polling } = polled;
  const known = activities.get(name);
  activities.set(name, {
    name,
    polling: (known?.polling ?? 0) + (isAlive ? polling : 0),
    lastPollAt: Math.max(lastPollAt, known?.lastPollAt ?? 0),
  });
}

function addItem(
  entries: Map<string, Entry>,
  { item, name }: HeldItem,
  heldSince: number | null,
): void {
  const unknown = { workerId: item.workerId ?? '', host: null, version: null, address: null };
  const key = workerKey(unknown);
  const entry = entries.get(key) ?? newEntry({ ...unknown, lastPollAt: null });
  entries.set(key, entry);
  entry.held += 1;
  if (entry.items.length === ITEMS_SHOWN_MAX) return;
  entry.items.push({
    activityName: name,
    workflowId: item.instanceId,
    definitionId: item.definitionId,
    reference: item.reference,
    executionId: readExecutionKey(item.id).pointerId,
    attempt: item.attempt,
    offeredTime: item.createdAt,
    heldSince,
    leaseUntil: item.availableAt === FAR_FUTURE_MS ? null : item.availableAt,
  });
}

function viewEntry({ activities, ...entry }: Entry): WorkerView {
  const polled = [...activities.values()].sort((a, b) => b.lastPollAt - a.lastPollAt);
  return {
    ...entry,
    activities: polled,
    polling: polled.reduce((sum, { polling }) => sum + polling, 0),
  };
}

function concerns({ activities, items }: WorkerView, name: string): boolean {
  return (
    activities.some((activity) => activity.name === name) ||
    items.some(({ activityName }) => activityName === name)
  );
}

function compare(a: WorkerView, b: WorkerView): number {
  return (
    Number(b.polling > 0) - Number(a.polling > 0) ||
    (b.lastPollTime ?? 0) - (a.lastPollTime ?? 0) ||
    (a.workerId < b.workerId ? -1 : 1)
  );
}
