/** Step types whose body runs outside the engine: HTTP requests, custom steps, other instances. */
import { toBoolean, toText } from '../convert-input.js';
import { executionKey } from '../pointer.js';
import { setState } from '../run.js';
import { optional, primitive, required } from './primitive.js';

/** HttpRequest and custom steps: the body gets the inputs, and its result comes back through `applyEffect`. */
export const effect = primitive({
  enter(run, pointer, inputs) {
    setState(run, pointer, { kind: 'effect', inputs });
    run.changes.effects.push(pointer.id);
  },
});

/** Starts another instance; its id is derived from this execution, so that a repeated start is the same one. */
export const subWorkflow = primitive({
  enter(run, pointer, inputs) {
    required(inputs, 'DefinitionId', toText);
    const wait = optional(inputs, 'Wait', toBoolean, true);
    const workflowId = executionKey(run.instance.id, pointer).replaceAll('/', '.');
    setState(run, pointer, { kind: 'child', workflowId, inputs, wait, started: false });
    run.changes.effects.push(pointer.id);
  },
});
