/** One listener's view of the change feed: the batches of its channel that it has not read yet. */
import type { ChangeBatch } from '../../backplane/backplane.js';
import type { Clock } from '../../base/clock.js';
import type { BatchReceiver, ChangeChannel } from './change-channel.js';

/** A listener that has more batches or changes to read has missed all of them. */
const PENDING_BATCHES_MAX = 20;
const PENDING_CHANGES_MAX = 1000;

const NOTHING: ChangeBatch = { workflows: [], definitions: [], lagged: false };
const LAG: ChangeBatch = { workflows: [], definitions: [], lagged: true };

export interface ChangeListener {
  /**
   * The next changes, immediately if there are any; an empty batch after `waitMs`; null if the server is stopping. Listeners
   * with the same filter get the same objects.
   */
  next(waitMs: number): Promise<ChangeBatch | null>;
  /** Must be called in the end; idempotent. */
  close(): void;
}

export class ChangeWatch implements ChangeListener, BatchReceiver {
  readonly #clock: Clock;
  readonly #channel: ChangeChannel;
  readonly #closed: () => void;
  #pending: ChangeBatch[] = [];
  #isClosed = false;
  #wake: (() => void) | null = null;

  /** `closed` is called once. */
  constructor(clock: Clock, channel: ChangeChannel, closed: () => void) {
    this.#clock = clock;
    this.#channel = channel;
    this.#closed = closed;
    channel.watches.add(this);
  }

  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  add(batch: ChangeBatch): void {
    this.#pending.push(batch);
    const isLagging = this.#wake === null && isTooMuch(this.#pending);
    if (isLagging || batch.lagged) this.#pending = [LAG];
    this.#wake?.();
  }

  async next(waitMs: number): Promise<ChangeBatch | null> {
    if (this.#pending.length === 0 && !this.#isClosed) await this.#wait(waitMs);
    return this.#isClosed ? null : (this.#pending.shift() ?? NOTHING);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake?.();
    this.#channel.removeWatch(this);
    this.#closed();
  }

  #wait(waitMs: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#wake = null;
        cancel();
        resolve();
      };
      const cancel = this.#clock.at(this.#clock.now() + waitMs, wake);
      this.#wake = wake;
      this.#channel.asked();
    });
  }
}

function isTooMuch(batches: readonly ChangeBatch[]): boolean {
  if (batches.length > PENDING_BATCHES_MAX) return true;
  let changes = 0;
  for (const { definitions, workflows } of batches)
    changes += definitions.length + workflows.length;
  return changes > PENDING_CHANGES_MAX;
}
