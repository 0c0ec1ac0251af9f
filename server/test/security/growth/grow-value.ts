/**
 * A JSON value that grows in one dimension at a time: the length of a string, the digits of a number, the elements of a
 * list, the members of an object, or the depth of a value.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../src/engine/values/json.js';

export interface Dimension {
  /** The growing dimension, for messages. */
  readonly name: string;
  /** The whole value at this size. */
  readonly grow: (size: number) => Json;
}

/** Characters that parsers of expressions, patterns and formats may process slowly in large numbers. */
export const PIECES = [
  ' ', 'a', '9', '.a', '(', '[', '{', '-', '+1', 'not ', '*a,', 'a if a else ', 'lambda: ', '"', "'", '\\', '\n', '\t', '#', '@',
  '&', ',', ':', '=', '\u00e9', '\u2028', '\ud83d\ude00', '%', '/', '..', 'e9', 'P1D', '0:',
] as const; // prettier-ignore

type Rebuild = (part: Json) => Json;

/** Every way in which some part of the value can grow. */
export function dimensionsOf(value: Json): readonly Dimension[] {
  const dimensions: Dimension[] = [];
  collect(value, '', (part) => part, dimensions);
  return dimensions;
}

function collect(part: Json, at: string, rebuild: Rebuild, into: Dimension[]): void {
  const add = (name: string, grow: (size: number) => Json): void => {
    into.push({ name: `${name} of '${at}'`, grow: (size) => rebuild(grow(size)) });
  };
  add('lists around the value', (size) => wrapped(part, size, (inner) => [inner]));
  add('objects around the value', (size) => wrapped(part, size, (inner) => ({ a: inner })));
  if (typeof part === 'string') {
    for (const piece of PIECES) {
      add(`${JSON.stringify(piece)} at the end`, (size) => part + piece.repeat(size));
      add(`${JSON.stringify(piece)} before the end`, (size) => `${part}${piece.repeat(size)}a`);
      add(`${JSON.stringify(piece)} instead`, (size) => piece.repeat(size));
    }
  } else if (Array.isArray(part)) {
    growList(part, at, rebuild, into);
  } else if (isJsonObject(part)) {
    growObject(part, at, rebuild, into);
  }
}

function growList(list: readonly Json[], at: string, rebuild: Rebuild, into: Dimension[]): void {
  const first = list[0] ?? 1;
  into.push(
    { name: `same elements of '${at}'`, grow: (size) => rebuild(repeated(size, () => first)) },
    {
      name: `elements with ids of their own of '${at}'`,
      grow: (size) => rebuild(repeated(size, (index) => withOwnId(first, index))),
    },
  );
  for (const [index, element] of list.entries()) {
    const inside: Rebuild = (part) => rebuild(list.map((other, i) => (i === index ? part : other)));
    collect(element, `${at}/${index}`, inside, into);
  }
}

function growObject(object: JsonObject, at: string, rebuild: Rebuild, into: Dimension[]): void {
  const sample = Object.values(object).at(-1) ?? 'data.a';
  into.push(
    {
      name: `members of '${at}'`,
      grow: (size) => rebuild({ ...object, ...members(size, (index) => `k${index}`, sample) }),
    },
    {
      name: `members with one prefix of '${at}'`,
      grow: (size) =>
        rebuild({ ...object, ...members(size, (index) => `@${'k'.repeat(20)}${index}`, sample) }),
    },
  );
  for (const [name, value] of Object.entries(object)) {
    collect(value, `${at}/${name}`, (part) => rebuild({ ...object, [name]: part }), into);
  }
}

function wrapped(value: Json, times: number, wrap: (inner: Json) => Json): Json {
  let result = value;
  for (let count = 0; count < times; count += 1) result = wrap(result);
  return result;
}

function repeated(size: number, make: (index: number) => Json): Json[] {
  return Array.from({ length: size }, (_, index) => make(index));
}

function withOwnId(value: Json, index: number): Json {
  return isJsonObject(value) ? { ...value, Id: `s${index}` } : value;
}

function members(size: number, nameOf: (index: number) => string, value: Json): JsonObject {
  return Object.fromEntries(repeated(size, () => null).map((_, index) => [nameOf(index), value]));
}
