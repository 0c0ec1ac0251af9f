/**
 * Finds endless loops: loops in which no step waits and no step changes the values that their conditions read. A loop
 * that counts is not endless.
 */
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import type { ExamineExpression } from './expression-facts.js';
import type { DocumentWarningCode, ProblemList } from './problem-list.js';
import { successorsOf } from './step-places.js';
import { traitsOf } from './step-types.js';

export interface LoopCheck {
  readonly definition: WorkflowDefinition;
  readonly stepPointers: ReadonlyMap<string, string>;
  readonly examine: ExamineExpression;
  readonly warnings: ProblemList<DocumentWarningCode>;
}

export function checkLoops(check: LoopCheck): void {
  const { definition } = check;
  for (const step of definition.steps.values()) {
    if (step.type !== 'While') continue;
    const condition = step.inputs.find(({ name }) => name === 'Condition')?.value;
    const body = insideOf(step.do, definition);
    if (condition !== undefined && isEndless([condition], [step, ...body], check)) {
      warn(step, check);
    }
  }
  for (const cycle of cyclesOf(definition)) {
    const members = new Set(cycle.map(({ id }) => id));
    const conditions = cycle.flatMap(({ nextStepId, selectNextStep }) => [
      ...(nextStepId !== null && members.has(nextStepId) ? [ALWAYS] : []),
      ...selectNextStep.filter(({ stepId }) => members.has(stepId)).map((path) => path.condition),
    ]);
    const inside = cycle.flatMap((step) => [step, ...insideOf(step.do, definition)]);
    const [first] = cycle;
    if (first !== undefined && isEndless(conditions, inside, check)) warn(first, check);
  }
}

const ALWAYS: InputValue = { kind: 'constant', value: true };

function warn(step: StepDefinition, { stepPointers, warnings }: LoopCheck): void {
  const what = step.type === 'While' ? 'This While' : 'The loop that starts here';
  const message = `${what} never waits, and nothing in it changes its condition: once started, it runs until the server stops it. Add a Delay, or an Output that ends the loop.`;
  warnings.add('loop_without_wait', stepPointers.get(step.id) ?? '', message);
}

/** True if conditions stay true once they are true, and nothing waits between two evaluations. */
function isEndless(
  conditions: readonly InputValue[],
  inside: readonly StepDefinition[],
  { examine }: LoopCheck,
): boolean {
  const leaves = inside.some(
    (step) =>
      step.cancelCondition !== null || step.timeoutMs !== null || traitsOf(step).interruptsLoop,
  );
  if (leaves) return false;
  const written = new Set(inside.flatMap(({ outputs }) => outputs.map(({ key }) => key)));
  return conditions.every((condition) => {
    if (condition.kind !== 'expression') {
      return condition.kind === 'constant' && condition.value !== false;
    }
    const facts = examine(condition.source);
    if (facts === null || facts.varies || facts.unknownNames.length > 0) return false;
    if (facts.constant !== undefined) return facts.constant === true || facts.constant === 1;
    return facts.reads.every(({ keys: [field], variable }) =>
      variable === 'data' ? field !== undefined && !written.has(field) : variable !== 'step',
    );
  });
}

/** All steps reachable from the given ones without leaving their container, and all steps inside the reachable ones. */
function insideOf(
  entries: readonly string[],
  { steps }: WorkflowDefinition,
): readonly StepDefinition[] {
  const found = new Set<string>(entries);
  // Iterating over a set includes items that are added during the iteration.
  for (const id of found) {
    const step = steps.get(id);
    if (step === undefined) continue;
    for (const next of [...successorsOf(step), ...step.do]) found.add(next);
  }
  return [...found].flatMap((id) => steps.get(id) ?? []);
}

/** Strongly connected components (Tarjan), without recursion: a definition may be a chain of a thousand steps. */
function* cyclesOf({ steps }: WorkflowDefinition): Iterable<readonly StepDefinition[]> {
  const places = new Map<string, Place>();
  const stack: StepDefinition[] = [];
  const enter = (step: StepDefinition): Visit => {
    const place = { index: places.size, low: places.size, onStack: true };
    places.set(step.id, place);
    stack.push(step);
    return { step, place, rest: successorsOf(step).values() };
  };
  for (const root of steps.values()) {
    if (places.has(root.id)) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { done, value: id } = top.rest.next();
      const known = id === undefined ? undefined : places.get(id);
      const step = id === undefined ? undefined : steps.get(id);
      if (done !== true) {
        const low = known?.onStack === true ? known.index : top.place.low;
        top.place.low = Math.min(top.place.low, low);
        const isNew = known === undefined && step !== undefined;
        path.push(...(isNew ? [enter(step)] : []));
        continue;
      }
      path.pop();
      const parent = path.at(-1)?.place;
      if (parent !== undefined) parent.low = Math.min(parent.low, top.place.low);
      if (top.place.low === top.place.index) yield* popCycle(top.step, stack, places);
    }
  }
}

interface Place {
  readonly index: number;
  low: number;
  onStack: boolean;
}

interface Visit {
  readonly step: StepDefinition;
  readonly place: Place;
  readonly rest: Iterator<string, undefined>;
}

/** Pops one component off the stack. It is a cycle if it has several steps, or one step that is its own successor. */
function* popCycle(
  root: StepDefinition,
  stack: StepDefinition[],
  places: ReadonlyMap<string, Place>,
): Iterable<readonly StepDefinition[]> {
  const members = stack.splice(stack.indexOf(root));
  for (const { id } of members) {
    const place = places.get(id);
    if (place !== undefined) place.onStack = false;
  }
  if (members.length > 1 || successorsOf(root).includes(root.id)) yield members;
}
