import { endRound } from '../failure/cause.js';
import { toBoolean } from '../values/convert-input.js';
import type { Pointer } from '../model/pointer.js';
import { finish, setState } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';
import { openSequences } from './containers.js';
import { primitive, required } from './primitive.js';

/** Runs Do repeatedly while the condition is true. It is evaluated once per round, when the step is reached again. */
export const whileStep = primitive({
  enter(session, pointer, inputs) {
    if (required(inputs, 'Condition', toBoolean)) openSequences(session, pointer);
    else finish(session, pointer, {});
  },
  joined: nextTurn,
});

function nextTurn(session: Session, pointer: Pointer): void {
  endRound(pointer);
  setState(session, pointer, { kind: 'ready' });
}
