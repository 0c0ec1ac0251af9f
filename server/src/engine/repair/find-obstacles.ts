/**
 * Checks a modification as a whole, before anything is changed: which executions it cancels, where the steps that it starts
 * go, and whether what stays open exists in the other version of the definition.
 */
import { placeOfStep } from '../definitions/step-places.js';
import { suggestName } from '../definitions/suggest-name.js';
import type { WorkflowDefinition } from '../model/definition.js';
import type { Pointer } from '../model/pointer.js';
import { quoteText } from '../values/convert-input.js';
import type { Run } from '../flow/run.js';
import { itemFor } from './item-for.js';
import type { Modification, Obstacle, StepStart } from './modification.js';
import { targetStepId } from './move-version.js';
import type { Surroundings } from '../flow/pointers.js';

export interface PlannedStart {
  readonly stepId: string;
  readonly surroundings: Surroundings;
}

export interface ModificationPlan {
  /** In order of their ids, so that a container comes before what is inside it. */
  readonly cancel: readonly Pointer[];
  readonly start: readonly PlannedStart[];
  readonly obstacles: readonly Obstacle[];
}

/** The input of all checks. */
interface Planning {
  readonly run: Run;
  readonly modification: Modification;
  /** The definition that applies after the modification. */
  readonly target: WorkflowDefinition;
  /** Pointers that stay open. */
  readonly staying: readonly Pointer[];
  readonly obstacles: Obstacle[];
  /** By the step to open in them. */
  readonly containers: Map<string, readonly Pointer[]>;
}

/** Maximum number of obstacles that are reported, and of executions that one of them names. */
const OBSTACLES_MAX = 100;
const EXECUTIONS_NAMED_MAX = 100;

export function planModification(
  run: Run,
  modification: Modification,
  target: WorkflowDefinition,
): ModificationPlan {
  const obstacles: Obstacle[] = [];
  const cancel = cancelledPointers(run, modification.cancel, obstacles);
  const staying = [...run.instance.pointers.values()].filter((pointer) => !cancel.has(pointer));
  const planning: Planning = {
    run,
    modification,
    target,
    staying,
    obstacles,
    containers: new Map(),
  };
  if (target !== run.definition) checkCounterparts(planning);
  const start: PlannedStart[] = [];
  for (const [at, wanted] of modification.start.entries()) {
    if (obstacles.length >= OBSTACLES_MAX) break;
    const planned = planStart(planning, wanted, `/start/${at}`);
    if (planned !== null) start.push(planned);
  }
  return { cancel: [...cancel], start, obstacles };
}

function cancelledPointers(
  run: Run,
  cancel: Modification['cancel'],
  obstacles: Obstacle[],
): ReadonlySet<Pointer> {
  const { nextPointerId, pointers } = run.instance;
  if (cancel === 'all') return new Set(pointers.values());
  const named = new Set<number>();
  for (const [at, id] of cancel.entries()) {
    if (obstacles.length >= OBSTACLES_MAX) break;
    if (pointers.has(id)) {
      named.add(id);
    } else if (id >= 1 && id < nextPointerId) {
      const message = `The execution ${id} has already ended`;
      obstacles.push({ code: 'execution_ended', message, pointer: `/cancel/${at}` });
    } else {
      const message = `The run has no execution ${id}`;
      obstacles.push({ code: 'unknown_execution', message, pointer: `/cancel/${at}` });
    }
  }
  const cancelled = new Set<Pointer>();
  // A container has a lower id than the pointers inside it.
  for (const pointer of pointers.values()) {
    const parent = pointer.parentId === null ? undefined : pointers.get(pointer.parentId);
    const isInside = parent !== undefined && cancelled.has(parent);
    if (isInside || named.has(pointer.id)) cancelled.add(pointer);
  }
  return cancelled;
}

/** Every step that stays open must exist in the other version, with the same type and in the same containers. */
function checkCounterparts({ modification, obstacles, run, staying, target }: Planning): void {
  const checked = new Set<string>();
  const { stepMap } = modification;
  for (const { stepId } of staying) {
    if (obstacles.length >= OBSTACLES_MAX) break;
    if (checked.has(stepId)) continue;
    checked.add(stepId);
    const obstacle = counterpartObstacle(run.definition, target, stepId, stepMap);
    if (obstacle !== null) obstacles.push(obstacle);
  }
}

function counterpartObstacle(
  from: WorkflowDefinition,
  to: WorkflowDefinition,
  stepId: string,
  stepMap: Modification['stepMap'],
): Obstacle | null {
  const mappedId = targetStepId(stepMap, stepId);
  const pointer = mappedId === stepId ? '/version' : '/stepMap';
  const step = from.steps.get(stepId);
  const mapped = to.steps.get(mappedId);
  const there = `version ${to.version} of the definition`;
  if (mapped === undefined) {
    const hint = mappingHint(from, to, stepId);
    const message = `The open step ${quoteText(mappedId)} does not exist in ${there}.${hint}`;
    return { code: 'step_missing', message, pointer };
  }
  if (step !== undefined && mapped.typeName !== step.typeName) {
    const message = `The open step ${quoteText(stepId)} is of the type ${step.typeName}, but ${quoteText(mappedId)} in ${there} is of the type ${mapped.typeName}`;
    return { code: 'step_type_differs', message, pointer };
  }
  const before = placeOfStep(from, stepId);
  const after = placeOfStep(to, mappedId);
  const isSame = (old: string | null, current: string | null): boolean =>
    (old === null ? null : targetStepId(stepMap, old)) === current;
  if (isSame(before.container, after.container) && isSame(before.compensates, after.compensates)) {
    return null;
  }
  const message = `The open step ${quoteText(stepId)} is in a different container in ${there}`;
  return { code: 'container_differs', message, pointer };
}

