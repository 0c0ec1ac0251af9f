/** Stops a misbehaving instance before it harms others: limits the steps that it runs and opens, and its stored size. */
import type { Instance } from '../../engine/model/instance.js';
import { remainingBytes } from '../../engine/values/json-length.js';
import type { Json } from '../../engine/values/json.js';
import { haltInstance } from '../../engine/flow/lifecycle.js';
import type { Session } from '../../engine/session/session.js';
import { stateOf } from '../../engine/model/snapshot.js';
import type { PassLimits } from './pass-environment.js';

/** The instance would exceed the maximum size of a stored instance. */
export class InstanceTooLargeError extends Error {
  override readonly name = 'InstanceTooLargeError' as const;

  constructor(lengthMax: number) {
    super(`its data and open steps would exceed ${lengthMax} bytes`);
  }
}

/** Suspends an instance that has run or opened too many steps and has more work. */
export function haltBeyond(
  session: Session,
  { openStepsMax, stepsWithoutWaitMax }: PassLimits,
): void {
  if (session.queue.size === 0 || session.instance.status !== 'Runnable') return;
  if (session.instance.stepsWithoutWait > stepsWithoutWaitMax) {
    haltInstance(
      session,
      'StepLimit',
      `more than ${stepsWithoutWaitMax} steps ran without waiting`,
    );
  } else if (session.instance.pointers.size > openStepsMax) {
    haltInstance(
      session,
      'OpenStepLimit',
      `more than ${openStepsMax} steps are open at the same time`,
    );
  }
}

/** Tracks the length of the stored state, so that a state that is too long is rejected before it is written. */
export class StateLength {
  readonly #lengthMax: number;
  /** An upper bound of the state's length, without its growth in the current session. */
  #length: number;

  constructor(length: number, lengthMax: number) {
    this.#length = length;
    this.#lengthMax = lengthMax;
  }

  get value(): number {
    return this.#length;
  }

  /** Call before a commit. Measures the state only if it may be too long. @throws InstanceTooLargeError */
  assertWritable(session: Session): void {
    this.#length += session.grown;
    session.grown = 0;
    if (this.#length <= this.#lengthMax) return;
    const left = leftToWrite(session.instance, this.#lengthMax);
    if (left < 0) throw new InstanceTooLargeError(this.#lengthMax);
    this.#length = this.#lengthMax - left;
  }

  /** Called with the written length. */
  written(length: number): void {
    this.#length = length;
  }
}

function leftToWrite(instance: Instance, lengthMax: number): number {
  // The state consists of JSON only, because it is written as JSON.
  return remainingBytes(stateOf(instance) as unknown as Json, lengthMax);
}
