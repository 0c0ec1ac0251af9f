/**
 * Counts the valid calls of each webhook in its current minute on this node. Names come from stored webhooks, so there are few.
 */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';

const WINDOW_MS = 60_000;

export class DeliveryRates {
  readonly #clock: Clock;
  readonly #perMinuteMax: number;
  readonly #windows = new Map<string, { readonly endsAt: number; calls: number }>();

  constructor(clock: Clock, perMinuteMax: number) {
    this.#clock = clock;
    this.#perMinuteMax = perMinuteMax;
  }

  /** @throws AppError `too_many_requests` */
  count(webhook: string): void {
    const now = this.#clock.now();
    const known = this.#windows.get(webhook);
    const isCurrent = known !== undefined && known.endsAt > now && known.endsAt <= now + WINDOW_MS;
    const window = isCurrent ? known : { endsAt: now + WINDOW_MS, calls: 0 };
    this.#windows.set(webhook, window);
    if (window.calls >= this.#perMinuteMax) {
      throw new AppError('too_many_requests', 'Too many calls of this webhook in this minute', {
        retryAfterSeconds: (window.endsAt - now) / 1000,
      });
    }
    window.calls += 1;
  }
}
