/** The step of a pointer, as named in explanations. */
import type { Pointer } from '../../engine/model/pointer.js';
import type { InstanceFacts, WaitReason } from './explanation.js';

export type StepPlace = Pick<
  WaitReason,
  'executionId' | 'stepId' | 'stepType' | 'stepName' | 'attempt' | 'item' | 'index'
>;

/** The place of reasons that concern the instance as a whole. */
export const NO_PLACE: StepPlace = {
  executionId: null,
  stepId: null,
  stepType: null,
  stepName: null,
  attempt: null,
  item: null,
  index: null,
};

export function placeOf(
  pointer: Pointer,
  { definition }: Pick<InstanceFacts, 'definition'>,
): StepPlace {
  const step = definition?.steps.get(pointer.stepId);
  return {
    executionId: pointer.id,
    stepId: pointer.stepId,
    stepType: step?.typeName ?? null,
    stepName: step?.name ?? null,
    attempt: pointer.attempt,
    item: pointer.item ?? null,
    index: pointer.index ?? null,
  };
}
