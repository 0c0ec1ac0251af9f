/** Step types whose body runs outside the engine: HTTP requests, custom steps, other instances. */
import { childIdOf, waitsAbove } from '../child-id.js';
import { toBoolean, toObject, toText } from '../convert-input.js';
import { setState } from '../run.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** HttpRequest and custom steps: the body gets the inputs, and its result comes back through `applyEffect`. */
export const effect = primitive({
  enter(run, pointer, inputs) {
    setState(run, pointer, { kind: 'effect', inputs });
    run.changes.effects.push(pointer.id);
  },
});

/** Far more than any task needs; an instance that starts itself and waits gets no further. */
const WAITING_PARENTS_MAX = 50;
const TOO_MANY = `${WAITING_PARENTS_MAX} workflows wait for one another already: does one start itself?`;

/** Starts another instance. */
export const subWorkflow = primitive({
  enter(run, pointer, inputs) {
    required(inputs, 'DefinitionId', toText);
    optional(inputs, 'Data', toObject, {});
    const wait = optional(inputs, 'Wait', toBoolean, true);
    if (wait && waitsAbove(run.instance.parent) >= WAITING_PARENTS_MAX)
      throw new InputError(TOO_MANY);
    const workflowId = childIdOf(run.instance.id, pointer);
    setState(run, pointer, { kind: 'child', workflowId, inputs, wait, started: false });
    run.changes.effects.push(pointer.id);
  },
});
