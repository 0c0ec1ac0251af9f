/**
 * T-34: whole nodes on one store, with crashes, faults, lost and repeated messages and wrong clocks, all from a seed.
 *
 * SIMULATION_SEED=n runs one seed again; SIMULATION_SEEDS=count runs that many, however long that takes, starting at
 * SIMULATION_FIRST.
 */
import { describe, expect, it } from 'vitest';
import { simulate } from './support/simulation.js';

const SEEDS_BY_DEFAULT = 1500;
const BUDGET_MS = 20_000;

function setting(name: string): number | null {
  const text = process.env[name];
  return text === undefined || text === '' ? null : Number(text);
}

/** How often nodes died, or an operation failed, before or after which store operation. */
function coverage(points: ReadonlyMap<string, number>): string {
  const lines = [...points].sort(([left], [right]) => (left < right ? -1 : 1));
  return lines.map(([point, times]) => `${point}: ${times}`).join('\n');
}

/** Seeds that once found a bug, each with a description. */
const FOUND: readonly (readonly [number, string])[] = [
  [13, 'a grant moved a wait to the key of a rate, and nobody looked at that key'],
  [14, 'a repeated start kept its node from ever taking the instance over'],
  [27, 'a work item whose limit was removed made its run commit without end'],
  [35, 'a node that was stopping took over and left'],
  [56, 'a node taken for dead by mistake started something more and died before its next beat'],
  [84, 'an instance was set aside because the answer of its insert was lost'],
  [142, 'a take-over that failed after its claim left the instance to nobody'],
  [147, 'a trigger on a server with little memory started the same runs again and again'],
  [213, 'two starts of one id at a time on one node became two actors'],
  [228, 'a read of the newest definition before each commit kept instances from being committed'],
  [409, 'an insert without an answer was forgotten when its node stopped'],
  [614, 'a run that was terminated in the store collected a start that had started its own run'],
  [713, 'a grant offered an item that its claim refused, again and again'],
  [798, 'two nodes took one instance from each other until it counted as poison'],
  [811, 'a repeated grant let a step begin that had given its slots back'],
  [874, 'a node that stopped took a child for started that it had not stored'],
  [876, 'a start that came while its node stopped ran on after the stop'],
  [957, 'a repeated start of a child stood in the way of its take-over'],
  [1625, 'a workflow was removed before its parent had heard of its end'],
  [1626, 'a node that had been alone slept on when others joined, and did not fire their triggers'],
  [1720, 'a start got the late answer of a window that it had given up'],
  [3586, 'a node whose first heartbeat failed ran unknown, and nobody missed it when it died'],
  [5631, 'a node that stopped signed off although a late commit of its own had overtaken it'],
  [9884, 'a change that was made while the clock was set back was not checked after its node died'],
  [10062, 'a commit that came late was taken for the one that was made after it'],
  [21849, 'a message that was posted again hid the suspension that had come after it'],
];

describe('a simulated fleet', () => {
  it.each(FOUND)('passes seed %i: %s', async (seed) => {
    const { violation } = await simulate(seed);
    expect(violation ?? '').toBe('');
  });

  it('behaves the same with the same seed, whichever seed was simulated before', async () => {
    const seeds = Array.from({ length: 25 }, (_, index) => index + 1);
    const simulateAll = async (order: readonly number[]): Promise<Map<number, string>> => {
      const results = new Map<number, string>();
      for (const seed of order) {
        const { hash, steps } = await simulate(seed);
        results.set(seed, `${steps} steps, ${hash}`);
      }
      return results;
    };
    const forward = await simulateAll(seeds);
    const backward = await simulateAll(seeds.toReversed());
    expect(backward).toEqual(forward);
  });

  it('keeps every guarantee, whatever happens to its nodes', { timeout: 3_600_000 }, async () => {
    const only = setting('SIMULATION_SEED');
    const count = setting('SIMULATION_SEEDS');
    const first = only ?? setting('SIMULATION_FIRST') ?? 1;
    const last = only ?? first + (count ?? SEEDS_BY_DEFAULT) - 1;
    const startedAt = Date.now();
    const failed: string[] = [];
    let seeds = 0;
    const points = new Map<string, number>();
    for (let seed = first; seed <= last && failed.length < 5; seed += 1) {
      const { crashPoints, violation } = await simulate(seed);
      for (const [point, times] of crashPoints) points.set(point, (points.get(point) ?? 0) + times);
      if (violation !== null) failed.push(violation);
      seeds += 1;
      if (count === null && Date.now() - startedAt > BUDGET_MS) break;
    }
    const seconds = (Date.now() - startedAt) / 1000;
    console.info(`simulated ${seeds} seeds, ${Math.round(seeds / seconds)} a second`);
    if (count !== null) console.info(coverage(points));
    expect(failed.join('\n\n')).toBe('');
  });
});
