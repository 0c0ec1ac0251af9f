/** Step types whose body runs outside the engine: HTTP requests, custom steps, other instances. */
import { childIdOf, waitsAbove } from '../model/child-id.js';
import {
  toBoolean,
  toChoices,
  toName,
  toObject,
  toText,
  type Conversion,
} from '../values/convert-input.js';
import { INSTANCE_OUTCOMES, type InstanceOutcome } from '../model/instance.js';
import type { Json, JsonObject } from '../values/json.js';
import { setState } from '../flow/pointer-states.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** HttpRequest and custom steps: the body gets the inputs, and its result comes back through `applyEffect`. */
export const effect = primitive({
  enter(run, pointer, inputs) {
    setState(run, pointer, { kind: 'effect', inputs });
    run.changes.effects.push(pointer.id);
  },
});

/** Far more than any task needs; stops an instance that starts itself recursively and waits. */
const WAITING_PARENTS_MAX = 50;
const TOO_MANY = `${WAITING_PARENTS_MAX} runs are already waiting for one another, the maximum; check for a workflow that starts itself`;

/** Starts another instance. */
export const subWorkflow = primitive({
  enter(run, pointer, inputs) {
    required(inputs, 'DefinitionId', toText);
    optional(inputs, 'Data', toObject, {});
    referenceOf(inputs);
    optional(inputs, 'AcceptOutcome', toOutcomes, []);
    const wait = optional(inputs, 'Wait', toBoolean, true);
    if (wait && waitsAbove(run.instance.parent) >= WAITING_PARENTS_MAX)
      throw new InputError(TOO_MANY);
    const workflowId = childIdOf(run.instance.id, pointer);
    setState(run, pointer, { kind: 'child', workflowId, inputs, wait, started: false });
    run.changes.effects.push(pointer.id);
  },
});

/** The reference of the child. @throws InputError */
export function referenceOf(inputs: JsonObject): string | null {
  return optional<string | null>(inputs, 'Reference', (value) => toName(value), null);
}

/** Whether a step with these inputs continues after its child has ended with this outcome. */
export function acceptsOutcome(inputs: JsonObject, outcome: InstanceOutcome): boolean {
  if (outcome === 'Succeeded') return true;
  const accepted = toOutcomes(inputs['AcceptOutcome'] ?? []);
  return accepted.ok && accepted.value.includes(outcome);
}

function toOutcomes(value: Json): Conversion<readonly InstanceOutcome[]> {
  return toChoices(value, INSTANCE_OUTCOMES);
}
