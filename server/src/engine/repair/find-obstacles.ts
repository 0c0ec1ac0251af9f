/**
 * Checks a modification as a whole, before anything is changed: the executions to cancel, the containers of the steps to start,
 * and whether everything that stays open exists in the other version of the definition.
 */
import { placesOfStep, TOP_LEVEL } from '../definitions/step-places.js';
import { suggestName } from '../definitions/suggest-name.js';
import type { StepPlace, WorkflowDefinition } from '../model/definition.js';
import type { Pointer } from '../model/pointer.js';
import { quoteText } from '../values/convert-input.js';
import type { Session } from '../session/session.js';
import { foreachItemOf } from './foreach-item.js';
import type { Modification, Obstacle, StepStart } from '../model/modification.js';
import { targetStepId } from './move-version.js';
import { StartContainers } from './start-containers.js';
import type { Surroundings } from '../session/pointers.js';

export interface PlannedStart {
  readonly stepId: string;
  readonly surroundings: Surroundings;
}

export interface ModificationPlan {
  /** Ordered by id, so that a container comes before its contents. */
  readonly cancel: readonly Pointer[];
  readonly start: readonly PlannedStart[];
  readonly obstacles: readonly Obstacle[];
}

/** The input of all checks. */
interface Planning {
  readonly session: Session;
  readonly modification: Modification;
  /** The definition that applies after the modification. */
  readonly target: WorkflowDefinition;
  /** Pointers that stay open. */
  readonly staying: readonly Pointer[];
  readonly obstacles: Obstacle[];
  readonly containers: StartContainers;
}

/** Maximum number of obstacles that are reported. */
const OBSTACLES_MAX = 100;

export function planModification(
  session: Session,
  modification: Modification,
  target: WorkflowDefinition,
): ModificationPlan {
  const obstacles: Obstacle[] = [];
  const cancel = canceledPointers(session, modification.cancel, obstacles);
  const staying = [...session.instance.pointers.values()].filter((pointer) => !cancel.has(pointer));
  const planning: Planning = {
    session,
    modification,
    target,
    staying,
    obstacles,
    containers: new StartContainers(session, staying, target, modification.stepMap),
  };
  if (target !== session.definition) checkCounterparts(planning);
  const start: PlannedStart[] = [];
  for (const [at, wanted] of modification.start.entries()) {
    if (obstacles.length >= OBSTACLES_MAX) break;
    const planned = planStart(planning, wanted, `/start/${at}`);
    if (planned !== null) start.push(planned);
  }
  return { cancel: [...cancel], start, obstacles };
}

function canceledPointers(
  session: Session,
  cancel: Modification['cancel'],
  obstacles: Obstacle[],
): ReadonlySet<Pointer> {
  const { nextPointerId, pointers } = session.instance;
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
  const canceled = new Set<Pointer>();
  // A container has a lower id than the pointers inside it.
  for (const pointer of pointers.values()) {
    const parent = pointer.parentId === null ? undefined : pointers.get(pointer.parentId);
    const isInside = parent !== undefined && canceled.has(parent);
    if (isInside || named.has(pointer.id)) canceled.add(pointer);
  }
  return canceled;
}

/** Every step that stays open must exist in the other version, with the same type and in the same containers. */
function checkCounterparts({ modification, obstacles, session, staying, target }: Planning): void {
  const checked = new Set<string>();
  for (const pointer of staying) {
    if (obstacles.length >= OBSTACLES_MAX) break;
    const place = openPlaceOf(session, pointer);
    const key = JSON.stringify([pointer.stepId, place.container, place.compensates]);
    if (checked.has(key)) continue;
    checked.add(key);
    const open = { stepId: pointer.stepId, place };
    const obstacle = counterpartObstacle(session.definition, target, open, modification.stepMap);
    if (obstacle !== null) obstacles.push(obstacle);
  }
}

/** The step place that the pointer is in. */
function openPlaceOf({ definition, instance }: Session, { parentId, stepId }: Pointer): StepPlace {
  const parent = parentId === null ? undefined : instance.pointers.get(parentId);
  const isHere = ({ compensates, container }: StepPlace): boolean =>
    compensates !== null && parent?.state.kind === 'compensating'
      ? parent.state.plan.some((entry) => entry.stepId === compensates)
      : compensates === null && container === (parent?.stepId ?? null);
  const [stands = TOP_LEVEL, ...others] = placesOfStep(definition, stepId);
  return [stands, ...others].find(isHere) ?? stands;
}

function counterpartObstacle(
  from: WorkflowDefinition,
  to: WorkflowDefinition,
  { place, stepId }: { readonly stepId: string; readonly place: StepPlace },
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
  const isSame = (old: string | null, current: string | null): boolean =>
    (old === null ? null : targetStepId(stepMap, old)) === current;
  const isThere = placesOfStep(to, mappedId).some(
    ({ compensates, container }) =>
      isSame(place.container, container) && isSame(place.compensates, compensates),
  );
  if (isThere) return null;
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
  const found = planning.containers.find(wanted, at);
  if ('obstacle' in found) {
    obstacles.push(found.obstacle);
    return null;
  }
  const item = foreachItemOf(planning.target, found.container, wanted);
  if (item === null) {
    const message = `The step ${quoteText(stepId)} is inside a Foreach: specify its item and index`;
    obstacles.push({ code: 'item_required', message, pointer: `${at}/item` });
    return null;
  }
  return { stepId, surroundings: { parentId: found.container?.id ?? null, ...item } };
}
