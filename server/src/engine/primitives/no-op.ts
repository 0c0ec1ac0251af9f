import { finish } from '../session/pointer-states.js';
import { primitive } from './primitive.js';

/** NoOp and Decide: they only set outputs and select the next steps. */
export const noOp = primitive({
  enter(session, pointer) {
    finish(session, pointer, {});
  },
});
