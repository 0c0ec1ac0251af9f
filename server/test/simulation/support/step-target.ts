/** The target that step bodies call: records every call with its key and attempt, which determine the response. */
import type { Failure } from '../../../src/engine/failure/fail-step.js';
import type { EffectResult } from '../../../src/engine/flow/messages.js';
import type { StepBodyContext } from '../../../src/step-bodies/step-body.js';

/** The call never gets outside. */
const REFUSED = 'refused';

export interface TargetCall {
  readonly workflowId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly succeeds: boolean;
  calls: number;
}

export class StepTarget {
  readonly entries = new Map<string, TargetCall>();
  readonly #failing: boolean;

  /** `failing`: some first and second attempts fail. */
  constructor(failing: boolean) {
    this.#failing = failing;
  }

  call({ attempt, idempotencyKey, stepId, workflowId }: StepBodyContext): EffectResult {
    // The key is that of the execution; each of its attempts is a separate call.
    const key = `${idempotencyKey}/${attempt}`;
    let entry = this.entries.get(key);
    if (entry === undefined) {
      const succeeds = !this.#fails(stepId, attempt, key);
      entry = { workflowId, stepId, attempt, succeeds, calls: 0 };
      this.entries.set(key, entry);
    }
    entry.calls += 1;
    return entry.succeeds
      ? { ok: true, values: { value: `done ${stepId}` } }
      : { ok: false, failure: failureOf(stepId) };
  }

  /** The same key always has the same result: a target that honors keys is consistent. */
  #fails(stepId: string, attempt: number, key: string): boolean {
    if (stepId.startsWith('broken') || stepId === REFUSED) return true;
    // In a saga any failure would compensate everything, and the model would have to know where.
    if (/^[su]\d/.test(stepId)) return false;
    if (!this.#failing || attempt > 2) return false;
    let sum = 0;
    for (let place = 0; place < key.length; place += 1)
      sum = (sum * 31 + key.charCodeAt(place)) % 997;
    return sum % 4 === 0;
  }
}

function failureOf(stepId: string): Failure {
  if (stepId === REFUSED) return { type: 'AddressRefused', message: 'nothing was asked' };
  return { type: 'Refused', message: 'the outside refused' };
}
