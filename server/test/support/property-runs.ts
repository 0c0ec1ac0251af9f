/**
 * How many random examples a property is tried with, and which.
 *
 * By day always the same ones: a change is judged by what it changes. By night others, and ten times as many. PROPERTY_RUNS
 * sets the number of runs of each property, with other examples each time; a failure prints the seed and path with which
 * fast-check repeats it.
 */
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';

const SEED = 20_261_127;
const NIGHTLY_TIMES = 10;

export interface PropertyRuns {
  readonly numRuns: number;
  readonly seed?: number;
}

/** @param daily the number of runs in a daily test */
export function propertyRuns(daily: number): PropertyRuns {
  const chosen = process.env['PROPERTY_RUNS'];
  if (chosen !== undefined) return { numRuns: Number(chosen) };
  return IS_NIGHTLY ? { numRuns: daily * NIGHTLY_TIMES } : { numRuns: daily, seed: SEED };
}
