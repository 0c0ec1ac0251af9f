/**
 * Turns the document of a limit (parsed JSON or YAML) into its settings, or lists all its problems. Member names match in any case.
 *
 * Unlike in a definition, an unknown member is an error: a limit that silently limits nothing would be noticed too late.
 */
import type { DocumentProblem } from '../model/definition.js';
import {
  LIMIT_CONCURRENCY_MAX,
  LIMIT_COUNT_MAX,
  LIMIT_DESCRIPTION_LENGTH_MAX,
  LIMIT_PERIOD_MS,
  type LimitRate,
  type LimitSettings,
} from '../model/limit.js';
import { describeValue, quoteText } from '../values/convert-input.js';
import { DURATION_FORMS } from '../values/durations.js';
import { isJsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import { label, MemberReader } from './member-reader.js';
import { ParseState, type ParseOptions } from './parse-state.js';
import { MAX_PROBLEMS, mergeProblems } from './problem-list.js';
import { suggestedName } from './suggest-name.js';

const LIMIT_MEMBERS = ['name', 'description', 'concurrency', 'rate'] as const;
const RATE_MEMBERS = ['count', 'per', 'burst'] as const;

export interface ParsedLimit {
  /** Null if the document has none, or an invalid one. */
  readonly name: string | null;
  readonly namePointer: string;
  /** Null if there are errors. */
  readonly limit: LimitSettings | null;
  readonly errors: readonly DocumentProblem[];
}

type LimitReader = MemberReader<(typeof LIMIT_MEMBERS)[number]>;
type RateReader = MemberReader<(typeof RATE_MEMBERS)[number]>;

export function parseLimit(
  document: unknown,
  options: Pick<ParseOptions, 'writtenNumber'> = {},
): ParsedLimit {
  const state = new ParseState(options);
  if (!isJsonObject(document)) {
    const message = `A limit must be an object, not ${describeValue(document)}.`;
    state.errors.add('wrong_type', '', message);
    return { name: null, namePointer: '', limit: null, errors: state.errors.toArray() };
  }
  const reader = new MemberReader(document, '', LIMIT_MEMBERS, state);
  const name = reader.name('name');
  const description = parseDescription(reader);
  const concurrency = reader.number('concurrency', [1, LIMIT_CONCURRENCY_MAX], true);
  const rate = parseRate(reader);
  if (reader.value('concurrency') === null && reader.value('rate') === null) {
    state.errors.add('invalid_value', '', 'A limit requires Concurrency, Rate, or both.');
  }
  const unknown = unknownMembers(document, reader.pointerOf('rate'), reader.value('rate'));
  const errors = mergeProblems(state.errors.toArray(), unknown);
  const limit = errors.length > 0 ? null : { description, concurrency, rate };
  return { name, namePointer: reader.pointerOf('name'), limit, errors };
}

function parseDescription(reader: LimitReader): string | null {
  const description = reader.text('description');
  if (description === null || description.length <= LIMIT_DESCRIPTION_LENGTH_MAX) {
    return description;
  }
  const message = `Description must have at most ${LIMIT_DESCRIPTION_LENGTH_MAX} characters, not ${description.length}.`;
  return reader.fail('description', 'invalid_value', message);
}

/** Null also if it has errors. */
function parseRate(reader: LimitReader): LimitRate | null {
  const value = reader.value('rate');
  if (value === null) return null;
  if (!isJsonObject(value)) {
    const message = `Rate must be an object such as {"Count": 100, "Per": "1m"}, not ${describeValue(value)}.`;
    return reader.fail('rate', 'wrong_type', message);
  }
  const members = new MemberReader(value, reader.pointerOf('rate'), RATE_MEMBERS, reader.state);
  for (const name of ['count', 'per'] as const) {
    if (members.value(name) === null) {
      members.fail(name, 'invalid_value', `Rate requires a ${label(name)}.`);
    }
  }
  const count = members.number('count', [1, LIMIT_COUNT_MAX], true);
  const period = parsePeriod(members);
  const burst = members.number('burst', [1, count ?? LIMIT_COUNT_MAX], true) ?? 1;
  return count === null || period === null ? null : { count, ...period, burst };
}

function parsePeriod(members: RateReader): Pick<LimitRate, 'per' | 'perMs'> | null {
  const perMs = members.durationMs('per', '1 second');
  if (perMs === null) return null;
  const per = members.value('per');
  if (perMs < LIMIT_PERIOD_MS.min || perMs > LIMIT_PERIOD_MS.max) {
    const message = `Per must be a duration from 1 second to 1 day (${DURATION_FORMS}), not ${describeValue(per)}.`;
    return members.fail('per', 'invalid_value', message);
  }
  // A whole number beyond the range of a double is no duration of this length.
  return { per: typeof per === 'string' ? per : Number(per), perMs };
}

function unknownMembers(document: object, ratePointer: string, rate: unknown): DocumentProblem[] {
  const inRate = isJsonObject(rate) ? unknownIn(rate, ratePointer, RATE_MEMBERS) : [];
  return [...unknownIn(document, '', LIMIT_MEMBERS), ...inRate];
}

function unknownIn(
  source: object,
  pointer: string,
  members: readonly string[],
): readonly DocumentProblem[] {
  const names = members.map(label);
  return Object.keys(source)
    .filter((spelling) => !members.includes(spelling.toLowerCase()))
    .slice(0, MAX_PROBLEMS + 1)
    .map((spelling) => {
      const suggestion = suggestedName(spelling, names);
      const hint = suggestion === null ? '' : ` Did you mean "${suggestion}"?`;
      return {
        code: 'unknown_member',
        message: `${quoteText(spelling)} is not a member of ${pointer === '' ? 'a limit' : 'Rate'}; the members are ${names.join(', ')}.${hint}`,
        pointer: childPointer(pointer, spelling),
        ...(suggestion !== null && { suggestion }),
      };
    });
}
