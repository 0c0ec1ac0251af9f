/**
 * Malicious definitions: valid documents whose steps loop, nest, multiply, fail and wait for nothing, in any
 * combination.
 *
 * Steps refer to each other at random, wherever a step can be named. They use the scripts and definitions in `HELPERS`.
 */
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import type { Chance } from './fuzz.js';

/** Stored before anything else; the malicious definitions start these and themselves. */
export const HELPERS: readonly JsonObject[] = [
  { id: 'echo', steps: [{ id: 'n', stepType: 'NoOp' }] },
  { id: 'waits', steps: [{ id: 'w', stepType: 'WaitFor', inputs: { eventName: "'e'", eventKey: "'never'" } }] },
]; // prettier-ignore

const STEPS_MAX = 24;
const DEPTH_MAX = 4;

const DURATIONS: readonly Json[] = [
  0,
  0,
  0,
  0.001,
  "'PT0S'",
  "'00:00:00'",
  1,
  1e8,
  "'P1000D'",
  -1,
  'data.n',
];
const CONDITIONS: readonly Json[] = [
  true,
  'True',
  'True',
  'data.n',
  'data.n < 3',
  'False',
  '1/0',
  'context.Step.Attempt < 3',
];
const COLLECTIONS: readonly Json[] = [
  'data.list',
  'data.list',
  'data.long',
  'list(range(300))',
  'context.Item',
  '[]',
  'data.n',
  '"text"',
];
const VALUES: readonly Json[] = [
  'data',
  'data.list',
  'data.text',
  'context',
  'data.grown',
  '1/0',
  'data.n',
  'context.Item',
  "'x' * 100000",
  'step',
  '[data.grown] * 2',
];
const NAMES: readonly string[] = ['grown', 'n', 'list', 'text', 'long', 'other', '__proto__'];
const RETRIES: readonly Json[] = [0, 0, 1, 2, 1e9];
const FACTORS: readonly Json[] = [1, 1, 10, 1e300];
const BEHAVIORS = ['Retry', 'Retry', 'Compensate', 'Compensate', 'Suspend', 'Terminate']; // prettier-ignore

