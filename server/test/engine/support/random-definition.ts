/**
 * Random definitions in which anything can happen, and which still end once nothing fails any more.
 *
 * They are finite because:
 * - loops burn `data.fuel`: While and Recur run while there is some, and backward jumps need some;
 * - all other jumps lead forwards in the document;
 * - expressions fail only while `world.healthy` is false;
 * - a step that has a Timeout, or contains one, has a limited number of retries.
 */
import type { Choices } from './choices.js';
import type { DefinitionMembers, StepSource } from './define.js';

type MutableStep = { -readonly [Member in keyof StepSource]: StepSource[Member] };

export interface RandomDefinition {
  readonly steps: readonly StepSource[];
  readonly members: DefinitionMembers;
  readonly mayTerminate: boolean;
}

export const FUEL = 8;
export const RANDOM_DATA = { fuel: FUEL, hits: 0 };
/** Few, so that steps have to wait. */
export const RANDOM_SLOTS = { a: 1, b: 2 };
export const EVENT_NAMES = ['e0', 'e1'] as const;

const STEPS_MAX = 24;
const DEPTH_MAX = 4;

export function randomDefinition(choices: Choices): RandomDefinition {
  const builder = new Builder(choices);
  const steps = builder.sequence(0);
  builder.addJumps();
  const defaults = ['Retry', 'Suspend', 'Compensate'];
  return {
    steps,
    members: {
      defaultErrorBehavior: choices.pick(
        builder.mayTerminate ? [...defaults, 'Terminate'] : defaults,
      ),
      defaultErrorRetryInterval: 1,
    },
    mayTerminate: builder.mayTerminate,
  };
}

const FAULT = '(world.healthy || data.hits % 2 === 0 ? true : data.none)';
const BURN = { fuel: 'data.fuel - 1' };

const LEAVES = [
  'NoOp',
  'custom',
  'Activity',
  'WaitFor',
  'Delay',
  'HttpRequest',
  'SubWorkflow',
  'EmitLog',
  'Decide',
] as const;
const CONTAINERS = ['Sequence', 'Parallel', 'If', 'Foreach', 'While', 'Schedule', 'Recur'] as const;

const LIMITED: ReadonlySet<string> = new Set(['custom', 'Activity', 'HttpRequest', 'SubWorkflow']);

class Builder {
  readonly mayTerminate: boolean;
  readonly #choices: Choices;
  /** In document order. */
  readonly #steps: MutableStep[] = [];

  constructor(choices: Choices) {
    this.#choices = choices;
    this.mayTerminate = choices.percent(30);
  }

