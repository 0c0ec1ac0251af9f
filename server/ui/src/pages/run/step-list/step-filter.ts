/** The filter of the list of steps. It is part of the URL, so that it can be shared and survives a reload. */
import type { StepFilter } from '@stepwright/sdk';
import { allSteps, findStep } from '../../../graph/find-step.js';
import type { GraphDefinition, GraphStep } from '../../../graph/read-definition.js';

/** The strings in the URL; empty for members that the filter doesn't set. */
const NO_CHOICES = {
  step: '',
  status: '',
  /** The index of an item in a Foreach, from 0. */
  item: '',
  /** The number of a loop iteration, from 1. */
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

/** The members in the URL. */
export function choiceMembers(choices: StepChoices): Record<string, string> {
  const given = NAMES.filter((name) => choices[name] !== '');
  return Object.fromEntries(given.map((name) => [name, choices[name]]));
}

/** All members that select executions, without the order. */
export function withoutFilter({ order }: StepChoices): StepChoices {
  return { ...NO_CHOICES, order };
}

/** Number of choices that restrict the list. */
export function activeCount(choices: StepChoices): number {
  return NAMES.filter((name) => name !== 'order' && choices[name] !== '').length;
}

/** The API's query. The server rejects unknown values in the URL, with a reason. */
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

/** The choices with this iteration. In a definition with a single loop, the iteration determines the step. */
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

/** Why there are no iterations to count, and how to fix it; null if there are some. */
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
