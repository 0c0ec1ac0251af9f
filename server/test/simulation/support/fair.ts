/**
 * Runs with fairness keys, whose work items wait in one queue: a few workers are slower than it grows. Meanwhile the runs are
 * suspended, terminated, modified and restarted, their priorities change, and everything else goes wrong.
 *
 * I22 Among what waits with equal priority, keys take turns in proportion to their weights. See turns-check.ts.
 */
import type { Fairness, Priority } from '../../../src/engine/model/start-options.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { ControlledRuns, deedsOf, type EndedRun } from './controlled-runs.js';
import { step } from './workflow.js';
import type { World } from './world.js';

export const FAIR = 'fair';
/** The name of its activity, for which no worker waits: a commit hands out nothing. */
export const FAIR_WORK = 'fair-work';
const PRIORITIES: readonly Priority[] = [3, 3, 3, 3, 1];
const DELAY_MS_MAX = 3000;

/** Each key always has the same weight. */
const KEYS: readonly (Fairness | null)[] = [
  { key: 'x', weight: 1 },
  { key: 'y', weight: 1 },
  { key: 'z', weight: 3 },
  { key: 'half', weight: 0.5 },
  null,
];

/** Whether a seed has such runs; none of those that once found a bug. */
export function hasFairness(seed: number): boolean {
  return seed % 14 === 12;
}

/** Whether runs that wait for places or slots have fairness keys; none of those that once found a bug. */
export function waitsByTurns(seed: number): boolean {
  return seed % 2 === 0;
}

/** Of the runs that wait for places or slots. Not drawn, because that would change the meaning of older seeds. */
export function fairnessOf({ waitsByTurns: hasKeys }: World, index: number): Fairness | null {
  return hasKeys ? (KEYS[[0, 1, 4][index % 3] ?? 0] ?? null) : null;
}

const DOCUMENT: JsonObject = {
  Id: FAIR,
  Fairness: { Key: 'data.tenant', Weight: 'data.weight' },
  Steps: [
    step('fair-each', 'Foreach', {
      Inputs: { Collection: 'data.items', RunParallel: 'true' },
      Do: [
        [
          step('fair-work', 'Activity', {
            Inputs: { ActivityName: `"${FAIR_WORK}"` },
            Outputs: { result: 'step.Result' },
          }),
        ],
      ],
      NextStepId: 'place2',
    }),
    step('place2', 'Delay', { Inputs: { Period: '0.2' }, NextStepId: 'place3' }),
    step('place3', 'NoOp', { Outputs: { done: '1' } }),
  ],
};

export class FairClient {
  readonly #runs: ControlledRuns;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#runs = new ControlledRuns(world);
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    const idempotency = { key: 'register fair', requestHash: 'hash' };
    await this.#world.persist((host) =>
      host.definitions.register({ document: DOCUMENT, source: null }, idempotency),
    );
    const keys = KEYS.slice(0, random.between(2, KEYS.length));
    const starts: Promise<void>[] = [];
    for (let count = random.between(4, 9), index = 0; index < count; index += 1) {
      starts.push(this.#run(index, random.pick(keys)));
      await scheduler.pause('a client waits', random.below(random.pick([10, 700])));
    }
    await Promise.all(starts);
  }

  check(runs: readonly EndedRun[]): void {
    this.#runs.check(runs);
  }

  async #run(index: number, fairness: Fairness | null): Promise<void> {
    const { random, scheduler } = this.#world;
    const { key = null, weight = null } = fairness ?? {};
    // What the start doesn't say, the definition finds in the data.
    const isAsked = fairness !== null && random.chance(0.3);
    const items = Array.from({ length: random.between(1, 8) }, (_, item) => item);
    const request = {
      definitionId: FAIR,
      data: { q: index, items, tenant: isAsked ? 'nobody' : key, weight },
      reference: null,
      priority: random.pick(PRIORITIES),
      idempotency: { key: `fair ${index}`, requestHash: 'hash' },
      ...(isAsked && { fairness }),
      ...(random.chance(0.2) && { delayMs: random.between(1, DELAY_MS_MAX) }),
    };
    const deeds = deedsOf(random);
    const moved = random.chance(0.15) ? random.pick(PRIORITIES) : null;
    const { instance } = await this.#world.persist((host) => host.instances.start(request));
    const { id } = instance;
    const controlled = this.#runs.control(id, deeds);
    if (moved !== null) {
      await scheduler.pause('a controller waits', deeds.pauseMs);
      const by = { actor: 'somebody' };
      await this.#runs.ask(id, (host) => host.instances.setPriority(id, moved, by));
    }
    await controlled;
  }
}