  sequence(depth: number): StepSource[] {
    const length = 1 + this.#choices.below(3);
    const steps: MutableStep[] = [];
    while (steps.length < length && (steps.length === 0 || this.#steps.length < STEPS_MAX)) {
      const step = this.#step(depth);
      const before = steps.at(-1);
      if (before !== undefined) before.nextStepId = step.id;
      steps.push(step);
    }
    return steps;
  }

  /** Adds jumps to some steps: forwards freely, backwards at the cost of fuel. */
  addJumps(): void {
    for (const [index, step] of this.#steps.entries()) {
      const after = this.#steps.slice(index + 1);
      if (after.length > 0 && this.#choices.percent(12)) {
        step.selectNextStep = { [this.#choices.pick(after).id]: this.#condition() };
      }
      if (step.stepType === 'NoOp' && this.#choices.percent(10)) {
        step.outputs = { ...step.outputs, ...BURN };
        const before = this.#choices.pick(this.#steps.slice(0, index + 1)).id;
        step.selectNextStep = { ...step.selectNextStep, [before]: 'data.fuel > 0' };
      }
    }
  }

  #step(depth: number): MutableStep {
    const canNest = depth < DEPTH_MAX && this.#steps.length < STEPS_MAX;
    const isContainer = canNest && this.#choices.percent(45);
    const kind = isContainer ? this.#choices.pick(CONTAINERS) : this.#choices.pick(LEAVES);
    const step: MutableStep = {
      id: `s${this.#steps.length}`,
      stepType: kind,
      inputs: this.#inputs(kind),
    };
    this.#steps.push(step);
    this.#addOutputs(step);
    if (this.#choices.percent(15)) this.#addCancelCondition(step);
    step.saga = isContainer && this.#choices.percent(30);
    this.#addErrorBehavior(step, isContainer);
    if (LIMITED.has(kind) && this.#choices.percent(50)) step.limits = this.#limits();
    if (isContainer) step.do = this.#sequences(kind, depth);
    if (canNest && this.#choices.percent(25)) step.compensateWith = this.sequence(depth + 1);
    return step;
  }

  #inputs(kind: (typeof LEAVES)[number] | (typeof CONTAINERS)[number]): Record<string, unknown> {
    const choices = this.#choices;
    switch (kind) {
      case 'NoOp':
      case 'Decide':
      case 'Sequence':
      case 'Parallel':
        return {};
      case 'custom':
        return choices.percent(20) ? { x: FAULT } : { x: 'data.hits' };
      case 'HttpRequest':
        return { baseUrl: "'http://localhost'" };
      case 'EmitLog':
        return { message: choices.percent(20) ? FAULT : "'hello'" };
      case 'Activity':
        return { activityName: "'job'", parameters: 'context.Item', ...this.#timeoutInput() };
      case 'WaitFor': {
        const eventName = `'${choices.pick(EVENT_NAMES)}'`;
        return { eventName, eventKey: "'k'", ...this.#timeoutInput() };
      }
      case 'Delay':
        return { period: choices.below(20) };
      case 'SubWorkflow':
        return { definitionId: "'child'", wait: !choices.percent(30) };
      case 'If':
        return { condition: choices.pick(['true', 'data.hits % 2 === 0', FAULT]) };
      case 'Foreach':
        return {
          collection: choices.pick(['[1, 2]', '[]', '[0]', '[1, 2, 3, 4]']),
          ...choices.pick([{}, { runParallel: false }, { maxParallel: 1 + choices.below(3) }]),
        };
      case 'While':
        return { condition: 'data.fuel > 0' };
      case 'Schedule':
        return { interval: choices.below(10), background: choices.percent(50) };
      case 'Recur': {
        const background = !choices.percent(50);
        return { interval: choices.below(10), stopCondition: 'data.fuel <= 0', background };
      }
    }
  }

  #limits(): NonNullable<StepSource['limits']> {
    const choices = this.#choices;
    const keyed = { name: 'b', key: choices.pick(["'k'", 'data.hits % 2', FAULT]) };
    const units = { name: 'b', units: 1 + choices.below(2) };
    return choices.pick([['a'], [keyed], ['b', 'a'], [units], [keyed, 'a']]);
  }

  /** An Activity that timed out fails again and again: only if no answer ever comes. */
  #timeoutInput(): Record<string, unknown> {
    return this.#choices.percent(20) ? { timeout: 1 + this.#choices.below(30) } : {};
  }

  #addOutputs(step: MutableStep): void {
    if (this.#choices.percent(30)) step.outputs = { hits: 'data.hits + 1' };
    if (this.#choices.percent(25)) step.outputs = { ...step.outputs, ok: FAULT };
  }

  #addCancelCondition(step: MutableStep): void {
    const fuel = this.#choices.below(FUEL);
    step.cancelCondition = this.#choices.pick([
      `data.fuel < ${fuel}`,
      'data.none',
      'data.hits > 2',
    ]);
    step.proceedOnCancel = this.#choices.percent(50);
  }

  #addErrorBehavior(step: MutableStep, isContainer: boolean): void {
    const choices = this.#choices;
    if (choices.percent(20)) step.timeout = 1 + choices.below(20);
    const mustEnd = step.timeout !== undefined || isContainer;
    const behaviors: (string | undefined)[] = ['Retry', 'Compensate'];
    // Without its own ErrorBehavior, a step may be retried forever.
    if (step.timeout === undefined) behaviors.unshift(undefined);
    if (!mustEnd) behaviors.push('Suspend');
    if (this.mayTerminate) behaviors.push('Terminate');
    const behavior = choices.pick(behaviors);
    if (choices.percent(20)) step.nonRetryable = ['ActivityFailed', 'FieldMissing'];
    if (behavior === undefined) {
      // Retries first, then any other error behavior.
      if (choices.percent(30)) {
        step.maxRetries = choices.below(3);
        step.retryInterval = choices.below(5);
      }
      return;
    }
    step.errorBehavior = behavior;
    if (behavior !== 'Retry') return;
    step.retryInterval = choices.below(5);
    if (!mustEnd && choices.percent(50)) return;
    step.maxRetries = choices.below(3);
    step.retryBackoff = 1 + choices.below(2);
    const exhausted = ['Compensate', mustEnd ? 'Compensate' : 'Suspend'];
    step.onRetriesExhausted = choices.pick(
      this.mayTerminate ? [...exhausted, 'Terminate'] : exhausted,
    );
  }

  #sequences(kind: string, depth: number): StepSource[][] {
    const count = this.#choices.below(3);
    const sequences: StepSource[][] = [];
    if (kind === 'While' || kind === 'Recur') {
      const burn: MutableStep = { id: `s${this.#steps.length}`, stepType: 'NoOp', outputs: BURN };
      this.#steps.push(burn);
      sequences.push([burn]);
    } else {
      sequences.push(this.sequence(depth + 1));
    }
    while (sequences.length <= count && this.#steps.length < STEPS_MAX) {
      sequences.push(this.sequence(depth + 1));
    }
    return sequences;
  }

  #condition(): string {
    return this.#choices.pick(['true', 'data.hits % 2 === 1', FAULT]);
  }
}
