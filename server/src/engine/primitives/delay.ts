import { toDurationMs } from '../values/convert-input.js';
import { finish, sleep } from '../flow/pointer-states.js';
import { primitive, required } from './primitive.js';

/** Waits for a period. */
export const delay = primitive({
  enter(run, pointer, inputs) {
    sleep(run, pointer, run.now + required(inputs, 'Period', toDurationMs));
  },
  woken(run, pointer) {
    finish(run, pointer, {});
  },
});
