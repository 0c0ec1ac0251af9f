/** What clients do with the runs that wait (`queued.ts`, `placed.ts`, `slotted.ts`), and how those end. */
import { AppError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { Host } from '../../../src/runtime/host.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Random } from './random.js';
import { hold } from './violation.js';
import { call, step } from './workflow.js';
import type { World } from './world.js';

export const WAITING_STEPS: readonly JsonObject[] = [
  call('place1', { NextStepId: 'place2' }),
  step('place2', 'Delay', { Inputs: { Period: '0.4' }, NextStepId: 'place3' }),
  step('place3', 'NoOp', { Outputs: { done: '1' } }),
];

/** What a client does with its run after the start. */
export interface Deeds {
  readonly suspends: boolean;
  readonly terminates: boolean;
  readonly modifies: boolean;
  readonly restarts: boolean;
  readonly pauseMs: number;
}

export function deedsOf(random: Random): Deeds {
  return {
    suspends: random.chance(0.2),
    terminates: random.chance(0.2),
    modifies: random.chance(0.1),
    restarts: random.chance(0.1),
    pauseMs: random.below(2500),
  };
}

/**
 * The run had ended, a repeated request finds that the first one took effect, or no place is free for a restart.
 */
const REFUSED = ['status_conflict', 'action_conflict', 'concurrency_reached'];

export interface EndedRun {
  readonly record: InstanceRecord;
  readonly data: JsonObject;
}

export class ControlledRuns {
  /** The acknowledged runs. */
  readonly #started = new Set<string>();
  readonly #mayBeTerminated = new Set<string>();
  readonly #world: World;
  readonly #mayFail: () => boolean;

  constructor(world: World, mayFail: () => boolean = () => false) {
    this.#world = world;
    this.#mayFail = mayFail;
  }

  async control(id: string, deeds: Deeds): Promise<void> {
    const { scheduler } = this.#world;
    this.#started.add(id);
    await scheduler.pause('a controller waits', deeds.pauseMs);
    if (deeds.restarts) await this.#restart(id);
    if (deeds.suspends) {
      await this.ask(id, (host) => host.instances.control(id, 'suspend', 'somebody'));
      await scheduler.pause('a controller waits', deeds.pauseMs);
      await this.ask(id, (host) => host.instances.control(id, 'resume', 'somebody'));
    }
    // A run that is opened again ends twice, and each end is told.
    if (deeds.modifies && !this.#world.isNotified) await this.#modify(id);
    if (!deeds.terminates) return;
    this.#mayBeTerminated.add(id);
    await this.ask(id, (host) => host.instances.control(id, 'terminate', 'somebody'));
  }

  check(runs: readonly EndedRun[]): void {
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
      if (outcome === 'Failed' && this.#mayFail()) continue;
      hold(outcome === 'Succeeded', 'I1 the run ends as the model predicts', () => id);
      hold(data['done'] === 1, 'I2 data is what the model predicts', () => id);
    }
  }

  /** Repeats a request about a run until there is a response. */
  async ask(id: string, call: (host: Host) => Promise<unknown>): Promise<void> {
    try {
      await this.#world.persist(call);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (REFUSED.includes(error.code)) return;
      if (error.code !== 'workflow_not_found' || !this.#world.archive.removed.has(id)) throw error;
    }
  }

  async #restart(id: string): Promise<void> {
    const request = { reason: 'again', idempotency: { key: `again ${id}`, requestHash: 'hash' } };
    await this.ask(id, async (host) => {
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
    await this.ask(id, (host) => host.instances.modify(id, request, 'somebody'));
  }
}
