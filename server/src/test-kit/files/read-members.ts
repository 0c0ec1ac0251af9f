/** Reads members of a document in any casing, and collects its problems with their places. */
import { childPointer } from '../../engine/definitions/json-pointer.js';
import { suggestName } from '../../engine/definitions/suggest-name.js';
import { describeValue } from '../../engine/values/convert-input.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import type { FileProblem, Place } from './file.js';

export class Problems {
  readonly found: FileProblem[] = [];
  readonly #locate: (pointer: string) => Place | null;

  constructor(locate: (pointer: string) => Place | null) {
    this.#locate = locate;
  }

  placeOf(pointer: string): Place {
    return this.#locate(pointer) ?? { line: 1, column: 1 };
  }

  add(pointer: string, message: string): void {
    this.found.push({ ...this.placeOf(pointer), message });
  }
}

interface Member {
  readonly value: Json;
  readonly pointer: string;
}

/** A map of the document. Null counts as absent, except where any value is allowed. */
export class Members<Name extends string> {
  readonly pointer: string;
  readonly #problems: Problems;
  readonly #members = new Map<string, Member>();

  constructor(
    value: Json,
    pointer: string,
    names: Readonly<Record<Name, string>>,
    problems: Problems,
  ) {
    this.pointer = pointer;
    this.#problems = problems;
    const known = Object.keys(names);
    if (!isJsonObject(value)) {
      problems.add(
        pointer,
        `a map with ${known.join(', ')} is needed, not ${describeValue(value)}`,
      );
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      const place = childPointer(pointer, name);
      const found = known.find((each) => each.toLowerCase() === name.toLowerCase());
      if (found === undefined) {
        const hint = suggestName(name, known) || ` Known are ${known.join(', ')}.`;
        problems.add(place, `${name} is not known here.${hint}`);
      } else if (this.#members.has(found)) problems.add(place, `${found} occurs twice`);
      else this.#members.set(found, { value: member, pointer: place });
    }
  }

  has(name: Name): boolean {
    return this.#members.has(name);
  }

  pointerOf(name: Name): string {
    return this.#members.get(name)?.pointer ?? this.pointer;
  }

  /** Undefined: absent. */
  any(name: Name): Json | undefined {
    return this.#members.get(name)?.value;
  }

  text(name: Name): string | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
    return this.#wrong(name, 'a text', value);
  }

  requiredText(name: Name): string {
    if (!this.has(name)) this.#problems.add(this.pointer, `${name} is missing`);
    return this.text(name) ?? '';
  }

  flag(name: Name): boolean | null {
    const value = this.#value(name);
    return value === null || typeof value === 'boolean'
      ? value
      : this.#wrong(name, 'true or false', value);
  }

  integer(name: Name): number | null {
    const value = this.#value(name);
    if (value === null || Number.isInteger(value)) return value as number | null; // Checked.
    return this.#wrong(name, 'a whole number', value);
  }

  object(name: Name): JsonObject | null {
    const value = this.#value(name);
    return value === null || isJsonObject(value) ? value : this.#wrong(name, 'a map', value);
  }

  /** A map of text to text. */
  textMap(name: Name): Readonly<Record<string, string>> | null {
    const found = this.object(name);
    if (found === null) return null;
    const texts: Record<string, string> = {};
    for (const [key, value] of Object.entries(found)) {
      if (typeof value === 'string') texts[key] = value;
      else {
        const place = childPointer(this.pointerOf(name), key);
        this.#problems.add(place, `${key} is a text, not ${describeValue(value)}`);
      }
    }
    return texts;
  }

  list(name: Name): readonly Json[] | null {
    const value = this.#value(name);
    return value === null || isList(value) ? value : this.#wrong(name, 'a list', value);
  }

  texts(name: Name): readonly string[] | null {
    const list = this.list(name);
    if (list === null) return null;
    if (list.every((item) => typeof item === 'string' || typeof item === 'number')) {
      return list.map(String);
    }
    return this.#wrong(name, 'a list of texts', list);
  }

  choice<Choice extends string>(name: Name, choices: readonly Choice[]): Choice | null {
    const text = this.text(name);
    if (text === null) return null;
    const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
    if (found !== undefined) return found;
    this.#problems.add(
      this.pointerOf(name),
      `${name} is one of ${choices.join(', ')}, not ${describeValue(text)}`,
    );
    return null;
  }

  #value(name: Name): Json {
    return this.any(name) ?? null;
  }

  #wrong(name: Name, wanted: string, value: Json): null {
    this.#problems.add(this.pointerOf(name), `${name} is ${wanted}, not ${describeValue(value)}`);
    return null;
  }
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
