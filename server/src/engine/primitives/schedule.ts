import { toBoolean, toDurationMs } from '../values/convert-input.js';
import { invariant } from '../model/invariant.js';
import { finish, sleep } from '../session/pointer-states.js';
import { finishContainer, openSequences } from './containers.js';
import { optional, primitive, required } from './primitive.js';

/** Runs Do once after an interval; with Background, the next steps start immediately. */
export const schedule = primitive({
  enter(session, pointer, inputs) {
    const at = session.now + required(inputs, 'Interval', toDurationMs);
    const background = optional(inputs, 'Background', toBoolean, false);
    // A retry in the background has already opened its successors.
    if (background && !pointer.inBackground) {
      pointer.memo = { kind: 'scheduled', at };
      finish(session, pointer, {});
    } else {
      sleep(session, pointer, at);
    }
  },
  staysInBackground: (pointer) => pointer.memo?.kind === 'scheduled',
  continueInBackground(session, pointer) {
    invariant(pointer.memo?.kind === 'scheduled', 'only a scheduled step goes to the background');
    sleep(session, pointer, pointer.memo.at);
  },
  woken(session, pointer) {
    openSequences(session, pointer);
  },
  joined: finishContainer,
});
