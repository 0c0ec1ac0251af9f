/** Where an instance that misbehaves is stopped, so that it harms no other: what it runs, opens and keeps is bounded. */
import type { WorkflowInstance } from '../../engine/model/instance.js';
import { leftOf } from '../../engine/values/json-length.js';
import type { Json } from '../../engine/values/json.js';
import { haltRun } from '../../engine/flow/lifecycle.js';
import type { Run } from '../../engine/flow/run.js';
import { stateOf } from '../../engine/model/snapshot.js';
import type { ActorLimits } from '../instances/actor-environment.js';

/** The instance would become larger than what may be stored of one. */
export class InstanceTooLargeError extends Error {
  override readonly name = 'InstanceTooLargeError' as const;

  constructor(lengthMax: number) {
    super(`its data and open steps would exceed ${lengthMax} bytes`);
  }
}

/** Suspends an instance that has more to do when it has done, or opened, too much. */
export function haltBeyond(run: Run, { openStepsMax, stepsWithoutWaitMax }: ActorLimits): void {
  if (run.queue.size === 0 || run.instance.status !== 'Runnable') return;
  if (run.instance.stepsWithoutWait > stepsWithoutWaitMax) {
    haltRun(run, 'StepLimit', `more than ${stepsWithoutWaitMax} steps ran without waiting`);
  } else if (run.instance.pointers.size > openStepsMax) {
    haltRun(run, 'OpenStepLimit', `more than ${openStepsMax} steps are open at the same time`);
  }
}

/** Follows how long the stored state is, so that one that is too long is refused before it is written. */
export class StateLength {
  readonly #lengthMax: number;
  /** At least as long as the state is, but for what the run has grown by. */
  #length: number;

  constructor(length: number, lengthMax: number) {
    this.#length = length;
    this.#lengthMax = lengthMax;
  }

  get value(): number {
    return this.#length;
  }

  /** Before a commit. Only what may be too long is measured. @throws InstanceTooLargeError */
  assertWritable(run: Run): void {
    this.#length += run.grown;
    run.grown = 0;
    if (this.#length <= this.#lengthMax) return;
    const left = leftToWrite(run.instance, this.#lengthMax);
    if (left < 0) throw new InstanceTooLargeError(this.#lengthMax);
    this.#length = this.#lengthMax - left;
  }

  /** What was written. */
  written(length: number): void {
    this.#length = length;
  }
}

function leftToWrite(instance: WorkflowInstance, lengthMax: number): number {
  // All of it is JSON: that is how it is written.
  return leftOf(stateOf(instance) as unknown as Json, lengthMax);
}
