/**
 * Reads the members of a definition or a step: matches names in any case, checks and converts values.
 *
 * Owns: the spellings of each member, and the canonical object that is built along the way. Must not know: the meaning of a
 * member.
 *
 *  MR1 Every value that is read is also written to `canonical`, under the camelCase name and in reading order.
 *  MR2 A member that is null counts as absent.
 *  MR3 Every problem points at the member in the spelling of the document.
 */
import { describeValue, quoteText } from '../values/convert-input.js';
import { ERROR_BEHAVIORS, type ErrorBehavior } from '../model/definition.js';
import { DURATION_FORMS, parseDurationMs } from '../values/durations.js';
import { writeNumber } from '../values/exact-json.js';
import { setField, type Json, type JsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import type { ParseState } from './parse-state.js';
import type { DocumentErrorCode } from './problem-list.js';
import { suggestName } from './suggest-name.js';

const MAX_NAME_LENGTH = 200;

/** Control characters and unpaired surrogates: they are indistinguishable on screen and not allowed in URLs. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

interface Member {
  readonly value: unknown;
  readonly pointer: string;
}

export class MemberReader<TName extends string> {
  readonly canonical: JsonObject = {};
  readonly #members: ReadonlyMap<string, Member>;

  constructor(
    source: object,
    readonly pointer: string,
    names: readonly TName[],
    readonly state: ParseState,
  ) {
    this.#members = findMembers(source, pointer, names, state);
  }

  /** The value as posted; null if the member is absent. */
  value(name: TName): unknown {
    return this.#members.get(name)?.value ?? null;
  }

  /** The pointer of the member, or of the object if the member is absent. */
  pointerOf(name: TName): string {
    return this.#members.get(name)?.pointer ?? this.pointer;
  }

  keep(name: TName, value: Json): void {
    setField(this.canonical, name, value);
  }

  fail(name: TName, code: DocumentErrorCode, message: string): null {
    this.state.errors.add(code, this.pointerOf(name), message);
    return null;
  }

  /** Numbers are accepted as strings: authors rarely quote `Name: 5` in YAML. */
  text(name: TName): string | null {
    const value = this.value(name);
    if (value === null) return null;
    const text = isFiniteNumber(value) ? this.#numberAsText(name, value) : value;
    if (typeof text !== 'string') return this.#refuse(name, 'a string');
    this.keep(name, text);
    return text;
  }

  /** As written: `1.10` and `1.1` are different names. */
  #numberAsText(name: TName, value: number | bigint): string {
    const text = writeNumber(value);
    const pointer = this.pointerOf(name);
    const written = this.state.writtenNumber(pointer) ?? text;
    if (written === text) return text;
    const message = `${label(name)} is a text, and ${written} is the number ${text} to other programs. Write it in quotes: ${quoteText(written)}.`;
    this.state.warnings.add('unquoted_number', pointer, message, `"${written}"`);
    return written;
  }

  /** A string that names something. A blank one counts as absent. */
  name(name: TName): string | null {
    const text = this.text(name);
    if (text === null || text.trim() === '') {
      Reflect.deleteProperty(this.canonical, name);
      return null;
    }
    checkName(text, this.pointerOf(name), this.state);
    return text;
  }

  boolean(name: TName): boolean {
    const value = this.value(name);
    if (value === null) return false;
    const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
    if (text !== true && text !== false && text !== 'true' && text !== 'false') {
      this.#refuse(name, 'true or false');
      return false;
    }
    const flag = text === true || text === 'true';
    this.keep(name, flag);
    return flag;
  }

  durationMs(name: TName, least = '0'): number | null {
    const value = this.value(name);
    if (value === null) return null;
    if (!isNumber(value) && typeof value !== 'string') {
      return this.#refuse(name, `a duration (${DURATION_FORMS})`);
    }
    const durationMs = parseDurationMs(value);
    if (durationMs === null) {
      const message = `${label(name)} must be a duration from ${least} to 100 years (${DURATION_FORMS}), not ${describeValue(value)}.`;
      return this.fail(name, 'invalid_value', message);
    }
    this.keep(name, value);
    return durationMs;
  }

  /** A number between `range[0]` and `range[1]`, inclusive. */
  number(name: TName, range: readonly [number, number], isInteger: boolean): number | null {
    const value = this.value(name);
    if (value === null) return null;
    const [min, max] = range;
    const noun = isInteger ? 'a whole number' : 'a number';
    if (!isNumber(value)) return this.#refuse(name, noun);
    const isInRange = typeof value === 'number' && value >= min && value <= max;
    if (!isInRange || (isInteger && !Number.isInteger(value))) {
      const message = `${label(name)} must be ${noun} from ${min} to ${max}, not ${describeValue(value)}.`;
      return this.fail(name, 'invalid_value', message);
    }
    this.keep(name, value);
    return value;
  }

  /** One of `allowed`: a name in any case, or the number that .NET clients send for it. */
  errorBehavior<T extends ErrorBehavior>(name: TName, allowed: readonly T[]): T | null {
    const value = this.value(name);
    if (value === null) return null;
    if (typeof value !== 'number' && typeof value !== 'string') {
      return this.#refuse(name, `one of ${allowed.join(', ')}`);
    }
    const text = String(value).trim().toLowerCase();
    const wanted = /^[0-3]$/.test(text) ? ERROR_BEHAVIORS[Number(text)] : text;
    const behavior = allowed.find((candidate) => candidate.toLowerCase() === wanted?.toLowerCase());
    if (behavior === undefined) {
      const message = `${label(name)} must be one of ${allowed.join(', ')}, not ${describeValue(value)}.`;
      return this.fail(name, 'invalid_value', message);
    }
    this.keep(name, value);
    return behavior;
  }

  #refuse(name: TName, expected: string): null {
    const came = describeValue(this.value(name));
    return this.fail(name, 'wrong_type', `${label(name)} must be ${expected}, not ${came}.`);
  }
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isFiniteNumber(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isFinite(value);
}

