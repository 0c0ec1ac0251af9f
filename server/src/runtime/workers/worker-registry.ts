/**
 * The workers that poll this node: who they are, and which activities they poll for.
 *
 * Bounded in number and age, so that a client that sends a new id with every poll costs a bounded amount of memory. It is only
 * shown to operators.
 */

/** Beyond this number, the least recently seen workers are dropped; workers that are waiting for work last. */
export const WORKERS_MAX = 1000;
/** Maximum number of activities remembered per worker. */
const ACTIVITIES_MAX = 32;
const AGE_MS_MAX = 24 * 3_600_000;

/** A worker's identity: its own statement, or the known facts about a client without one. */
export interface WorkerIdentity {
  /** Empty if the client sends none. */
  readonly workerId: string;
  readonly host: string | null;
  readonly version: string | null;
  /** The network address of its last poll. */
  readonly address: string | null;
}

export interface PolledActivity {
  readonly name: string;
  /** Polls that are waiting now. */
  readonly polling: number;
  /** When a poll last arrived or ended, in milliseconds since 1970. */
  readonly lastPollAt: number;
}

export interface SeenWorker extends WorkerIdentity {
  readonly lastPollAt: number;
  readonly activities: readonly PolledActivity[];
}

interface Entry {
  identity: WorkerIdentity;
  lastPollAt: number;
  /** In order of their last poll, the oldest first. */
  readonly activities: Map<string, { polling: number; lastPollAt: number }>;
}

/** Clients without an id are distinguished by address. */
export function workerKey({ address, workerId }: Pick<WorkerIdentity, 'workerId' | 'address'>) {
  return workerId === '' ? `@${address ?? ''}` : `=${workerId}`;
}

export class WorkerRegistry {
  /** In order of their last poll, the oldest first. */
  readonly #workers = new Map<string, Entry>();

  pollBegan(identity: WorkerIdentity, name: string, now: number): void {
    const key = workerKey(identity);
    const entry = this.#workers.get(key) ?? { identity, lastPollAt: now, activities: new Map() };
    entry.identity = identity;
    this.#workers.delete(key);
    this.#workers.set(key, entry);
    touch(entry, name, 1, now);
    this.#removeOld(now);
  }

  pollEnded(identity: WorkerIdentity, name: string, now: number): void {
    const entry = this.#workers.get(workerKey(identity));
    if (entry?.activities.has(name) === true) touch(entry, name, -1, now);
  }

  /** Waiting workers first, then the most recently seen ones. */
  newest(limit: number, now: number): readonly SeenWorker[] {
    this.#removeOld(now);
    return Array.from(this.#workers.values(), viewEntry)
      .sort((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)) || b.lastPollAt - a.lastPollAt)
      .slice(0, limit);
  }

  /** The number of workers that wait for each activity. */
  waitingByActivity(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { activities } of this.#workers.values()) {
      for (const [name, { polling }] of activities) {
        if (polling > 0) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    return counts;
  }

  #removeOld(now: number): void {
    for (const [key, { lastPollAt }] of this.#workers) {
      if (now - lastPollAt < AGE_MS_MAX) break;
      this.#workers.delete(key);
    }
    if (this.#workers.size <= WORKERS_MAX) return;
    let [dropped] = this.#workers.keys();
    for (const [key, { activities }] of this.#workers) {
      if ([...activities.values()].some(({ polling }) => polling > 0)) continue;
      dropped = key;
      break;
    }
    if (dropped !== undefined) this.#workers.delete(dropped);
  }
}

function touch(entry: Entry, name: string, change: number, now: number): void {
  const { activities } = entry;
  const polling = Math.max(0, (activities.get(name)?.polling ?? 0) + change);
  activities.delete(name);
  activities.set(name, { polling, lastPollAt: now });
  entry.lastPollAt = now;
  if (activities.size <= ACTIVITIES_MAX) return;
  const [oldest] = activities.keys();
  if (oldest !== undefined) activities.delete(oldest);
}

function viewEntry({ activities, identity, lastPollAt }: Entry): SeenWorker {
  return {
    ...identity,
    lastPollAt,
    activities: Array.from(activities, ([name, polls]) => ({ name, ...polls })),
  };
}

function isWaiting({ activities }: SeenWorker): boolean {
  return activities.some(({ polling }) => polling > 0);
}
