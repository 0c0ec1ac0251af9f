/** Step types whose body runs outside the engine: HTTP requests, custom steps, other instances. */
import { toBoolean, toText } from '../convert-input.js';
import { childIdOf } from '../pointer.js';
import { setState } from '../run.js';
import { optional, primitive, required } from './primitive.js';

/** HttpRequest and custom steps: the body gets the inputs, and its result comes back through `applyEffect`. */
export const effect = primitive({
  enter(run, pointer, inputs) {
    setState(run, pointer, { kind: 'effect', inputs });
    run.changes.effects.push(pointer.id);
  },
});

/** Starts another instance. */
export const subWorkflow = primitive({
  enter(run, pointer, inputs) {
    required(inputs, 'DefinitionId', toText);
    const wait = optional(inputs, 'Wait', toBoolean, true);
    const workflowId = childIdOf(run.instance.id, pointer);
    setState(run, pointer, { kind: 'child', workflowId, inputs, wait, started: false });
    run.changes.effects.push(pointer.id);
  },
});
