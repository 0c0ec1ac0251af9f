/**
 * Runs that wait for those with the same reference (`onConflict=queue`), among others that don't, while they are suspended,
 * terminated, modified and restarted, and everything else goes wrong.
 *
 * I12 A queued run begins when every run that was open with its reference before it has ended; each ends.
 */
import type { JsonObject } from '../../../src/engine/values/json.js';
import { ControlledRuns, deedsOf, WAITING_STEPS, type EndedRun } from './controlled-runs.js';
import type { World } from './world.js';

export const QUEUED = 'queued';
const REFERENCES = ['one', 'two'];
const DELAY_MS_MAX = 3000;

/** Whether a seed has queues; none of those that once found a bug. */
export function hasQueues(seed: number): boolean {
  return seed % 17 === 13 || seed % 19 === 6;
}

export const QUEUED_DOCUMENT: JsonObject = { Id: QUEUED, Steps: WAITING_STEPS };

/** Starts runs of few references, most of them with the rule. */
export class QueueClient {
  readonly #runs: ControlledRuns;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#runs = new ControlledRuns(world);
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    const posted = { document: QUEUED_DOCUMENT, source: null };
    const idempotency = { key: 'register queued', requestHash: 'hash' };
    await this.#world.persist((host) => host.definitions.register(posted, idempotency));
    const references = random.chance(0.5) ? REFERENCES : REFERENCES.slice(1);
    const starts: Promise<void>[] = [];
    for (let count = random.between(4, 8), index = 0; index < count; index += 1) {
      starts.push(this.#run(index, random.pick(references)));
      await scheduler.pause('a client waits', random.below(random.pick([10, 700])));
    }
    await Promise.all(starts);
  }

  check(runs: readonly EndedRun[]): void {
    this.#runs.check(runs);
  }

  async #run(index: number, reference: string): Promise<void> {
    const { plan, random } = this.#world;
    const isDelayed = random.chance(0.2);
    const delayMs = isDelayed ? random.between(1, DELAY_MS_MAX) : 0;
    // A run whose node's clock is ahead is behind a delayed one, although it has begun.
    const isOrdered = plan.skewMs === 0 && plan.jump === 0;
    const request = {
      definitionId: QUEUED,
      data: { q: index },
      reference,
      idempotency: { key: `queued ${index}`, requestHash: 'hash' },
      ...(random.chance(0.8) && { onConflict: 'queue' as const }),
      ...(isDelayed && isOrdered && { delayMs }),
    };
    const deeds = deedsOf(random);
    const { instance } = await this.#world.persist((host) => host.instances.start(request));
    await this.#runs.control(instance.id, deeds);
  }
}
