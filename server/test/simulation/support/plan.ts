/**
 * The plan of a simulation, derived from its seed: how many nodes, which faults, how often. Some runs have few faults,
 * some many.
 */
import type { Random } from './random.js';

export interface Plan {
  readonly nodes: number;
  readonly scenarios: number;
  /** The number of releases of the scheduler before the faults end. */
  readonly chaosSteps: number;
  /** Probabilities at each release. */
  readonly crash: number;
  readonly stop: number;
  readonly cutOff: number;
  readonly jump: number;
  readonly advance: number;
  /** The probability that a store call fails before or after it took effect. */
  readonly storeFault: number;
  readonly splitAnswers: boolean;
  readonly hintLoss: number;
  readonly hintRepeat: number;
  readonly skewMs: number;
  readonly sameMachine: boolean;
  readonly hasRedis: boolean;
  readonly slowScripts: number;
  /** The probability that a pass is cut off because it took too long. */
  readonly slowPasses: number;
  readonly failingEffects: boolean;
  readonly parkedMax: number;
  readonly descendantsMax: number;
  /** Bytes: from not enough for two instances to enough for all. */
  readonly instanceMemoryMax: number;
  readonly concurrencyMax: number;
}

export function planOf(random: Random): Plan {
  const sometimes = (probability: number, value: number): number =>
    random.chance(probability) ? value : 0;
  const nodes = random.pick([1, 2, 2, 3]);
  const scenarios = random.between(2, 5);
  const chaosSteps = random.between(60, 400);
  return {
    nodes,
    scenarios,
    chaosSteps,
    crash: sometimes(0.7, 0.012),
    stop: sometimes(0.3, 0.005),
    cutOff: sometimes(0.3, 0.005),
    jump: sometimes(0.3, 0.008),
    // If time passed faster, the periodic tasks of a node would not leave it the steps for its heartbeats.
    advance: random.pick([0.02, 0.08, 0.14]),
    storeFault: sometimes(0.5, random.pick([0.01, 0.05])),
    splitAnswers: random.chance(0.6),
    hintLoss: random.pick([0, 0.3, 1]),
    hintRepeat: random.pick([0, 0.2]),
    skewMs: sometimes(0.4, random.pick([500, 20_000])),
    sameMachine: random.chance(0.5),
    hasRedis: random.chance(0.5),
    slowScripts: sometimes(0.3, 0.3),
    slowPasses: sometimes(0.3, 0.05),
    failingEffects: random.chance(0.4),
    parkedMax: random.pick([0, 1, 1000]),
    concurrencyMax: random.pick([1, 2, 100]),
    descendantsMax: random.pick([1, 2, 1000]),
    instanceMemoryMax: MEMORY[chaosSteps % MEMORY.length] ?? 0,
  };
}

/**
 * For seeds that purge instances soon after their end: clocks agree, because a fast one would purge what others still
 * need, and passes are often cut off.
 */
export function timedPlan(plan: Plan): Plan {
  return { ...plan, jump: 0, skewMs: 0, slowPasses: 0.1 };
}

/** Chosen by a separate generator, so that older seeds behave as before the limit existed. */
const MEMORY = [2 ** 30, 16_000, 2 ** 30, 64_000, 2 ** 30];

/** Nothing goes wrong in such a run, so nothing may be done twice. With two nodes, one may presume the other dead. */
export function hasNoFaults(plan: Plan): boolean {
  const { crash, cutOff, jump, nodes, stop, storeFault } = plan;
  return nodes === 1 && crash + cutOff + jump + stop + storeFault === 0;
}
