import { endRound } from '../failure/cause.js';
import { toBoolean, toDurationMs } from '../values/convert-input.js';
import { invariant } from '../model/invariant.js';
import type { JsonObject } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState, sleep } from '../flow/pointer-states.js';
import type { Run } from '../flow/run.js';
import { finishContainer, openSequences } from './containers.js';
import { optional, primitive, required } from './primitive.js';

/**
 * Runs Do immediately and then at every interval until the stop condition is true. The condition is evaluated before each
 * round, when the step is reached again. Rounds do not overlap: if one takes longer than the interval, the next follows
 * immediately.
 */
export const recur = primitive({
  enter(run, pointer, inputs) {
    const startsInBackground =
      !pointer.inBackground && optional(inputs, 'Background', toBoolean, true) && isFirst(pointer);
    if (startsInBackground) finish(run, pointer, {});
    else startRound(run, pointer, inputs);
  },
  staysInBackground: (pointer) => isFirst(pointer) && !pointer.inBackground,
  continueInBackground(run, pointer) {
    setState(run, pointer, { kind: 'ready' });
  },
  woken(run, pointer) {
    setState(run, pointer, { kind: 'ready' });
  },
  joined: waitForNextRound,
});

function isFirst(pointer: Pointer): boolean {
  return pointer.memo === null;
}

function startRound(run: Run, pointer: Pointer, inputs: JsonObject): void {
  const intervalMs = required(inputs, 'Interval', toDurationMs);
  const stop = optional(inputs, 'StopCondition', toBoolean, false);
  pointer.memo = { kind: 'round', startedAt: run.now, intervalMs };
  if (stop) finishContainer(run, pointer);
  else openSequences(run, pointer);
}

function waitForNextRound(run: Run, pointer: Pointer): void {
  invariant(pointer.memo?.kind === 'round', 'a Recur that has joined was in a round');
  endRound(pointer);
  sleep(run, pointer, Math.max(run.now, pointer.memo.startedAt + pointer.memo.intervalMs));
}
