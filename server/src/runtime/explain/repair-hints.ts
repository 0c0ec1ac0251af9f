/** Suggests repairs for a failed instance: requests with their bodies, the one that keeps the most work first. */
import { placesOfStep } from '../../engine/definitions/step-places.js';
import type {
  StepDefinition,
  StepPlace,
  WorkflowDefinition,
} from '../../engine/model/definition.js';
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { StepError } from '../../engine/model/step-record.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { InstanceFacts, RepairHint } from './explanation.js';
import { failedLeafOf } from './failed-leaf.js';

/** Maximum number of steps that one hint starts. */
const STARTED_MAX = 20;
/** Maximum number of steps that a text names. */
const NAMED_MAX = 5;

export function repairHintsOf(facts: InstanceFacts): readonly RepairHint[] {
  const { definition, endTime, instance, outcome, status } = facts;
  if (instance === null || definition === null) return [];
  if (endTime !== null) {
    if (outcome !== 'Failed' && outcome !== 'Terminated') return [];
    const reopening = reopeningHint(instance, definition, outcome);
    return [...reopening, rerunHint(definition), ...restartHint(instance)];
  }
  if (status !== 'Suspended' || instance.lastError === null) return [];
  const failed = failedLeafOf(facts, instance.lastError);
  const step = failed === undefined ? undefined : definition.steps.get(failed.stepId);
  const ofStep =
    failed === undefined || step === undefined
      ? []
      : [correctHint(step), skipHint(failed, step, instance)];
  return [...ofStep, rerunHint(definition), ...restartHint(instance)];
}

function correctHint({ id }: StepDefinition): RepairHint {
  const text = `tries step ${id} again with corrected data: put the changes into data`;
  return { action: 'modify', text, body: { data: {}, resume: true } };
}

function skipHint(
  failed: Pointer,
  { id, nextStepId, selectNextStep }: StepDefinition,
  { pointers }: Instance,
): RepairHint {
  const cancel = [failed.id];
  const parent = failed.parentId === null ? undefined : pointers.get(failed.parentId);
  const isCompensating = parent?.state.kind === 'compensating';
  // The steps after a compensation are part of it, and start by themselves.
  if (isCompensating) {
    const text = `skips step ${id}; the compensation continues without it`;
    return { action: 'modify', text, body: { cancel, resume: true } };
  }
  if (nextStepId !== null) {
    const start = [{ stepId: nextStepId, ...surroundingsOf(failed) }];
    const text = `skips step ${id} and continues with step ${nextStepId}`;
    return { action: 'modify', text, body: { cancel, start, resume: true } };
  }
  const choices = selectNextStep.map(({ stepId }) => stepId);
  const chosen =
    choices.length === 0 ? '' : `; to continue, start one of ${namesOf(choices)} in the same call`;
  const text = `skips step ${id}, which ends its path${chosen}`;
  return { action: 'modify', text, body: { cancel, resume: true } };
}

function surroundingsOf({ index, item, parentId }: Pointer): JsonObject {
  return {
    ...(parentId !== null && { inside: parentId }),
    ...(item !== undefined && { item }),
    ...(index !== undefined && { index }),
  };
}

/** Starts the failed steps, or the steps that a termination has canceled. */
function reopeningHint(
  instance: Instance,
  definition: WorkflowDefinition,
  outcome: 'Failed' | 'Terminated',
): readonly RepairHint[] {
  const { lastError } = instance;
  if (outcome === 'Failed') return lastError === null ? [] : failedStepHint(lastError, definition);
  const steps = [...canceledAtEnd(instance)]
    .filter((stepId) => definition.steps.has(stepId) && outermost(definition, stepId) === stepId)
    .slice(0, STARTED_MAX);
  if (steps.length === 0) return [];
  const text = `reopens the run at the steps that were open when it was terminated: ${namesOf(steps)}`;
  return [{ action: 'modify', text, body: { start: startsOf(steps) } }];
}

/** Their records are written by the next commit, which may still be pending. */
function canceledAtEnd({ endTime, pointers, recent }: Instance): ReadonlySet<string> {
  const cancelled = recent.filter(
    ({ endTime: at, status }) => status === 'Cancelled' && at >= (endTime ?? Infinity),
  );
  return new Set([...cancelled, ...pointers.values()].map(({ stepId }) => stepId));
}

function failedStepHint(
  { stepId }: StepError,
  definition: WorkflowDefinition,
): readonly RepairHint[] {
  if (!definition.steps.has(stepId)) return [];
  const step = outermost(definition, stepId);
  const around = step === stepId ? '' : `, which contains the failed step ${stepId},`;
  const text = `reopens the run and repeats step ${step}${around} and its next steps; the data can be corrected in the same call`;
  return [{ action: 'modify', text, body: { start: startsOf([step]) } }];
}

function startsOf(stepIds: readonly string[]): readonly Json[] {
  return stepIds.map((stepId) => ({ stepId }));
}

/** The step itself if it can run at the top level, otherwise the container around it that can. */
function outermost(definition: WorkflowDefinition, stepId: string): string {
  let id = stepId;
  for (;;) {
    const [stands, ...others] = placesOfStep(definition, id).map(aroundOf);
    if (stands == null || others.includes(null)) return id;
    id = stands;
  }
}

function aroundOf({ compensates, container }: StepPlace): string | null {
  return compensates ?? container;
}

function rerunHint({ entryStepId }: WorkflowDefinition): RepairHint {
  const text = `does everything again in this run from step ${entryStepId}, with the data as it is; \`from\` chooses another step`;
  return { action: 'rerun', text, body: {} };
}

/** If it was already restarted, the new run may need a repair, not this one. */
function restartHint({ restartedAs }: Instance): readonly RepairHint[] {
  if (restartedAs !== null) return [];
  const text = 'does everything again in a new run with the same input; this run stays as it is';
  return [{ action: 'restart', text, body: {} }];
}

function namesOf(stepIds: readonly string[]): string {
  const others = stepIds.length - NAMED_MAX;
  const named = stepIds.slice(0, NAMED_MAX).join(', ');
  return others > 0 ? `${named} and ${others} more` : named;
}
