/** Finds the positions of JSON pointers in a JSON text, which must be valid. */
import { endOfString } from '../../engine/values/json-string.js';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition, WrittenNumbers } from './request-context.js';
import { positionsIn } from './text-position.js';

/** Finds many positions in one text. The text is scanned on the first request. */
export function jsonLocator(text: string): (pointer: string) => TextPosition | null {
  let places: JsonPlaces | undefined;
  let at: ((offset: number) => TextPosition) | undefined;
  return (pointer) => {
    places ??= new JsonPlaces(text);
    at ??= positionsIn(text);
    return at(places.offsetOf(pointer));
  };
}

const NUMBER = /[-+.\deE]+/y;

/** The original notation of the numbers in a text. */
export function jsonNumbers(text: string): WrittenNumbers {
  let places: JsonPlaces | undefined;
  return (pointer) => {
    places ??= new JsonPlaces(text);
    NUMBER.lastIndex = places.offsetOf(pointer);
    return NUMBER.exec(text)?.[0] ?? null;
  };
}

const [QUOTE, COMMA] = [0x22, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** An element, or a member of an object, which starts with its name. */
interface Child {
  readonly start: number;
  readonly value: number;
}

/**
 * Reads only the objects and lists on a pointer's path, each of them once, because an object with tens of thousands of members
 * may have a hundred problems.
 */
class JsonPlaces {
  readonly #text: string;
  /** Where each object and list ends, by its start. */
  readonly #ends: ReadonlyMap<number, number>;
  readonly #children = new Map<number, ReadonlyMap<string, Child>>();

  constructor(text: string) {
    this.#text = text;
    this.#ends = endsOfContainers(text);
  }

  /** The nearest existing position: for a missing member, its parent's position. */
  offsetOf(pointer: string): number {
    const start = this.#skipBlanks(0);
    let found: Child = { start, value: start };
    for (const segment of pointerSegments(pointer)) {
      const child = this.#childrenOf(found.value).get(segment);
      if (child === undefined) break;
      found = child;
    }
    // Users look for an object or list at its name.
    return this.#ends.has(found.value) ? found.start : found.value;
  }

  /** If several members have the same name, the last one counts. */
  #childrenOf(container: number): ReadonlyMap<string, Child> {
    let children = this.#children.get(container);
    if (children === undefined) {
      children = this.#readChildren(container);
      this.#children.set(container, children);
    }
    return children;
  }

  #readChildren(container: number): ReadonlyMap<string, Child> {
    const children = new Map<string, Child>();
    const end = this.#ends.get(container) ?? 0;
    const isList = this.#text.charCodeAt(container) === LIST;
    let start = this.#skipBlanks(container + 1);
    for (let index = 0; start < end; index += 1) {
      let [name, value] = [String(index), start];
      if (!isList) {
        const nameEnd = endOfString(this.#text, start) + 1;
        name = stringIn(this.#text.slice(start, nameEnd));
        const colon = this.#skipBlanks(nameEnd);
        value = this.#skipBlanks(colon + 1);
      }
      children.set(name, { start, value });
      const comma = this.#skipBlanks(this.#endOf(value));
      start = this.#skipBlanks(comma + 1);
    }
    return children;
  }

  /** The offset after the value. */
  #endOf(value: number): number {
    if (this.#text.charCodeAt(value) === QUOTE) return endOfString(this.#text, value) + 1;
    const containerEnd = this.#ends.get(value);
    if (containerEnd !== undefined) return containerEnd + 1;
    let end = value;
    while (end < this.#text.length && !isEndOfWord(this.#text.charCodeAt(end))) end += 1;
    return end;
  }

  #skipBlanks(offset: number): number {
    let at = offset;
    while (isBlank(this.#text.charCodeAt(at))) at += 1;
    return at;
  }
}

function endsOfContainers(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(text, index);
    } else if (code === OBJECT || code === LIST) {
      open.push(index);
    } else if (code === OBJECT_END || code === LIST_END) {
      ends.set(open.pop() ?? 0, index);
    }
  }
  return ends;
}

function stringIn(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** The offset after a number, `true`, `false` or `null`. */
function isEndOfWord(code: number): boolean {
  return code === COMMA || code === OBJECT_END || code === LIST_END || isBlank(code);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