/** Suggests new steps of the other version that have the same type. */
function mappingHint(from: WorkflowDefinition, to: WorkflowDefinition, stepId: string): string {
  const typeName = from.steps.get(stepId)?.typeName;
  const added = [...to.steps.values()]
    .filter((step) => step.typeName === typeName && !from.steps.has(step.id))
    .map(({ id }) => id);
  if (added.length === 0) return ' Cancel it, or start another step instead.';
  const names = added
    .slice(0, 5)
    .map((id) => quoteText(id))
    .join(', ');
  return ` Map it in stepMap to one of the new steps of the same type: ${names}.`;
}

function planStart(planning: Planning, wanted: StepStart, at: string): PlannedStart | null {
  const { obstacles, target } = planning;
  const { stepId } = wanted;
  if (!target.steps.has(stepId)) {
    const hint = suggestName(stepId, target.steps.keys());
    const message = `There is no step with the id ${quoteText(stepId)} in version ${target.version} of the definition.${hint}`;
    obstacles.push({ code: 'unknown_step', message, pointer: `${at}/stepId` });
    return null;
  }
  const container = containerFor(planning, wanted, at);
  if (container === undefined) return null;
  const item = itemFor(planning.target, container, wanted);
  if (item === null) {
    const message = `The step ${quoteText(stepId)} is inside a Foreach: specify its item and index`;
    obstacles.push({ code: 'item_required', message, pointer: `${at}/item` });
    return null;
  }
  return { stepId, surroundings: { parentId: container?.id ?? null, ...item } };
}

/** The container to open the step in, null for the top level; undefined if there is an obstacle. */
function containerFor(
  planning: Planning,
  wanted: StepStart,
  at: string,
): Pointer | null | undefined {
  const { obstacles, staying, target } = planning;
  const { inside, stepId } = wanted;
  const candidates = candidatesFor(planning, stepId);
  if (inside !== null) {
    const chosen = candidates.find(({ id }) => id === inside);
    if (chosen !== undefined) return chosen;
    obstacles.push(wrongContainer(planning, wanted, at, candidates));
    return undefined;
  }
  const { container } = placeOfStep(target, stepId);
  if (candidates.length === 1) return candidates[0];
  if (candidates.length === 0 && container === null) return null;
  const executionIds = candidates.slice(0, EXECUTIONS_NAMED_MAX).map(({ id }) => id);
  if (candidates.length > 1) {
    const message = `The step ${quoteText(stepId)} can be opened in several executions: choose one of ${executionIds.slice(0, 20).join(', ')} in "inside"`;
    obstacles.push({
      code: 'ambiguous_container',
      message,
      pointer: `${at}/inside`,
      executionIds,
    });
    return undefined;
  }
  const name = container === null ? '' : quoteText(container);
  const isThere = staying.some((pointer) => mappedId(planning, pointer) === container);
  const message = isThere
    ? `The step ${quoteText(stepId)} is inside ${name}, which is not running its steps now`
    : `The step ${quoteText(stepId)} is inside ${name}, which is not open: start ${name} instead`;
  obstacles.push({ code: 'container_not_open', message, pointer: `${at}/stepId`, executionIds });
  return undefined;
}

function wrongContainer(
  { run }: Planning,
  { inside, stepId }: StepStart,
  at: string,
  candidates: readonly Pointer[],
): Obstacle {
  const pointer = `${at}/inside`;
  const executionIds = candidates.slice(0, EXECUTIONS_NAMED_MAX).map(({ id }) => id);
  if (inside === null || inside < 1 || inside >= run.instance.nextPointerId) {
    const message = `The run has no execution ${inside}`;
    return { code: 'unknown_execution', message, pointer, executionIds };
  }
  if (!run.instance.pointers.has(inside)) {
    const message = `The execution ${inside} has already ended`;
    return { code: 'execution_ended', message, pointer, executionIds };
  }
  const message = `The step ${quoteText(stepId)} cannot be opened inside the execution ${inside}`;
  return { code: 'wrong_container', message, pointer, executionIds };
}

/** Searches once for each step: a modification may start it many times. */
function candidatesFor(planning: Planning, stepId: string): readonly Pointer[] {
  const known = planning.containers.get(stepId);
  if (known !== undefined) return known;
  const found = openContainers(planning, stepId);
  planning.containers.set(stepId, found);
  return found;
}

/** The open containers in which the step can be opened. */
function openContainers(planning: Planning, stepId: string): readonly Pointer[] {
  const { container, compensates } = placeOfStep(planning.target, stepId);
  const compensating = planning.staying.filter(
    ({ state }) =>
      compensates !== null &&
      state.kind === 'compensating' &&
      state.plan.some(
        (entry) => targetStepId(planning.modification.stepMap, entry.stepId) === compensates,
      ),
  );
  if (compensating.length > 0 || container === null) return compensating;
  return planning.staying.filter(
    (pointer) =>
      mappedId(planning, pointer) === container &&
      pointer.state.kind === 'open' &&
      pointer.isEnding !== true,
  );
}

function mappedId({ modification, run, target }: Planning, { stepId }: Pointer): string {
  return target === run.definition ? stepId : targetStepId(modification.stepMap, stepId);
}
