import {
  toBoolean,
  toChoice,
  toChoices,
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
import type { StepTypeInput } from './step-types.js';

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
    // A number can have the right type for a duration and still be too long.
    const rightKind =
      typeof literal === 'string' ||
      (input.kind === 'duration' && ['number', 'bigint'].includes(typeof literal));
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

/** The value of an evaluated list item is not yet known; null represents it. */
function isKnown(item: Json): boolean {
  return item !== null;
}

/** The part of the value that is known before a run; undefined if nothing is. */
function literalValue(value: InputValue): Json | undefined {
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
