/** Where in a JSON text JSON pointers point to. The text is known to be JSON: it was parsed before. */
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition } from './request-context.js';
import { positionsIn } from './text-position.js';

const VALUE_END = /[,\]}\s]/g;
const SPACE_END = /[^ \t\n\r]/g;

/**
 * Finds many places in one text. Where objects and lists end is found out once, so that passing one costs nothing; the
 * children of one are listed when it is first asked.
 */
export function jsonLocator(text: string): (pointer: string) => TextPosition | null {
  let made: { readonly index: JsonIndex; readonly at: (offset: number) => TextPosition } | null =
    null;
  return (pointer) => {
    made ??= { index: new JsonIndex(text), at: positionsIn(text) };
    return made.at(made.index.find(pointer));
  };
}

interface Child {
  /** Where the value begins. */
  readonly start: number;
  /** Where people look for it: at its name, unless it is a plain value. */
  readonly shownAt: number;
}

class JsonIndex {
  readonly #ends: ReadonlyMap<number, number>;
  readonly #children = new Map<number, ReadonlyMap<string, Child>>();

  constructor(readonly text: string) {
    this.#ends = endsOf(text);
  }

  /** The offset of the nearest place that exists: for a member that is missing its parent's. */
  find(pointer: string): number {
    const start = skipSpace(this.text, 0);
    let place: Child = { start, shownAt: start };
    for (const segment of pointerSegments(pointer)) {
      const child = this.#childrenAt(place.start).get(segment);
      if (child === undefined) break;
      place = child;
    }
    return place.shownAt;
  }

  #childrenAt(start: number): ReadonlyMap<string, Child> {
    let children = this.#children.get(start);
    if (children === undefined) {
      children = this.#listChildren(start);
      this.#children.set(start, children);
    }
    return children;
  }

  #listChildren(start: number): ReadonlyMap<string, Child> {
    const { text } = this;
    const found = new Map<string, Child>();
    const end = this.#ends.get(start);
    if (end === undefined) return found;
    const isObject = text[start] === '{';
    let at = skipSpace(text, start + 1);
    while (at < end - 1) {
      let name = String(found.size);
      const nameAt = at;
      if (isObject) {
        const nameEnd = stringEnd(text, at);
        // It is JSON, so that this is a text in quotes.
        name = JSON.parse(text.slice(at, nameEnd)) as string;
        at = skipSpace(text, skipSpace(text, nameEnd) + 1);
      }
      found.set(name, { start: at, shownAt: isObject && this.#ends.has(at) ? nameAt : at });
      at = skipSpace(text, this.#valueEnd(at));
      if (text[at] === ',') at = skipSpace(text, at + 1);
    }
    return found;
  }

  #valueEnd(start: number): number {
    if (this.text[start] === '"') return stringEnd(this.text, start);
    return this.#ends.get(start) ?? indexOf(VALUE_END, this.text, start);
  }
}

/** For the offset of each opening bracket the one after its closing bracket. */
function endsOf(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '{' || character === '[') open.push(at);
    else if (character === '}' || character === ']') ends.set(open.pop() ?? 0, at + 1);
  }
  return ends;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  return indexOf(SPACE_END, text, start);
}

/** The offset of the first match from `start` on, or the end of the text. */
function indexOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.exec(text)?.index ?? text.length;
}
