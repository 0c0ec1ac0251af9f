/** Sends hints: many per statement, and one statement at a time (invariant PB1 of postgres-backplane.ts). */
import type { Logger } from '../../base/logger.js';
import type { Hint } from '../backplane.js';
import type { HintPayloads } from './hint-payloads.js';

export interface HintPublisherOptions {
  readonly payloads: HintPayloads;
  readonly send: (payloads: readonly string[]) => Promise<void>;
  /** Called after each successful statement, with its start in the time of `performance.now()`. */
  readonly sent: (at: number) => void;
  readonly logger: Logger;
}

/** Maximum number of notifications per statement. */
const PAYLOADS_PER_STATEMENT = 32;
/** Minimum time between the starts of two statements. After an idle time, the first one starts immediately. */
const DISTANCE_MS_MIN = 5;
const DISTANCE_MS_MAX = 250;
/** Maximum share of its time that a node spends on notifying. */
const DISTANCE_PER_DURATION = 5;
/** How long the end of the process waits until the last hints are sent. */
const STOP_MS_MAX = 500;

export class HintPublisher {
  readonly #options: HintPublisherOptions;
  #sending: Promise<void> | null = null;
  /** Runs during the pause before the next statement. */
  #distance: NodeJS.Timeout | null = null;
  #isScheduled = false;
  #saysHello = false;
  #isStopped = false;
  #dropped = 0;

  constructor(options: HintPublisherOptions) {
    this.#options = options;
  }

  /** Hints that could not be sent. */
  get dropped(): number {
    return this.#dropped;
  }

  publish(hint: Hint): void {
    if (this.#isStopped || !this.#options.payloads.add(hint)) this.#dropped += 1;
    else this.#schedule();
  }

  /** A notification without hints: it tells the other nodes, and this node itself, that this node is listening. */
  announceNode(): void {
    this.#saysHello = true;
    this.#schedule();
  }

  /** Sends the waiting hints, if the database responds soon. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS_MAX);
    });
    await Promise.race([this.#sendAll(), late]);
    clearTimeout(timer);
    if (this.#distance !== null) clearTimeout(this.#distance);
    this.#distance = null;
  }

  async #sendAll(): Promise<void> {
    await this.#sending;
    if (!this.#options.payloads.isEmpty) await this.#send();
  }

  /** Everything published in the same turn of the event loop goes into the same statement. */
  #schedule(): void {
    if (this.#isScheduled || this.#isStopped || this.#sending !== null || this.#distance !== null)
      return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isStopped && this.#sending === null) this.#sending = this.#sendAndRest();
    });
  }

  async #sendAndRest(): Promise<void> {
    const durationMs = await this.#send();
    this.#sending = null;
    if (this.#isStopped) return;
    const distance = Math.min(
      Math.max(durationMs * DISTANCE_PER_DURATION, DISTANCE_MS_MIN),
      DISTANCE_MS_MAX,
    );
    this.#distance = setTimeout(() => {
      this.#distance = null;
      if (!this.#options.payloads.isEmpty || this.#saysHello) this.#schedule();
    }, distance);
  }

  /** Runs one statement. Returns its duration; never throws. */
  async #send(): Promise<number> {
    const { logger, payloads, send, sent } = this.#options;
    const { hints, payloads: taken } = payloads.take(PAYLOADS_PER_STATEMENT);
    this.#saysHello = false;
    const startedAt = performance.now();
    try {
      await send(taken.length > 0 ? taken : [payloads.empty()]);
      sent(startedAt);
    } catch (error) {
      this.#dropped += hints;
      logger.debug(
        { err: error, hints },
        'could not notify other nodes; they find the news in the store',
      );
    }
    return performance.now() - startedAt;
  }
}
