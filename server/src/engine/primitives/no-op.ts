import { finish } from '../flow/pointer-states.js';
import { primitive } from './primitive.js';

/** NoOp and Decide: nothing but outputs and the choice of what follows. */
export const noOp = primitive({
  enter(run, pointer) {
    finish(run, pointer, {});
  },
});
