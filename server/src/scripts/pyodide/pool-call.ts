/** Calls to the pool of interpreters, and their results. */
import type { ScriptError } from '../script-runtime.js';
import type { CallKind } from './call-queue.js';
import type { CallMoment } from './frames.js';

export interface PoolCall<Answer> {
  readonly lane: CallKind;
  /** Owners take turns. An owner whose expressions take too long waits with the scripts for a while. */
  readonly owner?: string;
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
  /** The code may break its interpreter. */
  readonly isRisky: boolean;
  readonly timeoutMs: number;
  /** @throws MalformedAnswer if the interpreter can no longer be trusted */
  readonly read: (answer: Buffer) => Answer;
  readonly signal?: AbortSignal;
  readonly moment?: CallMoment;
}

export type CallResult<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly output: string }
  | {
      readonly ok: false;
      readonly error: ScriptError;
      /** Index of the item that was being processed. */
      readonly progress: number;
      readonly output: string;
    };

export function unavailable(reason: string): ScriptError {
  return { type: 'Unavailable', message: `Python is not available: ${reason}` };
}

export function aborted(): ScriptError {
  return { type: 'Aborted', message: 'the caller stopped waiting' };
}