/** Ids and step names must be short enough to display and must not contain invisible characters. */
export function checkName(text: string, pointer: string, state: ParseState): void {
  if (text.length > MAX_NAME_LENGTH) {
    const message = `${quoteText(text)} has ${text.length} characters; a name can have at most ${MAX_NAME_LENGTH}.`;
    state.errors.add('name_too_long', pointer, message);
  }
  if (UNPRINTABLE.test(text)) {
    const message = `${quoteText(text)} contains control characters or unpaired surrogates, which are not allowed in a name.`;
    state.errors.add('invalid_value', pointer, message);
  }
  if (text === '.' || text === '..') {
    const message = `${quoteText(text)} cannot be a name, because it cannot be part of a URL.`;
    state.errors.add('invalid_value', pointer, message);
  }
}

/** The spelling of a member in messages, as in the documentation. */
export function label(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function findMembers(
  source: object,
  pointer: string,
  names: readonly string[],
  state: ParseState,
): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  if (!state.admitValues(1, pointer)) return members;
  const spellings = Object.keys(source);
  state.admitValues(spellings.length, pointer);
  const canonicalNames = new Map(names.map((name) => [name.toLowerCase(), name]));
  const lengthMax = Math.max(...names.map((name) => name.length));
  for (const spelling of spellings) {
    const name =
      spelling.length > lengthMax ? undefined : canonicalNames.get(spelling.toLowerCase());
    // Beyond the limit of the list, further unknown members are only counted: a document may have tens of thousands.
    const isListed = name !== undefined || !state.warnings.isCut;
    const memberPointer = isListed ? childPointer(pointer, spelling) : pointer;
    if (name === undefined) {
      state.warnings.add('unknown_member', memberPointer, () => {
        const hint = suggestName(spelling, names.map(label));
        return `${quoteText(spelling)} is not a known member and was ignored.${hint}`;
      });
    } else if (members.has(name)) {
      const message = `${label(name)} is given twice, in different spellings.`;
      state.errors.add('duplicate_member', memberPointer, message);
    } else {
      const value = (source as Readonly<Record<string, unknown>>)[spelling];
      members.set(name, { value, pointer: memberPointer });
    }
  }
  return members;
}
