/**
 * The members that say how runs start: Reference, OnConflict and ConflictScope prevent duplicates, Concurrency limits how many run at
 * a time, Priority and Fairness order their work.
 */
import type { RunConcurrency, WorkflowDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import {
  CONCURRENCY_MAX,
  CONFLICT_SCOPE_NAMES,
  CONFLICT_SCOPES,
  MAX_QUEUED_MAX,
  ON_CONFLICT,
  ON_FULL,
  PRIORITIES,
  priorityOf,
} from '../model/start-options.js';
import { describeValue, toChoice } from '../values/convert-input.js';
import { isJsonObject } from '../values/json.js';
import { label, MemberReader } from './member-reader.js';
import { parseFairness } from './parse-fairness.js';
import { parseInputValue } from './parse-input-value.js';
import { parseLimitKey } from './parse-limit-key.js';
import { CONCURRENCY_MEMBERS, type DefinitionMember } from './step-members.js';

type Reader = MemberReader<DefinitionMember>;
type StartRules = Pick<
  WorkflowDefinition,
  'reference' | 'onConflict' | 'conflictScope' | 'priority' | 'fairness' | 'concurrency'
>;

const USE = { gives: 'name', knowsStep: false, stepType: null } as const;

export function parseStartRules(reader: Reader): StartRules {
  const scope = choiceOf(reader, 'conflictScope', CONFLICT_SCOPE_NAMES);
  const priority = reader.number('priority', [1, PRIORITIES.length], true);
  return {
    reference: parseReference(reader),
    onConflict: choiceOf(reader, 'onConflict', ON_CONFLICT),
    conflictScope: CONFLICT_SCOPES.find((each) => each === scope?.toLowerCase()) ?? null,
    priority: priorityOf(priority),
    fairness: parseFairness(reader),
    concurrency: parseConcurrency(reader),
  };
}

function parseReference(reader: Reader): InputValue | null {
  const value = reader.value('reference');
  if (value === null) return null;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    const message = `Reference must be an expression such as "data.order", not ${describeValue(value)}.`;
    return reader.fail('reference', 'wrong_type', message);
  }
  // The parser below reports numbers that are not finite.
  reader.keep('reference', value);
  return parseInputValue(value, { pointer: reader.pointerOf('reference'), use: USE }, reader.state);
}

function parseConcurrency(reader: Reader): RunConcurrency | null {
  const value = reader.value('concurrency');
  if (value === null) return null;
  if (!isJsonObject(value)) {
    const message = `Concurrency must be an object such as {"Limit": 5}, not ${describeValue(value)}.`;
    return reader.fail('concurrency', 'wrong_type', message);
  }
  const pointer = reader.pointerOf('concurrency');
  const members = new MemberReader(value, pointer, CONCURRENCY_MEMBERS, reader.state);
  if (members.value('limit') === null) {
    members.fail('limit', 'invalid_value', 'Concurrency requires a Limit.');
  }
  const limit = members.number('limit', [1, CONCURRENCY_MAX], true);
  const key = parseLimitKey(members);
  const onFull = choiceOf(members, 'onFull', ON_FULL);
  const maxQueued = members.number('maxQueued', [0, MAX_QUEUED_MAX], true);
  reader.keep('concurrency', members.canonical);
  return limit === null ? null : { limit, key, onFull: onFull ?? 'Queue', maxQueued };
}

function choiceOf<Name extends string, Choice extends string>(
  reader: MemberReader<Name>,
  name: Name,
  choices: readonly Choice[],
): Choice | null {
  const value = reader.value(name);
  if (value === null) return null;
  const choice = typeof value === 'string' ? toChoice(value, choices) : null;
  if (choice === null || !choice.ok) {
    const message = `${label(name)} must be one of ${choices.join(', ')}, not ${describeValue(value)}.`;
    const code = choice === null ? 'wrong_type' : 'invalid_value';
    return reader.fail(name, code, message);
  }
  reader.keep(name, choice.value);
  return choice.value;
}
