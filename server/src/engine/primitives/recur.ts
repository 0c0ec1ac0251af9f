import { endRound } from '../failure/cause.js';
import { toBoolean, toDurationMs } from '../values/convert-input.js';
import { invariant } from '../model/invariant.js';
import type { JsonObject } from '../values/json.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState, sleep } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';
import { finishContainer, openSequences } from './containers.js';
import { optional, primitive, required } from './primitive.js';

/**
 * Runs Do immediately and then at every interval until the stop condition is true. The condition is evaluated before each
 * round, when the step is reached again. Rounds do not overlap: if one takes longer than the interval, the next follows
 * immediately.
 */
export const recur = primitive({
  enter(session, pointer, inputs) {
    const startsInBackground =
      !pointer.inBackground && optional(inputs, 'Background', toBoolean, true) && isFirst(pointer);
    if (startsInBackground) finish(session, pointer, {});
    else startRound(session, pointer, inputs);
  },
  staysInBackground: (pointer) => isFirst(pointer) && !pointer.inBackground,
  continueInBackground(session, pointer) {
    setState(session, pointer, { kind: 'ready' });
  },
  woken(session, pointer) {
    setState(session, pointer, { kind: 'ready' });
  },
  joined: waitForNextRound,
});

function isFirst(pointer: Pointer): boolean {
  return pointer.memo === null;
}

function startRound(session: Session, pointer: Pointer, inputs: JsonObject): void {
  const intervalMs = required(inputs, 'Interval', toDurationMs);
  const stop = optional(inputs, 'StopCondition', toBoolean, false);
  pointer.memo = { kind: 'round', startedAt: session.now, intervalMs };
  if (stop) finishContainer(session, pointer);
  else openSequences(session, pointer);
}

function waitForNextRound(session: Session, pointer: Pointer): void {
  invariant(pointer.memo?.kind === 'round', 'a Recur that has joined was in a round');
  endRound(pointer);
  sleep(session, pointer, Math.max(session.now, pointer.memo.startedAt + pointer.memo.intervalMs));
}
