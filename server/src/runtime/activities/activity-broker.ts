/**
 * Hands activities to workers: waiting polls are answered as soon as work appears, and each item goes to one worker.
 *
 * Owns: the polls that wait on this node. Must not know: workflows, HTTP. The store decides which worker gets an item. A worker
 * that waits here gets a new item as soon as the instance that creates it commits.
 *
 *  AC1 An item is handed out only after its claim is stored.
 *  AC2 A poll whose caller has disconnected or lost its permission gets nothing, and releases an item that it got at the last
 *      moment; that attempt doesn't count.
 *  AC8 Memory for an item is reserved before the item is claimed. An item that doesn't fit waits unclaimed.
 */
import { AppError } from '../../base/errors.js';
import { currentCaller } from '../../base/limits/current-caller.js';
import type { HeldMemory } from '../../base/limits/held-memory.js';
import { CanceledError } from '../../base/slices.js';
import type { Logger } from '../../base/logger.js';
import {
  isLongActivity,
  type ActivityClaim,
  type NewActivityRecord,
} from '../../store/records/activities.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { PullRequest, WorkItem } from './activity-types.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import { PollCounts, type PollCount } from '../workers/poll-counts.js';
import type { Service } from '../../base/service.js';
import type { ReservedActivity, WorkerReservations } from '../instance-state/unsaved-changes.js';
import { RefusedLately } from '../../base/limits/refused-lately.js';
import type { PreparedClaim, WorkClaims } from './work-claims.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { WorkMemory, type WorkRoom } from './work-memory.js';
import { WorkerRegistry, type WorkerIdentity } from '../workers/worker-registry.js';

const SERVE_WIDTH_MAX = 16;

export interface ActivityBrokerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'activity'>;
  readonly claims: WorkClaims;
  readonly waitersMax: number;
  /** While a poll is waiting, the store is searched at this interval for work that this node was not notified of. */
  readonly scanIntervalMs: () => number;
  /** Notifies other nodes that work of this name is available. */
  readonly hintOthers: (name: string) => void;
}

interface Waiter {
  readonly name: string;
  readonly workerId: string;
  readonly leaseMs: number | null;
  /** True if the poll doesn't wait: it is answered after one search. */
  readonly looksOnce: boolean;
  /** Null if no caller made the poll. */
  readonly memory: HeldMemory | null;
  /** Aborted when its time is up, its caller has disconnected, or the server stops. */
  readonly over: AbortController;
  answer(item: WorkItem | null): void;
  fail(error: unknown): void;
}

interface Reservation {
  readonly waiter: Waiter;
  readonly prepared: PreparedClaim;
  readonly room: WorkRoom;
}

export class ActivityBroker implements Service, WorkerReservations {
  readonly #options: ActivityBrokerOptions;
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** Polls that wait for memory for an item. */
  readonly #waitingForMemory = new Set<Waiter>();
  readonly #memory = new WorkMemory();
  readonly #reservations = new Map<string, Reservation>();
  readonly #refused: RefusedLately;
  /** Names for which the store is being searched; `again` is true if another search must follow. */
  readonly #serving = new Map<string, { again: boolean }>();
  readonly #scan: PeriodicTask;
  readonly #polls = new PollCounts();
  readonly workers = new WorkerRegistry();
  #waiting = 0;
  #stopping = false;

