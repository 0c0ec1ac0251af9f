/** Exponential back-off. */

/** The first and the longest pause. */
export interface BackOff {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Avoids overflow. */
const DOUBLINGS_MAX = 30;

/** The pause after this many consecutive failures (from 1), in milliseconds. */
export function backOffMs(failures: number, { firstMs, lastMs }: BackOff): number {
  return Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, DOUBLINGS_MAX));
}

/** Half of the pause is random, so that nodes that failed at the same time do not try again at the same time. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}
