import { endRound } from '../failure/cause.js';
import { toBoolean } from '../values/convert-input.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState } from '../flow/pointer-states.js';
import type { Run } from '../flow/run.js';
import { openSequences } from './containers.js';
import { primitive, required } from './primitive.js';

/** Runs Do repeatedly while the condition is true. It is evaluated once per round, when the step is reached again. */
export const whileStep = primitive({
  enter(run, pointer, inputs) {
    if (required(inputs, 'Condition', toBoolean)) openSequences(run, pointer);
    else finish(run, pointer, {});
  },
  joined: nextTurn,
});

function nextTurn(run: Run, pointer: Pointer): void {
  endRound(pointer);
  setState(run, pointer, { kind: 'ready' });
}
