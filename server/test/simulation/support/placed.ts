/**
 * Runs of definitions with `Concurrency`, of few keys and any priority, some of which wait for those with their reference as
 * well, while they are suspended, terminated, modified and restarted, the limit changes, and everything else goes wrong.
 *
 * I13 Of each key, no more runs are given a place than the largest limit so far allows, the first in line first; an open run
 * that has begun holds a place; each ends. See place-watch.ts.
 */
import { AppError } from '../../../src/base/errors.js';
import type { Priority } from '../../../src/engine/model/start-options.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { fairnessOf } from './fair.js';
import { ControlledRuns, deedsOf, WAITING_STEPS, type EndedRun } from './controlled-runs.js';
import type { World } from './world.js';

/** Its runs wait for a place. */
export const PLACED = 'placed';
/** Its runs are refused without one. */
export const PLACED_OR_REFUSED = 'placed-or-refused';
const KEYS = ['a', 'b', null];
const REFERENCES = ['one', 'two'];
const PRIORITIES: readonly Priority[] = [1, 3, 3, 5];
const DELAY_MS_MAX = 3000;

/** Whether a seed has places; none of those that once found a bug. */
export function hasPlaces(seed: number): boolean {
  return seed % 12 === 7 || seed % 15 === 8;
}

/** @param limit null: any number runs at a time */
function documentOf(id: string, limit: number | null): JsonObject {
  const onFull = id === PLACED ? 'Queue' : 'Reject';
  const concurrency = { Limit: limit, Key: 'data.tenant', OnFull: onFull };
  return { Id: id, ...(limit !== null && { Concurrency: concurrency }), Steps: WAITING_STEPS };
}

export class PlaceClient {
  readonly #runs: ControlledRuns;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#runs = new ControlledRuns(world);
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    const ids = random.chance(0.3) ? [PLACED, PLACED_OR_REFUSED] : [PLACED];
    const limit = random.pick([1, 1, 2, 3]);
    for (const id of ids) await this.#register(id, limit, 0);
    const keys = random.chance(0.5) ? KEYS : KEYS.slice(2);
    const changes = random.chance(0.3) ? 0.2 : 0;
    const starts: Promise<void>[] = [];
    for (let count = random.between(5, 10), index = 0; index < count; index += 1) {
      starts.push(this.#run(index, random.pick(ids), random.pick(keys)));
      await scheduler.pause('a client waits', random.below(random.pick([10, 700])));
      if (!random.chance(changes)) continue;
      const next = random.pick([1, 2, 3, 1, 2, 3, null]);
      starts.push(this.#register(random.pick(ids), next, index + 1));
    }
    await Promise.all(starts);
  }

  check(runs: readonly EndedRun[]): void {
    this.#runs.check(runs);
  }

  async #register(id: string, limit: number | null, change: number): Promise<void> {
    const posted = { document: documentOf(id, limit), source: null };
    const idempotency = { key: `register ${id} ${change}`, requestHash: 'hash' };
    await this.#world.persist((host) => host.definitions.register(posted, idempotency));
  }

  async #run(index: number, definitionId: string, tenant: string | null): Promise<void> {
    const { random, scheduler } = this.#world;
    const reference = random.chance(0.25) ? random.pick(REFERENCES) : null;
    const request = {
      definitionId,
      data: { q: index, tenant },
      reference,
      priority: random.pick(PRIORITIES),
      fairness: fairnessOf(this.#world, index) ?? {},
      idempotency: { key: `placed ${index}`, requestHash: 'hash' },
      ...(reference !== null && { onConflict: 'queue' as const }),
      ...(random.chance(0.2) && { delayMs: random.between(1, DELAY_MS_MAX) }),
    };
    const deeds = deedsOf(random);
    const moved = random.chance(0.15) ? random.pick(PRIORITIES) : null;
    const id = await this.#start(request);
    if (id === null) return;
    const controlled = this.#runs.control(id, deeds);
    if (moved !== null) {
      await scheduler.pause('a controller waits', deeds.pauseMs);
      const by = { actor: 'somebody' };
      await this.#runs.ask(id, (host) => host.instances.setPriority(id, moved, by));
    }
    await controlled;
  }

  /** Null: refused. */
  async #start(
    request: Parameters<World['nodes'][number]['host']['instances']['start']>[0],
  ): Promise<string | null> {
    try {
      const { instance } = await this.#world.persist((host) => host.instances.start(request));
      return instance.id;
    } catch (error) {
      const isRefused = error instanceof AppError && error.code === 'concurrency_reached';
      if (isRefused && request.definitionId === PLACED_OR_REFUSED) return null;
      throw error;
    }
  }
}
