/**
 * Runs a task periodically, never twice at the same time. The pause is between the end of a round and the next start. A round is
 * the server's own work, also if a request has asked for it.
 */
import type { Logger } from './logger.js';
import type { Clock } from './clock.js';
import { runForServer } from './limits/current-caller.js';
import type { Service } from './service.js';

export interface PeriodicTaskOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly intervalMs: number | (() => number);
  readonly run: () => Promise<void>;
}

export class PeriodicTask implements Service {
  readonly #options: PeriodicTaskOptions;
  #cancel: () => void = () => undefined;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
  }

  /** Runs the first round immediately, and waits for it. */
  async start(): Promise<void> {
    if (this.#stopped) return;
    await this.runOnce();
    this.#schedule();
  }

  /** Starts the first round immediately, without waiting for it. */
  startInBackground(): void {
    void this.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    if (this.#running !== null) await this.#running;
  }

  /** If a round fails, the error is logged, and the next round runs as usual. */
  async runOnce(): Promise<void> {
    const { logger, name, run } = this.#options;
    this.#running ??= runForServer(run)
      .catch((error: unknown) => logger.warn({ err: error, task: name }, `could not ${name}`))
      .finally(() => {
        this.#running = null;
      });
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { clock, intervalMs } = this.#options;
    const pauseMs = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    const round = (): void => void this.runOnce().then(() => this.#schedule());
    this.#cancel = clock.at(clock.now() + pauseMs, round, true);
  }
}
