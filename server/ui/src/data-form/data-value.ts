/**
 * Start data while a user edits it. Numbers keep their text, so that `1.0` stays a float and no digit is lost, and a field
 * whose text is not a value yet keeps that text. Pure.
 */
import { parseJson } from '@stepwright/sdk';

export class NumberText {
  constructor(readonly text: string) {}
}

/** The text of a field that is not a valid value, and why. */
export class Draft {
  constructor(
    readonly text: string,
    readonly message: string,
  ) {}
}

export type DataValue =
  null | boolean | string | NumberText | Draft | readonly DataValue[] | DataMembers;

export interface DataMembers {
  readonly [name: string]: DataValue;
}

/** Far more than the server accepts, and few enough to recurse. */
const DEPTH_MAX = 200;

export function isList(value: DataValue | undefined): value is readonly DataValue[] {
  return Array.isArray(value);
}

export function isMembers(value: DataValue | undefined): value is DataMembers {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isList(value) &&
    !(value instanceof NumberText) &&
    !(value instanceof Draft)
  );
}

/** Undefined if there is no such member, also for names such as `constructor`. */
export function memberOf(members: DataMembers, name: string): DataValue | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** A copy of the object with the member, or without it if the value is undefined. */
export function withMember(
  members: DataMembers,
  name: string,
  value: DataValue | undefined,
): DataMembers {
  if (value !== undefined) return { ...members, [name]: value };
  return Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));
}

/** A reviver of JSON.parse gets the text of each number; older browsers do not provide it. */
interface Source {
  readonly source?: string;
}

const HAS_SOURCE: unknown = JSON.parse(
  '1.0',
  (_key, _value, context?: Source) => context?.source === '1.0',
);

/** @throws Error with a message for the user */
export function parseData(text: string): DataValue {
  try {
    return HAS_SOURCE === true
      ? readParsed(JSON.parse(text, keepNumber))
      : fromJson(parseJson(text));
  } catch (error) {
    throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function keepNumber(_key: string, value: unknown, context?: Source): unknown {
  return typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;
}

/** The value with NumberText where the parser left numbers. */
function readParsed(value: unknown, depth = 0): DataValue {
  return value instanceof NumberText ? value : fromJson(value, depth);
}

/** A JSON value of the SDK, in which large integers are bigints. */
export function fromJson(value: unknown, depth = 0): DataValue {
  if (depth > DEPTH_MAX) throw new Error(`nested more than ${DEPTH_MAX} levels deep`);
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return new NumberText(numberText(value));
  if (typeof value === 'bigint') return new NumberText(String(value));
  if (Array.isArray(value)) return value.map((item: unknown) => readParsed(item, depth + 1));
  const members = Object.entries(value ?? {}).map(
    ([name, member]: [string, unknown]) => [name, readParsed(member, depth + 1)] as const,
  );
  return Object.fromEntries(members);
}

/** As the SDK writes numbers: a number from 2^53 on is a float. */
function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Math.abs(value) >= 2 ** 53 ? value.toExponential() : String(value);
}

/** JSON with two spaces of indentation. A draft is written as it is, so that its text is not lost. */
export function writeData(value: DataValue, indent = ''): string {
  if (value instanceof NumberText || value instanceof Draft) return value.text;
  const inner = `${indent}  `;
  if (isList(value)) {
    const items = value.map((item) => inner + writeData(item, inner));
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (isMembers(value)) {
    const members = Object.entries(value).map(
      ([name, member]) => `${inner}${JSON.stringify(name)}: ${writeData(member, inner)}`,
    );
    return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

export function isSameData(a: DataValue | undefined, b: DataValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return writeData(a) === writeData(b);
}

/** The value as the SDK takes it: `JSON.stringify` writes its numbers as they are. */
export function toJson(value: DataValue): unknown {
  if (value instanceof Draft) throw new Error(value.message);
  if (value instanceof NumberText) return rawNumber(value.text);
  if (isList(value)) return value.map(toJson);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, toJson(member)] as const),
  );
}

/** JSON.rawJSON is in all current browsers, but not in TypeScript's library yet. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

function rawNumber(text: string): unknown {
  return rawJSON === undefined ? parseJson(text) : rawJSON(text);
}

/** Matches the numbers of JSON. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)(?:\.0+)?$/;

/** The number that the user has written, or a draft. */
export function readNumber(text: string, isInteger: boolean): NumberText | Draft {
  const trimmed = text.trim();
  if ((isInteger ? INTEGER : NUMBER).test(trimmed)) return new NumberText(trimmed);
  return new Draft(
    text,
    isInteger ? 'Enter an integer, such as 42.' : 'Enter a number, such as 9.5.',
  );
}

export interface Problem {
  /** A JSON pointer into the data. */
  readonly pointer: string;
  readonly message: string;
}

/** The places where the text of a field is not a value. */
export function draftsIn(value: DataValue, pointer = ''): Problem[] {
  if (value instanceof Draft) return [{ pointer, message: value.message }];
  if (isList(value)) return value.flatMap((item, at) => draftsIn(item, `${pointer}/${at}`));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    draftsIn(member, pointerTo(pointer, name)),
  );
}

export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
