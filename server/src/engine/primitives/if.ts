import { toBoolean } from '../values/convert-input.js';
import { finish } from '../session/pointer-states.js';
import { finishContainer, openSequences } from './containers.js';
import { primitive, required } from './primitive.js';

/** Runs Do once if the condition is true. */
export const ifStep = primitive({
  enter(session, pointer, inputs) {
    if (required(inputs, 'Condition', toBoolean)) openSequences(session, pointer);
    else finish(session, pointer, {});
  },
  joined: finishContainer,
});
