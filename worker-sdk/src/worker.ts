/**
 * The worker: asks for work, has it done, reports it, and stops in order.
 *
 * Owns: its life (made, runs, stops) and its counters. Polling is the poller's business, one item the business of
 * `WorkInHand`.
 *
 * Invariants:
 *  WK1 A worker runs once. After `stop` nothing of it goes on but handlers that do not listen to their signal.
 *  WK2 Work that arrives while the worker stops is given back unstarted.
 */
import { createClient, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import { registerActivities, wholeNumber, type RegisteredActivity } from './activity-handlers.js';
import { consoleLog, type WorkerLog } from './log.js';
import { aborted, pause, type BackoffRange } from './pause.js';
import { Poller } from './poller.js';
import type { Middleware } from './run-handler.js';
import { releaseItem, WorkInHand } from './work-in-hand.js';
import { EventHub, type WorkerEvents, type WorkerStats } from './worker-events.js';
import type { AnyWorkerOptions, ServerAddress, StopOptions } from './worker-options.js';

const BACKOFF: BackoffRange = { firstMs: 100, lastMs: 5000 };
const GRACE_MS = 10_000;
/** How long handlers that were interrupted may take to end by themselves before their work is given back. */
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
    this.workerId = options.workerId ?? newWorkerId();
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
      workerId: this.workerId,
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

  /** Runs something around every handler; the first that is added is the outermost. Add it before `run`. */
  use(middleware: Middleware): this {
    this.#middleware.push(middleware);
    return this;
  }

  /** Calls the listener at every such event. @returns a function that ends this */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Counts since the worker was made. */
  stats(): WorkerStats {
    return { ...this.#stats, running: this.#poller.running, polling: this.#poller.polling };
  }

  /**
   * Works until `stop` is called or the signal fires, which stops it with the default grace. A server that is away is
   * waited for.
   *
   * @throws Error when the worker has run before
   */
  async run({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#state !== 'new') throw new Error('a worker runs once: make another one');
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
   * Stops: no more work is taken, and handlers that run may end within the grace. Then their signals fire, and what is
   * still not done is given back for other workers. Resolves when nothing is in hand; calling it again changes nothing.
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
    // Work that is given back must not come back to a poll of our own that is still open.
    await Promise.all([this.#poller.stop(), this.#settled(graceMs)]);
    for (const work of this.#inHand) work.interrupt();
    await this.#settled(SETTLE_MS);
    for (const work of this.#inHand) work.giveUp();
    await Promise.all([...this.#inHand].map((work) => work.ended));
    await Promise.all(this.#releasing);
  }

  /** Waits until nothing is in hand, or the time is over. */
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
      this.#log.warn('the server cannot be asked for work', { error, retryInMs });
    });
    this.#events.on('refused', ({ activityName, error, retryInMs }) => {
      this.#log.error('the server refuses work', { activityName, error, retryInMs });
    });
    this.#events.on('connected', ({ afterMs }) => {
      this.#log.info('the server answers again', { afterMs });
    });
  }
}

function ownClient({ baseUrl, token, fetch }: ServerAddress): StepwrightClient {
  return createClient({
    baseUrl,
    ...(token !== undefined && { token }),
    ...(fetch !== undefined && { fetch }),
  });
}

function newWorkerId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `worker-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