class Writer {
  readonly #chance: Chance;
  #given = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  isFull(): boolean {
    return this.#given >= STEPS_MAX;
  }

  step(depth: number): JsonObject {
    const id = `s${this.#given++}`;
    return { id, ...this.#kind(depth), ...this.#members(depth) };
  }

  steps(depth: number, most: number): JsonObject[] {
    const steps = [this.step(depth)];
    while (steps.length < most && !this.isFull() && !this.#chance.once(3))
      steps.push(this.step(depth));
    return steps;
  }

  /** Any step, and often a repeated one. */
  #target(): string {
    return `s${this.#chance.int(this.#chance.once(2) ? 3 : STEPS_MAX)}`;
  }

  #inside(depth: number): Json {
    if (depth >= DEPTH_MAX || this.isFull()) return [[this.step(DEPTH_MAX)]];
    const branches = this.#chance.once(4) ? 4 : 2;
    const sequences: Json[] = [this.steps(depth + 1, 3)];
    while (sequences.length < branches && !this.isFull()) sequences.push(this.steps(depth + 1, 2));
    return sequences;
  }

  #graph(): JsonObject {
    const { pick } = this.#picks();
    return { '@a': pick(VALUES), '@b': pick(VALUES), c: [{ '@d': pick(VALUES) }] };
  }

  #picks(): { pick: <Value>(values: readonly Value[]) => Value } {
    return { pick: (values) => this.#chance.pick(values) };
  }

  #container(depth: number): JsonObject {
    const { pick } = this.#picks();
    const kinds: readonly (() => JsonObject)[] = [
      () => ({ stepType: 'While', inputs: { condition: pick(CONDITIONS) } }),
      () => ({ stepType: 'If', inputs: { condition: pick(CONDITIONS) } }),
      () => ({ stepType: 'Foreach', inputs: { collection: pick(COLLECTIONS), runParallel: this.#chance.once(2) } }),
      () => ({ stepType: 'Parallel' }),
      () => ({ stepType: 'Sequence' }),
      () => ({ stepType: 'Schedule', inputs: { interval: pick(DURATIONS), background: this.#chance.once(2) } }),
      () => ({ stepType: 'Recur', inputs: { interval: pick(DURATIONS), stopCondition: pick(CONDITIONS), background: this.#chance.once(2) } }),
    ]; // prettier-ignore
    return { ...pick(kinds)(), do: this.#inside(depth) };
  }

  #leaf(): JsonObject {
    const { pick } = this.#picks();
    const kinds: readonly (() => JsonObject)[] = [
      () => ({ stepType: 'NoOp' }),
      () => ({ stepType: 'Decide' }),
      () => ({ stepType: 'EmitLog', inputs: { message: this.#graph(), level: "'Trace'" } }),
      () => ({ stepType: 'Delay', inputs: { period: pick(DURATIONS) } }),
      () => ({ stepType: 'WaitFor', inputs: { eventName: "'e'", eventKey: "'past'", effectiveDate: "'2000-01-01T00:00:00Z'" } }),
      () => ({ stepType: 'WaitFor', inputs: { eventName: "'e'", eventKey: "'never'", timeout: pick(DURATIONS) } }),
      () => ({ stepType: 'Activity', inputs: { activityName: "'a'", parameters: this.#graph(), timeout: pick(DURATIONS) } }),
      () => ({ stepType: 'HttpRequest', inputs: { baseUrl: pick(["'http://127.0.0.1:9'", '0', "'http://169.254.169.254'"]), body: this.#graph(), timeout: 0.01 } }),
      () => ({ stepType: 'SubWorkflow', inputs: { definitionId: pick(['context.Workflow.DefinitionId', "'echo'", "'waits'", "'nothing'"]), data: this.#graph(), wait: this.#chance.once(2) } }),
      () => ({ stepType: 'My Custom Step', inputs: { x: pick(VALUES) } }),
    ]; // prettier-ignore
    return pick(kinds)();
  }

  #kind(depth: number): JsonObject {
    const isContainer = depth < DEPTH_MAX && !this.isFull() && this.#chance.once(2);
    return isContainer ? this.#container(depth) : this.#leaf();
  }

  #members(depth: number): JsonObject {
    const chance = this.#chance;
    const { pick } = this.#picks();
    const members: JsonObject = { errorBehavior: pick(BEHAVIORS), retryInterval: 0 };
    if (chance.once(2)) members['nextStepId'] = this.#target();
    if (chance.once(4)) members['selectNextStep'] = { [this.#target()]: pick(CONDITIONS), [this.#target()]: 'True' };
    if (chance.once(3)) members['outputs'] = { [pick(NAMES)]: pick(VALUES), grown: pick(VALUES) };
    if (chance.once(3)) Object.assign(members, { maxRetries: pick(RETRIES), retryBackoff: pick(FACTORS), onRetriesExhausted: pick(['Suspend', 'Terminate', 'Compensate']) });
    if (chance.once(8)) Object.assign(members, { cancelCondition: pick(CONDITIONS), proceedOnCancel: chance.once(2) });
    if (chance.once(8)) members['timeout'] = pick([0.001, 1]);
    if (chance.once(6)) members['saga'] = true;
    if (chance.once(4) && !this.isFull()) members['compensateWith'] = this.steps(Math.max(depth, DEPTH_MAX - 1), 2);
    return members;
  } // prettier-ignore
}

/** A definition of this id, without references that lead nowhere. */
export function hostileDocument(id: string, chance: Chance): JsonObject {
  const steps = new Writer(chance).steps(0, 4);
  const defaultErrorBehavior = chance.pick(BEHAVIORS);
  const known = new Set(JSON.stringify(steps).match(/(?<="id":")s\d+/g));
  return withoutStrays({ id, defaultErrorBehavior, steps }, known) as JsonObject;
}

function withoutStrays(value: Json, known: ReadonlySet<string>): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => withoutStrays(item, known));
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([key, inner]) => !/^s\d+$/.test(key) || known.has(key) || typeof inner === 'object')
      .filter(
        ([key, inner]) => key !== 'nextStepId' || (typeof inner === 'string' && known.has(inner)),
      )
      .map(([key, inner]) => [key, withoutStrays(inner, known)]),
  );
}

/** The data with which such a definition is started. */
export function hostileData(chance: Chance): JsonObject {
  return {
    n: chance.int(4),
    text: 'x'.repeat(chance.pick([1, 1000, 200_000])),
    list: Array.from({ length: chance.pick([1, 3, 100]) }, (_, at) => [at, [at]]),
    long: Array.from({ length: chance.pick([10, 2000]) }, (_, at) => at),
    grown: [0],
  };
}
