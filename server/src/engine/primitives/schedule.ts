import { toBoolean, toDurationMs } from '../values/convert-input.js';
import { invariant } from '../model/invariant.js';
import { finish, sleep } from '../flow/pointer-states.js';
import { finishContainer, openSequences } from './containers.js';
import { optional, primitive, required } from './primitive.js';

/** Runs Do once after an interval; with Background, the next steps start immediately. */
export const schedule = primitive({
  enter(run, pointer, inputs) {
    const at = run.now + required(inputs, 'Interval', toDurationMs);
    const background = optional(inputs, 'Background', toBoolean, false);
    // A retry in the background has already opened its successors.
    if (background && !pointer.inBackground) {
      pointer.memo = { kind: 'scheduled', at };
      finish(run, pointer, {});
    } else {
      sleep(run, pointer, at);
    }
  },
  staysInBackground: (pointer) => pointer.memo?.kind === 'scheduled',
  continueInBackground(run, pointer) {
    invariant(pointer.memo?.kind === 'scheduled', 'only a scheduled step goes to the background');
    sleep(run, pointer, pointer.memo.at);
  },
  woken(run, pointer) {
    openSequences(run, pointer);
  },
  joined: finishContainer,
});
