import { finishContainer, openSequences } from './containers.js';
import { primitive } from './primitive.js';

/** Parallel and Sequence: every sequence of Do is a branch; the step completes when all have ended. */
export const parallel = primitive({
  enter(session, pointer) {
    openSequences(session, pointer);
  },
  joined: finishContainer,
});
