/** The retry schedule of a failed delivery: soon at first, then less and less often, for three days. */
import { fractionOf } from '../../base/ids.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A delivery is given up after this time. */
export const TRIED_MS = 72 * HOUR;

/** The pause after the first attempt, the second, and so on; afterwards, the last one repeats. */
const PAUSES_MS = [
  SECOND,
  10 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
];
/** Spreads the attempts of many deliveries that failed together. */
const SPREAD = 0.2;

/** @param attempts the number of attempts so far, at least 1 */
export function pauseAfter(attempts: number, deliveryId: string): number {
  const pauseMs = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1] ?? 8 * HOUR;
  const place = fractionOf(deliveryId, String(attempts)) * 2 - 1;
  return Math.round(pauseMs * (1 + SPREAD * place));
}
