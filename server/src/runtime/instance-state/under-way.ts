/** An instance's external work that the next node would have to restart. */
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';

/** True if the next node would have to restart an effect or the start of a child. */
export function hasUnderWay({ pointers, status }: Instance): boolean {
  return status === 'Runnable' && [...pointers.values()].some(isUnderWay);
}

export function isUnderWay({ state }: Pointer): boolean {
  return state.kind === 'effect' || (state.kind === 'child' && !state.started);
}
