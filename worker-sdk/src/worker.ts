/**
 * The worker: claims work, runs its handlers, reports the results, and shuts down gracefully.
 *
 * Owns: its lifecycle (created, running, stopping) and its counters. The poller is responsible for polling, `WorkInHand` for
 * one item.
 *
 * Invariants:
 *  WK1 A worker runs once. After `stop`, nothing is left running except handlers that ignore their signal.
 *  WK2 Work that arrives while the worker is stopping is released without being started.
 */
import { createClient, pause, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import { registerActivities, wholeNumber, type RegisteredActivity } from './activity-handlers.js';
import { consoleLog, type WorkerLog } from './log.js';
import { aborted, type BackoffRange } from './backoff.js';
import { Poller } from './poller.js';
import type { Middleware } from './run-handler.js';
import { releaseItem, WorkInHand } from './work-in-hand.js';
import { identityOf } from './worker-identity.js';
import { EventHub, type WorkerEvents, type WorkerStats } from './worker-events.js';
import type { AnyWorkerOptions, ServerAddress, StopOptions } from './worker-options.js';

const BACKOFF: BackoffRange = { firstMs: 100, lastMs: 5000 };
const GRACE_MS = 10_000;
/** How long interrupted handlers may take to finish before their work is released. */
const SETTLE_MS = 500;

type Counters = { -readonly [K in Exclude<keyof WorkerStats, 'running' | 'polling'>]: number };

export class ActivityWorker {
  readonly workerId: string;
  readonly #client: StepwrightClient;
  readonly #log: WorkerLog;
  readonly #events: EventHub;
  readonly #poller: Poller;
  readonly #middleware: Middleware[] = [];
  readonly #inHand = new Set<WorkInHand>();
  readonly #releasing = new Set<Promise<unknown>>();
  readonly #stats: Counters = {
    polls: 0,
    received: 0,
    succeeded: 0,
    failed: 0,
    dropped: 0,
    released: 0,
  };
  readonly #stopped = new AbortController();
  #state: 'new' | 'running' | 'stopping' = 'new';

  constructor(options: AnyWorkerOptions) {
    this.#client = options.client ?? ownClient(options);
    const identity = identityOf(options);
    this.workerId = identity.workerId;
    this.#log = options.log ?? consoleLog;
    this.#events = new EventHub((error) => this.#log.error('a listener failed', { error }));
    const concurrency = wholeNumber('concurrency', options.concurrency, 10);
    const activities = registerActivities(
      options.activities,
      options.declaredActivities ?? this.#client.declaredActivities,
      { concurrency, leaseSeconds: wholeNumber('leaseSeconds', options.leaseSeconds, 30) },
    );
    this.#poller = new Poller({
      client: this.#client,
      identity,
      activities,
      concurrency,
      pollSeconds: wholeNumber('pollSeconds', options.pollSeconds, 20),
      backoff: BACKOFF,
      events: this.#events,
      reportsAreIn: () =>
        Promise.all([...this.#inHand].flatMap(({ pendingReport }) => pendingReport ?? [])),
      take: (item, activity) => this.#take(item, activity),
    });
    this.#countEvents();
  }

  /** Adds middleware, which wraps every handler. The first one added is the outermost. Add it before `run`. */
  use(middleware: Middleware): this {
    this.#middleware.push(middleware);
    return this;
  }

  /** Calls the listener for every event with this name. @returns a function that removes the listener */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Returns the counters since the worker was created. */
  stats(): WorkerStats {
    return { ...this.#stats, running: this.#poller.running, polling: this.#poller.polling };
  }

  /**
   * Runs until `stop` is called or the signal is aborted, which stops the worker with the default grace period. If the server
   * is unavailable, the worker waits for it.
   *
   * @throws Error if the worker has run before
   */
  async run({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#state !== 'new') throw new Error('a worker can run only once; create a new one');
    this.#state = 'running';
    this.#events.emit('started', { workerId: this.workerId });
    const stop = (): void => void this.stop();
    if (signal?.aborted === true) stop();
    else this.#poller.start();
    signal?.addEventListener('abort', stop, { once: true });
    await aborted(this.#stopped.signal);
    signal?.removeEventListener('abort', stop);
  }

  /**
   * Stops the worker: it claims no more work, and running handlers may finish within the grace period. Then it aborts their
   * signals, and releases unfinished work for other workers. Resolves when the worker holds no work. Further calls only wait.
   */
  async stop({ graceMs = GRACE_MS }: StopOptions = {}): Promise<void> {
    if (this.#state !== 'stopping') {
      this.#state = 'stopping';
      this.#events.emit('stopping', { running: this.#inHand.size });
      await this.#drain(graceMs);
      this.#events.emit('stopped', this.stats());
      this.#stopped.abort();
    }
    await aborted(this.#stopped.signal);
  }

  async #drain(graceMs: number): Promise<void> {
    // Close the polls first: otherwise, an open poll of this worker could claim the released work again.
    await Promise.all([this.#poller.stop(), this.#settled(graceMs)]);
    for (const work of this.#inHand) work.interrupt();
    await this.#settled(SETTLE_MS);
    for (const work of this.#inHand) work.giveUp();
    await Promise.all([...this.#inHand].map((work) => work.ended));
    await Promise.all(this.#releasing);
  }

  /** Waits until the worker holds no work, or the time is up. */
  async #settled(ms: number): Promise<void> {
    const over = new AbortController();
    const all = Promise.all([...this.#inHand].map((work) => work.ended));
    await Promise.race([all, pause(ms, over.signal)]);
    over.abort();
  }

  async #take(item: WorkItem, activity: RegisteredActivity): Promise<void> {
    const shared = { client: this.#client, item, events: this.#events, log: this.#log };
    if (this.#state === 'stopping') {
      const release = releaseItem(this.#client, item, this.#events, this.#log);
      this.#releasing.add(release);
      await release;
      this.#releasing.delete(release);
      return;
    }
    const work = new WorkInHand({
      ...shared,
      activity,
      middleware: this.#middleware,
      backoff: BACKOFF,
    });
    this.#inHand.add(work);
    await work.ended;
    this.#inHand.delete(work);
  }

  #countEvents(): void {
    const count = (name: keyof Counters) => (): void => void (this.#stats[name] += 1);
    this.#events.on('polled', count('polls'));
    for (const name of ['received', 'succeeded', 'failed', 'dropped', 'released'] as const) {
      this.#events.on(name, count(name));
    }
    this.#events.on('disconnected', ({ error, retryInMs }) => {
      this.#log.warn('the server is unavailable', { error, retryInMs });
    });
    this.#events.on('refused', ({ activityName, error, retryInMs }) => {
      this.#log.error('the server rejects polls', { activityName, error, retryInMs });
    });
    this.#events.on('connected', ({ afterMs }) => {
      this.#log.info('the server is available again', { afterMs });
    });
  }
}

function ownClient({ baseUrl, token, fetch, integers }: ServerAddress): StepwrightClient {
  return createClient({
    baseUrl,
    ...(token !== undefined && { token }),
    ...(fetch !== undefined && { fetch }),
    ...(integers !== undefined && { integers }),
  });
}
