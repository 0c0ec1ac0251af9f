/** The filter of the list of steps. It is part of the address, so that it can be shared and survives a reload. */
import type { StepFilter } from '@stepwright/sdk';
import { allSteps, findStep } from '../../../graph/find-step.js';
import type { GraphDefinition, GraphStep } from '../../../graph/read-definition.js';

/** The strings in the address; empty where the filter sets nothing. */
const NO_CHOICES = {
  step: '',
  status: '',
  /** The index of an item in a Foreach, from 0. */
  item: '',
  /** The number of a turn of a loop, from 1. */
  turn: '',
  search: '',
  order: '',
};

export type StepChoices = Readonly<typeof NO_CHOICES>;

const NAMES = Object.keys(NO_CHOICES) as readonly (keyof StepChoices)[]; // NO_CHOICES has no other members.

export function readChoices(query: URLSearchParams): StepChoices {
  return Object.fromEntries(
    NAMES.map((name) => [name, query.get(name) ?? '']),
  ) as unknown as StepChoices; // It has an entry for each name.
}

/** The members of the address. */
export function choiceMembers(choices: StepChoices): Record<string, string> {
  const given = NAMES.filter((name) => choices[name] !== '');
  return Object.fromEntries(given.map((name) => [name, choices[name]]));
}

/** Everything that selects executions; the order selects none. */
export function withoutFilter({ order }: StepChoices): StepChoices {
  return { ...NO_CHOICES, order };
}

/** How many choices restrict the list. */
export function activeCount(choices: StepChoices): number {
  return NAMES.filter((name) => name !== 'order' && choices[name] !== '').length;
}

/** What the API gets. The server rejects values of an address that it does not know, and says why. */
export function toStepFilter(choices: StepChoices, isLong: boolean): StepFilter {
  const { item, order, search, status, step, turn } = choices;
  const newestFirst = order === '' ? isLong : order === 'desc';
  return {
    order: newestFirst && turn === '' ? 'desc' : 'asc',
    ...(step !== '' && { stepId: step }),
    ...(status !== '' && { status: status as NonNullable<StepFilter['status']> }),
    ...(item !== '' && { item: Number(item) }),
    ...(turn !== '' && { turn: Number(turn) }),
    ...(search !== '' && { search }),
  };
}

const isLoop = ({ type }: GraphStep): boolean => type === 'While' || type === 'Recur';

/** The choices with this turn. A definition with a single loop leaves no doubt about whose turn it is. */
export function atTurn(
  choices: StepChoices,
  turn: string,
  definition: GraphDefinition | null,
): StepChoices {
  const loops = turn === '' || definition === null ? [] : allSteps(definition).filter(isLoop);
  const [only] = loops;
  const isClear = choices.step === '' && only !== undefined && loops.length === 1;
  return { ...choices, turn, ...(isClear && { step: only.id }) };
}

/** Why there are no turns to count, and what to do; null if there are. */
export function turnProblem(
  { step, turn }: StepChoices,
  definition: GraphDefinition | null,
): string | null {
  if (turn === '') return null;
  if (step === '') return 'Choose the step whose turns to count: a While or a Recur.';
  const type = definition === null ? null : findStep(definition, step)?.type;
  return type === 'Foreach'
    ? `${step} is a Foreach, which has no turns: enter the number of the item instead.`
    : null;
}
