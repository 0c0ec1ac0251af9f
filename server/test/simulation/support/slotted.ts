/**
 * Runs whose steps need slots of limits: several limits at once, with keys and units, of concurrencies and rates. Meanwhile they
 * are suspended, terminated, modified and restarted, their priorities and the limits change, and everything else goes wrong.
 *
 * I15 Of each limit and key, no more units are held than the limit allows when they are taken.
 * I16 In any window no more units begin than the rate allows.
 * I17 Nothing is held by what doesn't run; at the end nothing is held and nothing waits.
 * I18 Who comes first gets its slots first: nobody takes slots of a key for which another one waits before it.
 * See slot-watch.ts.
 */
import { AppError } from '../../../src/base/errors.js';
import type { Priority } from '../../../src/engine/model/start-options.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { fairnessOf } from './fair.js';
import { ControlledRuns, deedsOf, type EndedRun } from './controlled-runs.js';
import type { Random } from './random.js';
import { call, step } from './workflow.js';
import type { World } from './world.js';

export const SLOTTED = 'slotted';
/** What its SubWorkflow steps start. */
export const SLOTTED_CHILD = 'slotted-child';
export const LIMITS = ['limit-a', 'limit-b', 'limit-c'] as const;
const TENANTS = ['x', 'y', null];
const PRIORITIES: readonly Priority[] = [1, 3, 3, 5];
const DELAY_MS_MAX = 3000;
const KINDS = ['call', 'call', 'calls', 'work', 'work', 'child'] as const;

/** Whether a seed has limits; none of those that once found a bug. */
export function hasSlots(seed: number): boolean {
  return seed % 14 === 13;
}

/** What limits allow, and what a step needs of them. */
interface Setting {
  readonly unitsMax: number;
  readonly limits: readonly JsonObject[];
}

function settingOf(random: Random): Setting {
  const unitsMax = random.chance(0.3) ? 2 : 1;
  const concurrency = (): JsonObject => ({ concurrency: random.between(unitsMax, 3) });
  const rate = (): JsonObject => {
    const count = random.between(2, 5);
    return { rate: { count, per: random.pick([1, 2]), burst: random.between(unitsMax, 2) } };
  };
  const second = random.chance(0.3) ? { ...concurrency(), ...rate() } : concurrency();
  const third = random.chance(0.3) ? { ...concurrency(), ...rate() } : rate();
  return { unitsMax, limits: [concurrency(), second, third] };
}

const CHILD_DOCUMENT: JsonObject = {
  Id: SLOTTED_CHILD,
  Steps: [step('inner', 'Delay', { Inputs: { Period: '0.3' } })],
};

const [LIMIT_A, LIMIT_B, LIMIT_C] = LIMITS;
const CHILD_INPUTS: JsonObject = {
  DefinitionId: `"${SLOTTED_CHILD}"`,
  AcceptOutcome: ['Failed', 'Terminated'],
};

function limitedStep(kind: (typeof KINDS)[number], n: number, rest: JsonObject): JsonObject {
  const failing = { ...rest, OnRetriesExhausted: 'Terminate' };
  switch (kind) {
    case 'call':
      return call(`slot-call${n}`, failing);
    case 'calls':
      return step(`slot-each${n}`, 'Foreach', {
        Inputs: { Collection: '[1, 2, 3]', RunParallel: 'true' },
        Do: [[call(`slot-call${n}`, failing)]],
      });
    case 'work': {
      const inputs = { ActivityName: '"work"', Parameters: { s: `"${n}"` } };
      return step(`slot-work${n}`, 'Activity', {
        Inputs: inputs,
        Outputs: { result: 'step.Result' },
        ...failing,
      });
    }
    case 'child':
      return step(`slot-child${n}`, 'SubWorkflow', { Inputs: CHILD_INPUTS, ...failing });
  }
}

/** The calls of the definitions that `slottedDocument` returns. */
export const SLOTTED_CALLS: ReadonlySet<string> = new Set([1, 2, 3].map((n) => `slot-call${n}`));

function slottedDocument(random: Random, { unitsMax }: Setting): JsonObject {
  const branches: JsonObject[][] = [];
  for (let count = random.between(1, 3), n = 1; n <= count; n += 1) {
    const names = random.pick([
      [LIMIT_A],
      [LIMIT_B],
      [LIMIT_C],
      [LIMIT_A, LIMIT_B],
      [LIMIT_B, LIMIT_A],
      [LIMIT_A, LIMIT_C],
      [LIMIT_C, LIMIT_B, LIMIT_A],
    ]);
    const limits = names.map((Name) => ({
      Name,
      Units: random.between(1, unitsMax),
      ...(random.chance(0.4) && { Key: 'data.tenant' }),
    }));
    const timeout = random.chance(0.15) ? { Timeout: 5 } : {};
    const kind = random.pick(KINDS);
    // Which of a result and the end of the time is first is a matter of chance.
    branches.push([limitedStep(kind, n, { Limits: limits, ...(kind !== 'work' && timeout) })]);
  }
  return documentOf(branches);
}

