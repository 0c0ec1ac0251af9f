/**
 * Runs that wait for those with the same reference (`onConflict=queue`), among others that don't, while they are suspended,
 * terminated, modified and restarted, and everything else goes wrong.
 *
 * I12 A queued run begins when every run that was open with its reference before it has ended; each ends.
 */
import { AppError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { Host } from '../../../src/runtime/host.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Random } from './random.js';
import { hold } from './violation.js';
import { call, step } from './workflow.js';
import type { World } from './world.js';

export const QUEUED = 'queued';
const REFERENCES = ['one', 'two'];
const DELAY_MS_MAX = 3000;

/** Whether a seed has queues; none of those that once found a bug. */
export function hasQueues(seed: number): boolean {
  return seed % 17 === 13 || seed % 19 === 6;
}

export const QUEUED_DOCUMENT: JsonObject = {
  Id: QUEUED,
  Steps: [
    call('place1', { NextStepId: 'place2' }),
    step('place2', 'Delay', { Inputs: { Period: '0.4' }, NextStepId: 'place3' }),
    step('place3', 'NoOp', { Outputs: { done: '1' } }),
  ],
};

/** What a client does with its run after the start. */
interface Deeds {
  readonly suspends: boolean;
  readonly terminates: boolean;
  readonly modifies: boolean;
  readonly restarts: boolean;
  readonly pauseMs: number;
}

function deedsOf(random: Random): Deeds {
  return {
    suspends: random.chance(0.2),
    terminates: random.chance(0.2),
    modifies: random.chance(0.1),
    restarts: random.chance(0.1),
    pauseMs: random.below(2500),
  };
}

/** Starts runs of few references, most of them with the rule. */
export class QueueClient {
  /** The acknowledged runs. */
  readonly #started = new Set<string>();
  readonly #mayBeTerminated = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
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

  check(runs: readonly { readonly record: InstanceRecord; readonly data: JsonObject }[]): void {
    const ids = new Set(runs.map(({ record }) => record.id));
    for (const id of this.#started) {
      hold(ids.has(id), 'I1 an acknowledged start exists', () => id);
    }
    for (const { data, record } of runs) {
      const { id, outcome } = record;
      if (outcome === 'Terminated') {
        const isAsked = this.#mayBeTerminated.has(id);
        hold(isAsked, 'I1 only a client terminates a run', () => `${id} is Terminated`);
        continue;
      }
      hold(outcome === 'Succeeded', 'I1 the run ends as the model predicts', () => id);
      hold(data['done'] === 1, 'I2 data is what the model predicts', () => id);
    }
  }

  async #run(index: number, reference: string): Promise<void> {
    const { random, scheduler } = this.#world;
    const request = {
      definitionId: QUEUED,
      data: { q: index },
      reference,
      idempotency: { key: `queued ${index}`, requestHash: 'hash' },
      ...(random.chance(0.8) && { onConflict: 'queue' as const }),
      ...(random.chance(0.2) && { delayMs: random.between(1, DELAY_MS_MAX) }),
    };
    const deeds = deedsOf(random);
    const { instance } = await this.#world.persist((host) => host.instances.start(request));
    const { id } = instance;
    this.#started.add(id);
    await scheduler.pause('a controller waits', deeds.pauseMs);
    if (deeds.restarts) await this.#restart(id);
    if (deeds.suspends) {
      await this.#ask(id, (host) => host.instances.control(id, 'suspend', 'somebody'));
      await scheduler.pause('a controller waits', deeds.pauseMs);
      await this.#ask(id, (host) => host.instances.control(id, 'resume', 'somebody'));
    }
    // A run that is opened again ends twice, and each end is told.
    if (deeds.modifies && !this.#world.isNotified) await this.#modify(id);
    if (!deeds.terminates) return;
    this.#mayBeTerminated.add(id);
    await this.#ask(id, (host) => host.instances.control(id, 'terminate', 'somebody'));
  }

  async #restart(id: string): Promise<void> {
    const request = { reason: 'again', idempotency: { key: `again ${id}`, requestHash: 'hash' } };
    await this.#ask(id, async (host) => {
      const { id: other } = await host.instances.restart(id, request, 'somebody');
      this.#started.add(other);
    });
  }

  /** Begins without a place, or opens a run that has ended. */
  async #modify(id: string): Promise<void> {
    const request = {
      cancel: 'all' as const,
      start: [{ stepId: 'place2', inside: null }],
      reason: 'now',
      idempotency: { key: `now ${id}`, requestHash: 'hash' },
    };
    await this.#ask(id, (host) => host.instances.modify(id, request, 'somebody'));
  }

  async #ask(id: string, call: (host: Host) => Promise<unknown>): Promise<void> {
    try {
      await this.#world.persist(call);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // The run had ended, or a repeated request finds that the first one took effect.
      if (['status_conflict', 'action_conflict'].includes(error.code)) return;
      if (error.code !== 'workflow_not_found' || !this.#world.archive.removed.has(id)) throw error;
    }
  }
}
