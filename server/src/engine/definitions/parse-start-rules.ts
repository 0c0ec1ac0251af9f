/** The members that say how runs start: Reference, OnConflict and ConflictScope prevent duplicates, Priority orders their work. */
import type { WorkflowDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import {
  CONFLICT_SCOPE_NAMES,
  CONFLICT_SCOPES,
  ON_CONFLICT,
  PRIORITIES,
  priorityOf,
} from '../model/start-options.js';
import { describeValue, toChoice } from '../values/convert-input.js';
import { label, type MemberReader } from './member-reader.js';
import { parseInputValue } from './parse-input-value.js';
import type { DefinitionMember } from './step-members.js';

type Reader = MemberReader<DefinitionMember>;
type StartRules = Pick<
  WorkflowDefinition,
  'reference' | 'onConflict' | 'conflictScope' | 'priority'
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

function choiceOf<Choice extends string>(
  reader: Reader,
  name: 'onConflict' | 'conflictScope',
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