function documentOf(branches: readonly JsonObject[][]): JsonObject {
  return {
    Id: SLOTTED,
    Steps: [
      step('slots', 'Parallel', { Do: [...branches], NextStepId: 'place2' }),
      step('place2', 'Delay', { Inputs: { Period: '0.2' }, NextStepId: 'place3' }),
      step('place3', 'NoOp', { Outputs: { done: '1' } }),
    ],
  };
}

export class SlotClient {
  readonly #runs: ControlledRuns;
  readonly #world: World;
  /** A step whose limit was removed fails. */
  #hasRemoved = false;

  constructor(world: World) {
    this.#world = world;
    this.#runs = new ControlledRuns(world, () => this.#hasRemoved);
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    const setting = settingOf(random);
    await this.#setUp(setting);
    await this.#register(CHILD_DOCUMENT, 'child');
    await this.#register(slottedDocument(random, setting), 'parent');
    const changes = random.chance(0.4) ? 0.3 : 0;
    const removes = random.chance(0.1);
    const starts: Promise<void>[] = [];
    for (let count = random.between(4, 9), index = 0; index < count; index += 1) {
      starts.push(this.#run(index, random.pick(TENANTS)));
      await scheduler.pause('a client waits', random.below(random.pick([10, 700])));
      if (!random.chance(changes)) continue;
      const at = random.below(LIMITS.length);
      const concurrency = random.between(1, 4);
      await this.#put(at, { ...setting.limits[at], concurrency });
    }
    if (removes) await this.#remove();
    // Nothing waits for units that the limit never has.
    else if (changes > 0) await this.#setUp(setting);
    await Promise.all(starts);
  }

  check(runs: readonly EndedRun[]): void {
    this.#runs.check(runs);
  }

  async #setUp({ limits }: Setting): Promise<void> {
    for (const [at, limit] of limits.entries()) await this.#put(at, limit);
  }

  async #put(at: number, document: JsonObject): Promise<void> {
    const name = LIMITS[at] ?? LIMIT_A;
    await this.#world.persist((host) => host.limits.put(name, { document, actor: 'somebody' }));
  }

  async #register(document: JsonObject, key: string): Promise<void> {
    const idempotency = { key: `register ${key}`, requestHash: 'hash' };
    await this.#world.persist((host) =>
      host.definitions.register({ document, source: null }, idempotency),
    );
  }

  /** The newest version names no limit, so that all of them can be removed while older runs wait for them. */
  async #remove(): Promise<void> {
    const { scheduler } = this.#world;
    this.#hasRemoved = true;
    await this.#register(documentOf([[step('nothing', 'NoOp')]]), 'without limits');
    for (const name of LIMITS) {
      while (!(await this.#isRemoved(name))) await scheduler.pause('a client repeats', 500);
    }
  }

  async #isRemoved(name: string): Promise<boolean> {
    try {
      await this.#world.persist((host) => host.limits.remove(name, 'somebody'));
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // The first of two requests had no answer; or the node has not heard of the newest version.
      if (error.code === 'limit_not_found') return true;
      if (error.code === 'limit_in_use') return false;
      throw error;
    }
  }

  async #run(index: number, tenant: string | null): Promise<void> {
    const { random, scheduler } = this.#world;
    const request = {
      definitionId: SLOTTED,
      data: { q: index, tenant },
      reference: null,
      priority: random.pick(PRIORITIES),
      fairness: fairnessOf(this.#world, index) ?? {},
      idempotency: { key: `slotted ${index}`, requestHash: 'hash' },
      ...(random.chance(0.2) && { delayMs: random.between(1, DELAY_MS_MAX) }),
    };
    const deeds = deedsOf(random);
    const moved = random.chance(0.15) ? random.pick(PRIORITIES) : null;
    const { instance } = await this.#world.persist((host) => host.instances.start(request));
    const controlled = this.#runs.control(instance.id, deeds);
    if (moved !== null) {
      await scheduler.pause('a controller waits', deeds.pauseMs);
      const by = { actor: 'somebody' };
      const { id } = instance;
      await this.#runs.ask(id, (host) => host.instances.setPriority(id, moved, by));
    }
    await controlled;
  }
}
