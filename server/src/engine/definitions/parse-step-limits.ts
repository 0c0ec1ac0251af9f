/**
 * The member Limits of a step: which limits of the server it needs slots of.
 *
 * Owns: its form. Must not know: which limits exist (the server looks them up when a definition is posted).
 */
import type { StepDefinition, StepLimit } from '../model/definition.js';
import { LIMIT_UNITS_MAX, STEP_LIMITS_MAX } from '../model/limit.js';
import { BUILT_IN_STEP_TYPES } from '../model/step-type-names.js';
import { describeValue, quoteText } from '../values/convert-input.js';
import { isJsonObject, type Json } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import { MemberReader } from './member-reader.js';
import { parseLimitKey } from './parse-limit-key.js';
import type { ParseState } from './parse-state.js';
import { STEP_LIMIT_MEMBERS, type StepLimitMember, type StepMember } from './step-members.js';
import { traitsOf, type StepType } from './step-types.js';

type StepReader = MemberReader<StepMember>;

/** @param type null for a custom step */
export function parseStepLimits(reader: StepReader, type: StepType | null): readonly StepLimit[] {
  const source = reader.value('limits') ?? [];
  if (!Array.isArray(source)) {
    const message = `Limits must be a list of limits, not ${describeValue(source)}.`;
    reader.fail('limits', 'wrong_type', message);
    return [];
  }
  if (source.length > 0 && type !== null && !takesLimits({ type: type.name })) {
    const types = BUILT_IN_STEP_TYPES.filter((name) => takesLimits({ type: name }));
    const message = `${type.name} can have no Limits: only ${types.join(', ')} and custom steps can.`;
    reader.fail('limits', 'limits_not_possible', message);
    return [];
  }
  const limits: StepLimit[] = [];
  const canonical: Json[] = [];
  // Array.isArray narrows to any[]; each item is checked below.
  for (const [index, item] of (source as unknown[]).entries()) {
    const pointer = childPointer(reader.pointerOf('limits'), index);
    if (!admitEntry(reader, index, pointer)) break;
    const entry = readEntry(reader, item, pointer);
    if (entry === null) continue;
    const limit = parseEntry(entry, limits);
    canonical.push(entry.canonical);
    if (limit !== null) limits.push(limit);
  }
  if (canonical.length > 0) reader.keep('limits', canonical);
  return limits;
}

/** Steps that work outside of the run: at calls, at workers, in another run. */
export function takesLimits(step: Pick<StepDefinition, 'type'>): boolean {
  const { body, offersWork, startsInstance } = traitsOf(step);
  return body !== null || offersWork || startsInstance;
}

function admitEntry({ state }: StepReader, index: number, pointer: string): boolean {
  if (index < STEP_LIMITS_MAX) return state.admitValues(1, pointer);
  const message = `A step can have at most ${STEP_LIMITS_MAX} Limits.`;
  state.errors.add('too_many_entries', pointer, message);
  return false;
}

type EntryReader = MemberReader<StepLimitMember>;

/** A plain text, which stands for an entry with this Name. Its problems point at the text. */
class NamedEntry extends MemberReader<StepLimitMember> {
  constructor(name: string, pointer: string, state: ParseState) {
    super({ name }, pointer, STEP_LIMIT_MEMBERS, state);
  }

  override pointerOf(): string {
    return this.pointer;
  }
}

/** Null, with an error, if the entry is neither an object nor a text. */
function readEntry({ state }: StepReader, item: unknown, pointer: string): EntryReader | null {
  if (isJsonObject(item)) return new MemberReader(item, pointer, STEP_LIMIT_MEMBERS, state);
  if (typeof item === 'string') return new NamedEntry(item, pointer, state);
  const message = `A limit must be a name or an object such as {"Name": "shop"}, not ${describeValue(item)}.`;
  state.errors.add('wrong_type', pointer, message);
  return null;
}

function parseEntry(entry: EntryReader, before: readonly StepLimit[]): StepLimit | null {
  const name = entry.name('name');
  const key = parseLimitKey(entry);
  const units = entry.number('units', [1, LIMIT_UNITS_MAX], true) ?? 1;
  if (name === null) {
    const value = entry.value('name');
    if (value === null || typeof value === 'string') {
      entry.fail('name', 'invalid_value', 'Each entry of Limits requires a Name.');
    }
    return null;
  }
  if (before.some((limit) => limit.name === name)) {
    const message = `The step already has the limit ${quoteText(name)}; it can have each limit once.`;
    return entry.fail('name', 'duplicate_limit', message);
  }
  const pointers = { pointer: entry.pointerOf('name'), unitsPointer: entry.pointerOf('units') };
  entry.state.limits.push({ name, units, ...pointers });
  return { name, key, units };
}