  constructor(options: ActivityBrokerOptions) {
    this.#options = options;
    this.#refused = new RefusedLately(options.clock);
    this.#scan = new PeriodicTask({
      name: 'look for waiting work',
      clock: options.clock,
      logger: options.logger,
      intervalMs: options.scanIntervalMs,
      run: () => this.#lookForWork(),
    });
  }

  async start(): Promise<void> {
    await this.#scan.start();
  }

  /** Answers every poll: this node hands out no more work. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scan.stop();
    for (const waiters of [...this.#waiters.values()]) {
      for (const waiter of [...waiters]) waiter.answer(null);
    }
    for (const { over } of this.#waitingForMemory) over.abort();
  }

  /** Names that workers are waiting for on this node first, then the most recently polled ones. */
  polls(limit: number): readonly PollCount[] {
    return this.#polls.newest(limit);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The oldest waiting item; null if none arrived in time. @throws AppError `too_many_requests`, `stopping` */
  async pull(request: PullRequest): Promise<WorkItem | null> {
    if (this.#stopping) {
      throw new AppError('stopping', 'The server is stopping', { retryAfterSeconds: 1 });
    }
    if (request.timeoutMs > 0 && this.#waiting >= this.#options.waitersMax) {
      throw new AppError('too_many_requests', 'Too many workers are waiting on this server', {
        retryAfterSeconds: 1,
      });
    }
    const item = await this.#wait(request);
    return item === null ? null : this.#handOver(item, request.signal);
  }

  /** Called when work of this name may be available: created, released, on another node, or after a lease expired. */
  offered(name: string): void {
    const serving = this.#serving.get(name);
    if (serving !== undefined) serving.again = true;
    else if (this.#waiters.has(name)) void this.#serve(name);
  }

  /** Announces work of this name to waiting workers on all nodes. */
  announce(name: string): void {
    this.offered(name);
    this.#options.hintOthers(name);
  }

  // -- WorkerReservations: workers for activities that are being created

  reserve({ id, length, name, needsSlots }: ReservedActivity): ActivityClaim | null {
    if (needsSlots && this.#refused.has(name)) return null;
    const [next] = this.#waiters.get(name) ?? [];
    // Without memory for it, the item is offered to all workers.
    const room = next === undefined ? null : this.#memory.tryReserve(next.memory, length);
    if (room === null) return null;
    const [waiter] = this.#takeWaiters(name, 1);
    if (waiter === undefined) return null;
    const prepared = this.#options.claims.prepare(id, waiter);
    this.#reservations.set(id, { waiter, prepared, room });
    return prepared.claim;
  }

  refused(activityId: string): void {
    const reservation = this.#reservations.get(activityId);
    if (reservation !== undefined) this.#refused.add(reservation.waiter.name);
    this.release(activityId);
  }

  release(activityId: string): void {
    const reservation = this.#reservations.get(activityId);
    if (reservation === undefined) return;
    this.#reservations.delete(activityId);
    reservation.room.release();
    this.#waitOn(reservation.waiter);
    this.offered(reservation.waiter.name);
  }

  /** Called when these activities are durable: sends the reserved ones to their workers, and offers the others. */
  created(activities: readonly NewActivityRecord[]): void {
    const names = new Set<string>();
    for (const activity of activities) {
      const reservation = this.#reservations.get(activity.id);
      if (reservation === undefined) {
        names.add(activity.name);
        continue;
      }
      this.#reservations.delete(activity.id);
      const { prepared, waiter } = reservation;
      waiter.answer(this.#options.claims.deliver({ ...activity, attempt: 1 }, prepared));
    }
    for (const name of names) this.announce(name);
  }

  #wait(request: PullRequest): Promise<WorkItem | null> {
    const { clock } = this.#options;
    return new Promise<WorkItem | null>((resolve, reject) => {
      const { leaseMs, name, workerId } = request;
      const worker = identityOf(request);
      let cancelTimer = (): void => undefined;
      const end = (): void => {
        cancelTimer();
        request.signal.removeEventListener('abort', giveUp);
        this.#removeWaiter(waiter);
        this.#waiting -= 1;
        this.#polls.pollEnded(name, clock.now());
        this.workers.pollEnded(worker, name, clock.now());
      };
      const waiter: Waiter = {
        name,
        workerId,
        leaseMs,
        looksOnce: request.timeoutMs === 0,
        memory: currentCaller()?.memory ?? null,
        over: new AbortController(),
        answer(item) {
          end();
          resolve(item);
        },
        fail(error) {
          end();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      };
      const giveUp = (): void => {
        waiter.over.abort();
        // A poll with a running search is answered with the result of that search.
        if (this.#isWaiting(waiter)) waiter.answer(null);
      };
      this.#waiting += 1;
      this.#polls.pollBegan(name, clock.now());
      this.workers.pollBegan(worker, name, clock.now());
      this.#addWaiter(waiter);
      if (!waiter.looksOnce) cancelTimer = clock.at(clock.now() + request.timeoutMs, giveUp);
      request.signal.addEventListener('abort', giveUp);
      this.offered(name);
    });
  }

  async #handOver(item: WorkItem, signal: AbortSignal): Promise<WorkItem | null> {
    if (!signal.aborted) return this.#reveal(item);
    await this.#giveBack(item);
    return null;
  }

  async #reveal(item: WorkItem): Promise<WorkItem | null> {
    try {
      const revealed = await this.#options.claims.reveal(item);
      if (revealed !== null) this.#options.metrics.activity('handed_out');
      return revealed;
    } catch (error) {
      await this.#giveBack(item);
      throw error;
    }
  }

  async #giveBack(item: WorkItem): Promise<void> {
    await this.#options.claims.giveBack(item.token, 'undelivered').catch((error: unknown) => {
      this.#options.logger.warn(
        { err: error },
        'could not release a work item that its caller did not get',
      );
    });
  }

  /** Answers waiting polls of a name while there is work; one search at a time for each name. */
  async #serve(name: string): Promise<void> {
    const running = this.#serving.get(name);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const state = { again: true };
    this.#serving.set(name, state);
    try {
      while (state.again) {
        state.again = false;
        await this.#serveWaiting(name);
      }
    } catch (error) {
      this.#options.logger.warn({ err: error, activityName: name }, 'could not look for work');
    } finally {
      this.#serving.delete(name);
    }
  }

  /** Claims one item first, then larger groups while there are more. */
  async #serveWaiting(name: string): Promise<void> {
    for (let width = 1; ; width = Math.min(width * 2, SERVE_WIDTH_MAX)) {
      // An empty result also answers all polls that do not wait, wherever they are in the queue.
      const looking = [...(this.#waiters.get(name) ?? [])].filter(({ looksOnce }) => looksOnce);
      const waiters = this.#takeWaiters(name, width);
      if (waiters.length === 0) return;
      const served = await Promise.all(waiters.map((waiter) => this.#serveOne(waiter)));
      if (served.every(Boolean)) continue;
      for (const waiter of looking) if (this.#isWaiting(waiter)) waiter.answer(null);
      return;
    }
  }

  /** Returns false if there is no item. */
  async #serveOne(waiter: Waiter): Promise<boolean> {
    const { memory, name } = waiter;
    const taken = await this.#take(waiter, this.#memory.now(name, memory));
    if (typeof taken === 'boolean' || memory === null) return taken !== false;
    void this.#serveLong(waiter, { memory, length: taken });
    // A later poll's caller may have memory left.
    return true;
  }

  /** Serves a poll without enough memory as soon as memory is available. */
  async #serveLong(
    waiter: Waiter,
    { length, memory }: { readonly length: number; readonly memory: HeldMemory },
  ): Promise<void> {
    this.#waitingForMemory.add(waiter);
    try {
      for (let next: number | boolean = length; typeof next === 'number';) {
        const room = waiter.looksOnce
          ? this.#memory.reserveNow(memory, next)
          : await this.#memory.reserve(memory, next, waiter.over.signal);
        next = await this.#take(waiter, room);
      }
      // It may have missed an offer.
      if (this.#isWaiting(waiter)) this.offered(waiter.name);
    } catch (error) {
      if (error instanceof CanceledError) waiter.answer(null);
      else waiter.fail(error);
    } finally {
      this.#waitingForMemory.delete(waiter);
    }
  }

  /**
   * True: the poll got an item. False: there is none. A number: the length of the next one, for which there isn't enough
   * memory.
   */
  async #take(waiter: Waiter, room: WorkRoom): Promise<boolean | number> {
    const { name } = waiter;
    try {
      const taken = await this.#options.claims.take(name, waiter, room.lengthMax);
      if (taken !== null && !isLongActivity(taken)) {
        this.#memory.learn(name, taken.storedLength);
        room.resize(taken.storedLength);
        waiter.answer(taken);
        return true;
      }
      room.release();
      if (taken !== null) {
        this.#memory.learn(name, taken.parametersLength);
        return taken.parametersLength;
      }
      this.#waitOn(waiter);
    } catch (error) {
      room.release();
      waiter.fail(error);
    }
    return false;
  }

  /** No work was found for this poll: it continues to wait, unless its time is up. */
  #waitOn(waiter: Waiter): void {
    if (waiter.over.signal.aborted || waiter.looksOnce || this.#stopping) waiter.answer(null);
    else this.#addWaiter(waiter);
  }

  async #lookForWork(): Promise<void> {
    const names = [...this.#waiters.keys()];
    if (names.length === 0) return;
    const { clock, store } = this.#options;
    for (const name of await store.findAvailableActivities(names, clock.now())) this.offered(name);
  }

  #takeWaiters(name: string, count: number): readonly Waiter[] {
    const taken = [...(this.#waiters.get(name) ?? [])].slice(0, count);
    for (const waiter of taken) this.#removeWaiter(waiter);
    return taken;
  }

  #addWaiter(waiter: Waiter): void {
    const waiters = this.#waiters.get(waiter.name) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(waiter.name, waiters);
  }

  #removeWaiter(waiter: Waiter): void {
    const waiters = this.#waiters.get(waiter.name);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(waiter.name);
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#waiters.get(waiter.name)?.has(waiter) === true;
  }
}

const UNKNOWN_ORIGIN = { host: null, version: null, address: null };

function identityOf({ origin = UNKNOWN_ORIGIN, workerId }: PullRequest): WorkerIdentity {
  return { workerId, ...origin };
}
