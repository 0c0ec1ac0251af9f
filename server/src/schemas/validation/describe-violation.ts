/** What users read about data that does not fit: one problem for each violation, with its place in the data. */
import { describeValue, quoteText } from '../../engine/values/convert-input.js';
import { childPointer } from '../../engine/definitions/json-pointer.js';
import { suggestedName } from '../../engine/definitions/suggest-name.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import type { Violation } from './validation-run.js';

/** Shown choices of an `enum`. */
const CHOICES_MAX = 8;
const TEXT_LENGTH_MAX = 200;

type Describe = (violation: Violation) => Omit<DocumentProblem, 'code' | 'pointer'> | string;

const limit = (sentence: (count: string) => string): Describe => {
  return ({ expected }) => sentence(shown(expected));
};
const characters = (count: string): string =>
  count === '1' ? 'one character' : `${count} characters`;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  type: ({ expected, value }) => `must be ${typeNames(expected)}, not ${describeValue(value)}`,
  const: ({ expected, value }) => `must be ${shown(expected)}, not ${describeValue(value)}`,
  enum: describeChoice,
  minimum: (violation) => compared('at least', violation),
  maximum: (violation) => compared('at most', violation),
  exclusiveMinimum: (violation) => compared('more than', violation),
  exclusiveMaximum: (violation) => compared('less than', violation),
  multipleOf: (violation) => compared('a multiple of', violation),
  minLength: limit((count) => `must have at least ${characters(count)}`),
  maxLength: limit((count) => `must have at most ${characters(count)}`),
  pattern: ({ expected, value }) =>
    `must match the pattern ${quoteText(expected as string)}, which ${describeValue(value)} does not`,
  minItems: limit((count) => `must have at least ${count} items`),
  maxItems: limit((count) => `must have at most ${count} items`),
  uniqueItems: () => 'must not have two equal items',
  items: limit((count) => `must have at most ${count} items`),
  contains: ({ details, expected }) =>
    `must have at ${details.isTooMany === true ? 'most' : 'least'} ${shown(expected)} items that fit "contains"`,
  minProperties: limit((count) => `must have at least ${count} members`),
  maxProperties: limit((count) => `must have at most ${count} members`),
  required: () => 'is required',
  dependentRequired: describeDependent,
  dependencies: describeDependent,
  additionalProperties: describeUnknown,
  unevaluatedProperties: () => 'is not allowed here',
  unevaluatedItems: () => 'is not allowed here',
  not: () => 'must not fit the schema under "not"',
  anyOf: ({ expected }) => `fits none of the ${shown(expected)} alternatives of "anyOf"`,
  oneOf: ({ details, expected }) =>
    details.isTooMany === true
      ? `fits more than one of the alternatives of "oneOf"`
      : `fits none of the ${shown(expected)} alternatives of "oneOf"`,
  'false schema': () => 'is not allowed here',
};

export function describeViolation(violation: Violation): DocumentProblem {
  const { keyword } = violation;
  const described = DESCRIPTIONS[keyword]?.(violation) ?? 'does not fit the schema';
  const { message, ...rest } = typeof described === 'string' ? { message: described } : described;
  const pointer = pointerOf(violation);
  const code = keyword.replace(' ', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const subject = subjectOf(pointer, violation);
  return { code, pointer, message: withFullStop(`${subject} ${message}`), ...rest };
}

function withFullStop(sentence: string): string {
  return sentence.endsWith('?') ? sentence : `${sentence}.`;
}

/** The place of the violation: of a member that is missing or not allowed, its own. */
function pointerOf({ details, place }: Violation): string {
  const pointer = place.pointer();
  return details.member === undefined ? pointer : childPointer(pointer, details.member);
}

function subjectOf(pointer: string, { place }: Violation): string {
  if (pointer === '') return 'The data';
  const name = pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  return place.isName ? `The name ${quoteText(name)}` : quoteText(name);
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

function typeNames(types: Json): string {
  const names = (Array.isArray(types) ? types : [types]).map(
    (type) => TYPES[String(type)] ?? String(type),
  );
  const last = names.at(-1) ?? '';
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last;
}

function compared(relation: string, { expected, value }: Violation): string {
  return `must be ${relation} ${shown(expected)}, not ${describeValue(value)}`;
}

function shown(value: Json): string {
  const text = writeJson(value);
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}…`;
}

function describeChoice({ expected, value }: Violation): ReturnType<Describe> {
  const choices = expected as readonly Json[];
  const first = choices.slice(0, CHOICES_MAX).map(shown).join(', ');
  const more = choices.length > CHOICES_MAX ? ' …' : '';
  const message = `must be one of ${first}${more}, not ${describeValue(value)}`;
  if (typeof value !== 'string') return message;
  const texts = choices.filter((choice) => typeof choice === 'string').slice(0, 100);
  const near = suggestedName(value, texts);
  return near === null ? message : { message, suggestion: near };
}

function describeDependent({ details }: Violation): string {
  return `is required, because ${quoteText(details.because ?? '')} is given`;
}

function describeUnknown({ details }: Violation): ReturnType<Describe> {
  const message = 'is not allowed here';
  const { member = '', names = [] } = details;
  const near = suggestedName(member, names);
  return near === null
    ? message
    : { message: `${message}. Did you mean "${near}"?`, suggestion: near };
}
