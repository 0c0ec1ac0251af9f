import { finish } from '../flow/pointer-states.js';
import { primitive } from './primitive.js';

/** NoOp and Decide: only outputs and the selection of the next steps. */
export const noOp = primitive({
  enter(session, pointer) {
    finish(session, pointer, {});
  },
});
