/**
 * Debounced starts of few keys, which join the runs of others, while these are suspended, terminated, modified and restarted, and
 * everything else goes wrong.
 *
 * I19 Every acknowledged start is in the data of its run, once, and in that of no other run.
 * I20 Of each key, at most one window is open, from its start until its run begins; each has one run, which ends. See
 *     window-watch.ts.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../src/engine/values/json.js';
import { ControlledRuns, deedsOf, WAITING_STEPS, type EndedRun } from './controlled-runs.js';
import { hold } from './violation.js';
import type { World } from './world.js';

/** Its runs collect the data of all starts. */
export const DEBOUNCED = 'debounced';
/** Its runs have the data of the last one. */
export const DEBOUNCED_LAST = 'debounced-last';
const IDS = [DEBOUNCED, DEBOUNCED, DEBOUNCED_LAST];
const KEYS = ['a', 'b', null];

/** Whether a seed has debounced starts; none of those that once found a bug. */
export function hasDebounce(seed: number): boolean {
  return seed % 14 === 12 || seed % 16 === 6;
}

interface Acknowledged {
  readonly index: number;
  readonly definitionId: string;
  readonly workflowId: string;
}

export class DebounceClient {
  readonly #runs: ControlledRuns;
  readonly #world: World;
  readonly #acknowledged: Acknowledged[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#runs = new ControlledRuns(world);
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    for (const id of new Set(IDS)) await this.#register(id);
    const keys = random.chance(0.5) ? KEYS : KEYS.slice(0, 1);
    const ids = random.chance(0.5) ? IDS : [DEBOUNCED];
    const periodMs = random.pick([1, 200, 600, 1500]);
    const starts: Promise<void>[] = [];
    for (let count = random.between(8, 20), index = 0; index < count; index += 1) {
      const start = { definitionId: random.pick(ids), key: random.pick(keys), periodMs };
      starts.push(this.#start(index, start));
      await scheduler.pause('a client waits', random.below(random.pick([10, 400])));
    }
    await Promise.all(starts);
  }

  check(runs: readonly EndedRun[]): void {
    this.#runs.check(runs);
    const byId = new Map(runs.map((run) => [run.record.id, run]));
    for (const { definitionId, index, workflowId } of this.#acknowledged) {
      if (definitionId !== DEBOUNCED) continue;
      const items = itemsOf(byId.get(workflowId)?.data ?? {});
      const found = items.filter((item) => item === index);
      const text = (): string => `${index} in ${workflowId}: ${JSON.stringify(items)}`;
      hold(found.length > 0, 'I19 an acknowledged start is in the data of its run', text);
    }
    const opened = new Set(this.#acknowledged.map(({ workflowId }) => workflowId));
    const seen = new Set<Json>();
    for (const { data, record } of runs) {
      if (record.restartOf !== null) continue;
      hold(opened.has(record.id), 'I20 each window has one run', () => record.id);
      if (record.definitionId !== DEBOUNCED) continue;
      for (const item of itemsOf(data)) {
        hold(
          !seen.has(item),
          'I19 no start is in the data twice',
          () => `${record.id}: ${JSON.stringify(item)}`,
        );
        seen.add(item);
      }
    }
  }

  async #register(id: string): Promise<void> {
    const posted = { document: { Id: id, Steps: WAITING_STEPS }, source: null };
    const idempotency = { key: `register ${id}`, requestHash: 'hash' };
    await this.#world.persist((host) => host.definitions.register(posted, idempotency));
  }

  async #start(
    index: number,
    start: {
      readonly definitionId: string;
      readonly key: string | null;
      readonly periodMs: number;
    },
  ): Promise<void> {
    const { definitionId, key, periodMs } = start;
    const { random } = this.#world;
    const data = definitionId === DEBOUNCED ? 'list' : 'last';
    const request = {
      definitionId,
      data: { q: index },
      reference: null,
      idempotency: { key: `debounced ${index}`, requestHash: 'hash' },
      debounce: { periodMs, key, maxMs: 4 * periodMs, data },
    } as const;
    const deeds = deedsOf(random);
    const acts = random.chance(0.4);
    const { instance } = await this.#world.persist((host) => host.instances.start(request));
    this.#acknowledged.push({ index, definitionId, workflowId: instance.id });
    const { pauseMs } = deeds;
    const nothing = {
      suspends: false,
      terminates: false,
      modifies: false,
      restarts: false,
      pauseMs,
    };
    await this.#runs.control(instance.id, acts ? deeds : nothing);
  }
}

function itemsOf(data: JsonObject): readonly Json[] {
  const { items } = data;
  if (!Array.isArray(items)) return [];
  return items.map((item) => (isJsonObject(item) ? (item['q'] ?? null) : null));
}
