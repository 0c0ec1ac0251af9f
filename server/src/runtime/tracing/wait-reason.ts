/** Why an instance waited, in the words of `explain`, but without data such as event keys and error messages. */
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer, PointerState } from '../../engine/model/pointer.js';
import { explainPointer } from '../explain/explain-pointer.js';
import type { WaitReason } from '../explain/explanation.js';

/** @param now when the wait ended */
export function waitReason(
  instance: Instance,
  pointer: Pointer,
  now: number,
): Pick<WaitReason, 'kind' | 'text'> & { readonly since: number } {
  const { memo, state } = pointer;
  const shown: Pointer = { ...pointer, error: null, state: withoutKey(state) };
  const { kind, text } = explainPointer(shown, {
    now,
    workflowId: instance.id,
    status: 'Runnable',
    outcome: null,
    startTime: instance.startTime,
    endTime: null,
    lastChangeAt: now,
    inbox: { messages: 0, bytes: 0, isFull: false },
    instance,
    definition: null,
    isNewer: false,
    owner: null,
    actor: null,
    lastRepair: null,
    leaves: [],
    moreLeaves: 0,
    of: new Map(),
  });
  if (memo?.kind === 'round') return { kind, text, since: memo.startedAt };
  const isRetry = state.kind === 'sleeping' && state.reason === 'retry' && state.isStart !== true;
  if (isRetry) return { kind, text, since: pointer.error?.time ?? pointer.attemptStartedAt };
  return { kind, text, since: state.kind === 'limited' ? state.since : pointer.attemptStartedAt };
}

function withoutKey(state: PointerState): PointerState {
  if (state.kind === 'event') return { ...state, key: '…' };
  if (state.kind !== 'limited' || state.on.key === '') return state;
  return { ...state, on: { ...state.on, key: '…' } };
}
