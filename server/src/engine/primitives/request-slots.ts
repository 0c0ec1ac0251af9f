/** Which slots an execution needs: those of its step's limits, with the values of their keys. */
import type { StepLimit } from '../model/definition.js';
import { executionKey, type Pointer } from '../model/pointer.js';
import type { NeededSlot } from '../model/slots.js';
import type { Session } from '../session/session.js';
import { toLimitKey } from '../values/convert-input.js';
import type { Json } from '../values/json.js';
import { StepFailedError } from './primitive.js';

/** Of a need in the stored state, without its names, in bytes. */
const NEED_LENGTH = 100;

/**
 * Sets the slots of the attempt that begins. The primitive asks for them.
 * @param limits at least one
 * @throws StepFailedError `InvalidLimitKey`
 */
export function requestSlots(
  session: Session,
  pointer: Pointer,
  limits: readonly StepLimit[],
  keys: readonly Json[] = [],
): void {
  const needs = limits.map(({ name, units }, index): NeededSlot => {
    const key = keyOf(name, keys[index] ?? null);
    session.grown += NEED_LENGTH + 6 * (name.length + key.length);
    return { limit: name, key, units };
  });
  const [first, ...others] = needs.sort((a, b) => (a.limit < b.limit ? -1 : 1));
  if (first === undefined) return;
  const execution = executionKey(session.instance.id, pointer);
  pointer.slots = { execution, needs: [first, ...others] };
}

/** None and an empty text count as no key, as for `Concurrency`. */
function keyOf(limit: string, value: Json): string {
  if (value === null || value === '') return '';
  const text = toLimitKey(value);
  if (text.ok) return text.value;
  throw new StepFailedError({
    type: INVALID_LIMIT_KEY,
    message: `Key of the limit '${limit}': ${text.message}`,
    data: null,
  });
}

/** The failure of a step whose key has no value, or not one that can be a key. It isn't retried. */
export const INVALID_LIMIT_KEY = 'InvalidLimitKey';
