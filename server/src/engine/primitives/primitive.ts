/**
 * A primitive: the behavior of one step type on evaluated inputs.
 *
 * A primitive changes its own pointer (`finish`, `sleep`, `setState`), opens pointers inside it, and requests external work
 * through `run.changes`. It never ends a pointer: `end-path.ts` does that, after the outputs were evaluated.
 */
import type { Json, JsonObject } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import type { Session } from '../session/session.js';
import { invariant } from '../model/invariant.js';

export interface Primitive {
  /** The inputs of the step were evaluated. @throws InputError if they don't fit the step */
  enter(session: Session, pointer: Pointer, inputs: JsonObject): void;
  /** The timer that `sleep` set has fired. */
  woken(session: Session, pointer: Pointer): void;
  /** Every path inside has ended. */
  joined(session: Session, pointer: Pointer): void;
  /** Outputs were applied and successors opened, because the rest of the step runs in the background. */
  continueInBackground(session: Session, pointer: Pointer): void;
  /** True if the step continues in the background after it has finished. */
  staysInBackground(pointer: Pointer): boolean;
}

/** A primitive with the given methods; the others are never called for it. */
export function primitive(
  parts: Pick<Primitive, 'enter'> & Partial<Omit<Primitive, 'enter'>>,
): Primitive {
  const never = (): void => {
    invariant(false, 'a primitive implements the methods that are called');
  };
  return {
    woken: never,
    joined: never,
    continueInBackground: never,
    staysInBackground: () => false,
    ...parts,
  };
}

/** A step error: an input is missing or has the wrong type. */
export class InputError extends Error {
  override readonly name = 'InputError' as const;
}

type Conversion<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string };

/** The step fails because its author requested it. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError' as const;
  readonly failure: { readonly type: string; readonly message: string; readonly data: Json };

  constructor(failure: StepFailedError['failure']) {
    super(failure.message);
    this.failure = failure;
  }
}

/** A required input in the form that the step needs. */
export function required<Value>(
  inputs: JsonObject,
  name: string,
  convert: (value: Json) => Conversion<Value>,
): Value {
  const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  if (value === undefined) throw new InputError(`the input ${name} is missing`);
  return converted(name, convert(value));
}

/** An input that may be absent or null. */
export function optional<Value>(
  inputs: JsonObject,
  name: string,
  convert: (value: Json) => Conversion<Value>,
  fallback: Value,
): Value {
  const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  if (value === undefined || value === null) return fallback;
  return converted(name, convert(value));
}

function converted<Value>(name: string, result: Conversion<Value>): Value {
  if (!result.ok) throw new InputError(`the input ${name}: ${result.message}`);
  return result.value;
}
