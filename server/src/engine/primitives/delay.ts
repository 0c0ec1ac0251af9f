import { toDurationMs } from '../values/convert-input.js';
import { finish, sleep } from '../session/pointer-states.js';
import { primitive, required } from './primitive.js';

/** Waits for a period. */
export const delay = primitive({
  enter(session, pointer, inputs) {
    sleep(session, pointer, session.now + required(inputs, 'Period', toDurationMs));
  },
  woken(session, pointer) {
    finish(session, pointer, {});
  },
});
