import {
  toBoolean,
  toChoice,
  toChoices,
  toCount,
  toDurationMs,
  toEmitLevel,
  toEventKey,
  toList,
  toName,
  toObject,
  toReference,
  toText,
  toTimeMs,
  type Conversion,
} from '../values/convert-input.js';
import type { InputValue } from '../model/input-value.js';
import { EMIT_LEVELS } from '../values/input-choices.js';
import type { Json } from '../values/json.js';
import { toStatusList } from '../values/status-list.js';
import { quotedText } from './parse-input-value.js';
import type { ParseState } from './parse-state.js';
import type { InputKind, StepTypeInput } from './step-types.js';

const NUMBER_KINDS: ReadonlySet<InputKind> = new Set(['duration', 'count']);

/**
 * Finds constant inputs that the step cannot use. They would fail in every run, so they are rejected when the
 * definition is posted instead of being retried forever.
 */
export function checkLiteralInput(
  input: StepTypeInput,
  value: InputValue,
  place: { readonly pointer: string; readonly state: ParseState },
): void {
  const { pointer, state } = place;
  const literal = literalValue(value);
  if (literal === undefined) return;
  const conversion = convert(input, literal);
  if (conversion.ok) {
    warnAboutTruthOfText(input, literal, place);
  } else if (input.kind === 'choice') {
    // Only a warning: Conductor accepts other values here, and later versions of the step may too.
    state.warnings.add('doubtful_value', pointer, `${input.name}: ${conversion.message}.`);
  } else {
    // A number can have the right type for a duration or a count and still be too large.
    const rightKind =
      typeof literal === 'string' ||
      (NUMBER_KINDS.has(input.kind) && ['number', 'bigint'].includes(typeof literal));
    const code = rightKind ? 'invalid_value' : 'wrong_type';
    state.errors.add(code, pointer, `${input.name}: ${conversion.message}.`);
  }
}

function convert(input: StepTypeInput, value: Json): Conversion<unknown> {
  switch (input.kind) {
    case 'any':
      return { ok: true, value };
    case 'text':
      return toText(value);
    case 'name':
      return toName(value);
    case 'eventKey':
      return toEventKey(value);
    case 'reference':
      return toReference(value);
    case 'boolean':
      return toBoolean(value);
    case 'duration':
      return toDurationMs(value);
    case 'time':
      return toTimeMs(value);
    case 'count':
      return toCount(value);
    case 'list':
      return toList(value);
    case 'object':
      return toObject(value);
    case 'statuses':
      return toStatusList(value);
    case 'choice':
      return input.choices === EMIT_LEVELS ? toEmitLevel(value) : toChoice(value, input.choices);
    case 'choices':
      return toChoices(Array.isArray(value) ? value.filter(isKnown) : value, input.choices);
  }
}

/** Finds inputs that have no meaning because another one is false: both must be constants. */
export function checkInputsTogether(
  given: readonly GivenInput[],
  state: Pick<ParseState, 'errors'>,
): void {
  for (const { input, pointer, value } of given) {
    const other = given.find(({ input: { name } }) => name === input.onlyWith);
    if (other === undefined || !isConstant(value) || !isFalse(other.value)) continue;
    const message = `${input.name} has no meaning with ${other.input.name} false. Remove it, or set ${other.input.name} to true.`;
    state.errors.add('invalid_value', pointer, message);
  }
}

export interface GivenInput {
  readonly input: StepTypeInput;
  readonly value: InputValue;
  readonly pointer: string;
}

/** An expression that is nothing but a number is a constant as well. */
function isConstant(value: InputValue): boolean {
  return value.kind === 'constant' || (value.kind === 'expression' && /^\d+$/.test(value.source));
}

export function isFalse(value: InputValue): boolean {
  if (value.kind === 'expression') return ['False', 'None', '0'].includes(value.source);
  if (value.kind !== 'constant') return false;
  const truth = toBoolean(value.value);
  return truth.ok && !truth.value;
}

/** The value of an evaluated list item is not yet known; null represents it. */
function isKnown(item: Json): boolean {
  return item !== null;
}

/** The part of the value that is known before a run; undefined if nothing is. */
export function literalValue(value: InputValue): Json | undefined {
  switch (value.kind) {
    case 'constant':
      return value.value;
    case 'expression':
      return quotedText(value.source) ?? undefined;
    case 'graph':
      // This is an object whatever values its fields get, and no conversion checks more than that.
      return Object.fromEntries(value.fields.map(([key]) => [key, null]));
    case 'list':
      return value.items.map(() => null);
  }
}

function warnAboutTruthOfText(
  input: StepTypeInput,
  literal: Json,
  place: { readonly pointer: string; readonly state: ParseState },
): void {
  if (input.kind !== 'boolean' || typeof literal !== 'string') return;
  if (literal.trim().toLowerCase() !== 'false') return;
  const message = `${input.name}: the string "${literal}" counts as true, as in Python; write False without quotes.`;
  place.state.warnings.add('doubtful_value', place.pointer, message);
}
