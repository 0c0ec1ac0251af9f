/**
 * A call from the request until its caller has the result: it waits, runs, is aborted, or runs once more.
 *
 * It settles exactly once (IP3 in interpreter-pool.ts). How it ends reveals the state of the interpreter, even if no
 * caller is waiting any more.
 */
import type { ScriptError } from '../script-runtime.js';
import type { CallKind } from './call-queue.js';
import type { CallMoment } from './frames.js';
import type { CallEnd } from './interpreter-process.js';
import { consequencesOf, type EndedCallOptions } from './call-consequences.js';
import { aborted, type CallResult, type PoolCall } from './pool-call.js';

/** What happens to the interpreter. `retry`: it is gone, and the call is repeated. */
export type Disposition = 'keep' | 'discard' | 'retry';

export interface QueuedCall {
  lane: CallKind;
  readonly owner: string;
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
  readonly timeoutMs: number;
  readonly moment?: CallMoment;
  /** Settles the call, unless it is repeated. */
  readonly deliver: (end: CallEnd) => Disposition;
  readonly refuse: (error: ScriptError) => void;
  readonly isAborted: () => boolean;
}

export interface QueuedCallOptions<Answer> extends EndedCallOptions {
  /** Replaces the lane of the call. */
  readonly lane: CallKind;
  readonly isStopping: () => boolean;
  /** The caller has abandoned the call, so it need not continue, wherever it is. */
  readonly aborted: (call: QueuedCall) => void;
  readonly resolve: (result: CallResult<Answer>) => void;
}

export function queueCall<Answer>(
  call: PoolCall<Answer>,
  options: QueuedCallOptions<Answer>,
): QueuedCall {
  let isRetry = false;
  let isAborted = false;
  const settle = (result: CallResult<Answer>): void => {
    call.signal?.removeEventListener('abort', abort);
    options.resolve(result);
  };
  const refuse = (error: ScriptError): void =>
    settle({ ok: false, error, progress: 0, output: '' });
  const deliver = (end: CallEnd): Disposition => {
    // The call changed nothing outside, so if its process was taken away, it is repeated, once.
    if (!isAborted && end.kind === 'died' && !isRetry && !options.isStopping()) {
      isRetry = true;
      return 'retry';
    }
    const { result, isSound } = consequencesOf(call, end, options);
    if (!isAborted) settle(result);
    return isSound ? 'keep' : 'discard';
  };
  const { request, variables, pure, timeoutMs, moment, owner = '' } = call;
  const queued: QueuedCall = {
    lane: options.lane,
    owner,
    request,
    variables,
    pure,
    timeoutMs,
    ...(moment && { moment }),
    deliver,
    refuse,
    isAborted: () => isAborted,
  };
  const abort = (): void => {
    isAborted = true;
    refuse(aborted());
    options.aborted(queued);
  };
  call.signal?.addEventListener('abort', abort, { once: true });
  return queued;
}
