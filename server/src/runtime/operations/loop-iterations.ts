/**
 * Lists the executions of one loop iteration. The history doesn't number iterations: they are counted by the loop's first step,
 * each execution of which begins an iteration. Execution ids increase, so an iteration's ids lie between two of these.
 *
 * The walk first counts up to the beginning of the next iteration. Then it goes back to the end of the previous iteration, and
 * lists. Both stop at the limit of a page, and continue from its cursor.
 */
import { stepsInside } from '../../engine/definitions/step-places.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import { AppError } from '../../base/errors.js';
import type { StepListRequest, StepView } from '../model/instance-types.js';
import type { ViewContext } from '../instance-state/instance-views.js';
import { encodeCursor, type Page } from '../model/paging.js';
import { matchesFilter } from './step-filter.js';
import { ReadBudget, type Entries, type Entry, type Walk } from './step-entries.js';

/** The range in which to find an iteration. */
interface Turns {
  /** The step whose executions begin the iterations. */
  readonly first: string;
  readonly members: ReadonlySet<string>;
  readonly isLoop: boolean;
}

interface Counting {
  readonly kind: 'count';
  readonly at: number;
  /** The number of iterations that have begun. */
  readonly count: number;
  /** The position at which the wanted iteration begins, if it has been reached. */
  readonly from: number;
  /** The first execution of the wanted iteration; null before it is found. */
  readonly low: number | null;
}

interface Listing {
  readonly kind: 'list';
  readonly at: number;
  readonly low: number;
  /** The first execution after the iteration. */
  readonly high: number;
}

interface TurnList {
  readonly walk: Walk;
  readonly request: StepListRequest;
  readonly list: string;
  /** All executions, oldest first, from the position of the walk. */
  readonly entriesFrom: (walk: Walk) => Entries;
}

/** @throws AppError `invalid_request` if there are no iterations to count */
export async function listIteration(turnList: TurnList): Promise<Page<StepView>> {
  const { list, request, walk } = turnList;
  const turns = turnsOf(request, walk.context);
  const budget = new ReadBudget();
  const state = readState(walk.position);
  const found = state.kind === 'count' ? await findTurn(turnList, { turns, state, budget }) : state;
  if (found === null) return { items: [], nextCursor: null };
  if (found.kind === 'list') return listFound(turnList, { turns, state: found, budget });
  return { items: [], nextCursor: encodeCursor(list, writeState(found)) };
}

function turnsOf({ order, stepId, turn }: StepListRequest, { definition }: ViewContext): Turns {
  if (stepId === null) {
    throw invalid(`turn needs stepId, the loop to count in: give both, or leave out turn=${turn}`);
  }
  if (order === 'desc')
    throw invalid('turn lists the oldest execution first: leave out order=desc');
  const step = definition?.steps.get(stepId);
  if (definition === null || step === undefined || !traitsOf(step).repeatsDo) {
    return { first: stepId, members: new Set([stepId]), isLoop: false };
  }
  if (traitsOf(step).hasItems) {
    throw invalid(`The step '${stepId}' is a Foreach: use item, the number of the item from 0`);
  }
  return { first: step.do[0] ?? stepId, members: stepsInside(definition, stepId), isLoop: true };
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message, { parameter: 'turn' });
}

interface Search<State> {
  readonly turns: Turns;
  readonly state: State;
  readonly budget: ReadBudget;
}

/** Null: the iteration has not begun. */
async function findTurn(
  { entriesFrom, request, walk }: TurnList,
  { budget, state, turns }: Search<Counting>,
): Promise<Counting | Listing | null> {
  let { at, count, from, low } = state;
  for await (const entry of entriesFrom({ ...walk, position: [String(at)] })) {
    if (budget.isSpent) return { kind: 'count', at, count, from, low };
    budget.spend(entry);
    at = Number(entry.position[0]);
    if (entry.stepId !== turns.first || entry.attempt !== 1) continue;
    count += 1;
    if (count === Number(request.turn) - 1) from = at;
    else if (count === request.turn) {
      low = entry.executionId;
      if (!turns.isLoop) return { kind: 'list', at: at - 1, low, high: low + 1 };
    } else if (low !== null) return { kind: 'list', at: from, low, high: entry.executionId };
  }
  return low === null ? null : { kind: 'list', at: from, low, high: Infinity };
}

async function listFound(
  { entriesFrom, list, request, walk }: TurnList,
  { budget, state, turns }: Search<Listing>,
): Promise<Page<StepView>> {
  const items: StepView[] = [];
  let { at } = state;
  for await (const entry of entriesFrom({ ...walk, position: [String(at)] })) {
    if (items.length === request.limit || budget.isSpent) {
      return { items, nextCursor: encodeCursor(list, writeState({ ...state, at })) };
    }
    budget.spend(entry);
    at = Number(entry.position[0]);
    const isInTurn = entry.executionId >= state.low && entry.executionId < state.high;
    if (isInTurn && turns.members.has(entry.stepId)) {
      const view = entry.view();
      if (matchesFilter(view, request)) items.push(view);
    }
    if (isEnd(entry, state, turns)) break;
  }
  return { items, nextCursor: null };
}

/** True if no later entry belongs to the iteration: the next one has begun, or the only execution has ended. */
function isEnd(entry: Entry, { high, low }: Listing, { first, isLoop }: Turns): boolean {
  if (isLoop) return entry.stepId === first && entry.executionId >= high;
  return entry.executionId === low && !entry.hasFailed;
}

function readState(position: readonly string[] | null): Counting | Listing {
  if (position === null) return { kind: 'count', at: 0, count: 0, from: 0, low: null };
  const [kind, ...texts] = position;
  const [at = 0, second = 0, third = 0, fourth] = texts.map(Number);
  if (kind === 'list') return { kind, at, low: second, high: third };
  return { kind: 'count', at, count: second, from: third, low: fourth ?? null };
}

function writeState(state: Counting | Listing): string[] {
  const { at, kind, low } = state;
  if (kind === 'list') return [kind, String(at), String(low), String(state.high)];
  const known = [kind, String(at), String(state.count), String(state.from)];
  return low === null ? known : [...known, String(low)];
}
