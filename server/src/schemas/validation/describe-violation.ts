/** What users read about data that does not fit: one problem for each violation, with its place in the data. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { describeValue, quoteText } from '../../engine/values/convert-input.js';
import { childPointer } from '../../engine/definitions/json-pointer.js';
import { suggestedName } from '../../engine/definitions/suggest-name.js';
import { writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import type { DocumentProblem } from '../../engine/model/definition.js';

/** Shown choices of an `enum`. */
const CHOICES_MAX = 8;
const TEXT_LENGTH_MAX = 200;

/** A violation with the exact value that violates. */
export interface Violation {
  readonly error: ErrorObject;
  readonly value: Json;
}

type Describe = (violation: Violation) => Omit<DocumentProblem, 'code' | 'pointer'> | string;

/** `params` of errors are what the compiler documents for each keyword. */
function param(error: ErrorObject, name: string): string {
  return String((error.params as Readonly<Record<string, unknown>>)[name]);
}

const limit = (sentence: (count: string) => string): Describe => {
  return ({ error }) => sentence(param(error, 'limit'));
};
const characters = (count: string): string =>
  count === '1' ? 'one character' : `${count} characters`;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  type: ({ error, value }) =>
    `must be ${typeNames(error.schema as Json)}, not ${describeValue(value)}`,
  const: ({ error, value }) =>
    `must be ${shown(error.schema as Json)}, not ${describeValue(value)}`,
  enum: describeChoice,
  minimum: (violation) => compared('at least', violation),
  maximum: (violation) => compared('at most', violation),
  exclusiveMinimum: (violation) => compared('more than', violation),
  exclusiveMaximum: (violation) => compared('less than', violation),
  multipleOf: (violation) => compared('a multiple of', violation),
  minLength: limit((count) => `must have at least ${characters(count)}`),
  maxLength: limit((count) => `must have at most ${characters(count)}`),
  pattern: ({ error, value }) =>
    `must match the pattern ${quoteText(param(error, 'pattern'))}, which ${describeValue(value)} does not`,
  minItems: limit((count) => `must have at least ${count} items`),
  maxItems: limit((count) => `must have at most ${count} items`),
  uniqueItems: () => 'must not have two equal items',
  contains: ({ error }) =>
    `must have at least ${param(error, 'minContains')} items that fit "contains"`,
  minProperties: limit((count) => `must have at least ${count} members`),
  maxProperties: limit((count) => `must have at most ${count} members`),
  required: () => 'is required',
  dependentRequired: ({ error }) =>
    `is required, because ${quoteText(param(error, 'property'))} is given`,
  additionalProperties: describeUnknown,
  unevaluatedProperties: () => 'is not allowed here',
  unevaluatedItems: limit((count) => `must have at most ${count} items`),
  not: () => 'must not fit the schema under "not"',
  anyOf: ({ error }) => `fits none of the ${countOf(error)} alternatives of "anyOf"`,
  oneOf: ({ error }) =>
    error.params['passingSchemas'] === null
      ? `fits none of the ${countOf(error)} alternatives of "oneOf"`
      : `fits more than one of the alternatives of "oneOf"`,
  'false schema': () => 'is not allowed here',
};

/** Errors that only repeat what others say in detail. */
export const REPEATING_KEYWORDS: ReadonlySet<string> = new Set(['if', 'propertyNames']);

export function describeViolation(violation: Violation): DocumentProblem {
  const { error } = violation;
  const described = DESCRIPTIONS[error.keyword]?.(violation) ?? 'does not fit the schema';
  const { message, ...rest } = typeof described === 'string' ? { message: described } : described;
  const pointer = pointerOf(error);
  const code = error.keyword
    .replace(' ', '_')
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    code,
    pointer,
    message: withFullStop(`${subjectOf(pointer, error)} ${message}`),
    ...rest,
  };
}

function withFullStop(sentence: string): string {
  return sentence.endsWith('?') ? sentence : `${sentence}.`;
}

/** The place of the violation: of a member that is missing or not allowed, its own. */
function pointerOf(error: ErrorObject): string {
  const { instancePath, params, propertyName } = error;
  const member: unknown =
    propertyName ??
    (params as Readonly<Record<string, unknown>>)['missingProperty'] ??
    (params as Readonly<Record<string, unknown>>)['additionalProperty'] ??
    (params as Readonly<Record<string, unknown>>)['unevaluatedProperty'];
  return typeof member === 'string' ? childPointer(instancePath, member) : instancePath;
}

function subjectOf(pointer: string, error: ErrorObject): string {
  if (pointer === '') return 'The data';
  const name = pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  return error.propertyName === undefined ? quoteText(name) : `The name ${quoteText(name)}`;
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

function compared(relation: string, { error, value }: Violation): string {
  return `must be ${relation} ${shown(error.schema as Json)}, not ${describeValue(value)}`;
}

function shown(value: Json): string {
  const text = writeJson(value);
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}…`;
}

function describeChoice({ error, value }: Violation): ReturnType<Describe> {
  const choices = error.schema as readonly Json[];
  const first = choices.slice(0, CHOICES_MAX).map(shown).join(', ');
  const more = choices.length > CHOICES_MAX ? ' …' : '';
  const message = `must be one of ${first}${more}, not ${describeValue(value)}`;
  if (typeof value !== 'string') return message;
  const texts = choices.filter((choice) => typeof choice === 'string').slice(0, 100);
  const near = suggestedName(value, texts);
  return near === null ? message : { message, suggestion: near };
}

function describeUnknown({ error }: Violation): ReturnType<Describe> {
  const message = 'is not allowed here';
  const properties = (error.parentSchema as JsonObject | undefined)?.['properties'];
  if (properties === undefined || !isJsonObject(properties)) return message;
  const near = suggestedName(
    param(error, 'additionalProperty'),
    Object.keys(properties).slice(0, 100),
  );
  return near === null
    ? message
    : { message: `${message}. Did you mean "${near}"?`, suggestion: near };
}

function countOf(error: ErrorObject): number {
  return Array.isArray(error.schema) ? error.schema.length : 0;
}
