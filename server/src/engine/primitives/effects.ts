/** Step types whose body runs outside the engine: HTTP requests, custom steps, other instances. */
import { childIdOf, waitsAbove } from '../model/child-id.js';
import {
  describeValue,
  toBoolean,
  toChoice,
  toChoices,
  toName,
  toObject,
  toReference,
  type Conversion,
} from '../values/convert-input.js';
import { INSTANCE_OUTCOMES, type InstanceOutcome } from '../model/instance.js';
import type { Json, JsonObject } from '../values/json.js';
import {
  CONFLICT_SCOPES,
  ON_CONFLICT,
  PRIORITIES,
  priorityOf,
  type ConflictScope,
  type OnConflict,
  type Priority,
  type StartKey,
} from '../model/start-options.js';
import { readTags } from '../model/start-tags.js';
import type { Tags } from '../values/tags.js';
import { request } from '../session/pointer-states.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** HttpRequest and custom steps: the body gets the inputs, and its result comes back through `applyEffect`. */
export const effect = primitive({
  enter(session, pointer, inputs) {
    request(session, pointer, { kind: 'effect', inputs });
  },
});

/** Far more than any task needs; stops an instance that starts itself recursively and waits. */
const WAITING_PARENTS_MAX = 50;
const TOO_MANY = `${WAITING_PARENTS_MAX} runs are already waiting for one another, the maximum; check for a workflow that starts itself`;

/** Starts another instance. */
export const subWorkflow = primitive({
  enter(session, pointer, inputs) {
    required(inputs, 'DefinitionId', toName);
    optional(inputs, 'Data', toObject, {});
    childStartOf(inputs);
    optional(inputs, 'AcceptOutcome', toOutcomes, []);
    const wait = optional(inputs, 'Wait', toBoolean, true);
    if (wait && waitsAbove(session.instance.parent) >= WAITING_PARENTS_MAX)
      throw new InputError(TOO_MANY);
    const workflowId = childIdOf(session.instance.id, pointer);
    request(session, pointer, { kind: 'child', workflowId, inputs, wait, started: false });
  },
});

/** How a SubWorkflow step starts its child. */
export interface ChildStartInputs {
  readonly version: number | 'latest';
  readonly key: StartKey;
  readonly tags: Tags;
  /** Null: the parent's. */
  readonly priority: Priority | null;
}

/** @throws InputError */
export function childStartOf(inputs: JsonObject): ChildStartInputs {
  return {
    version: optional<number | 'latest'>(inputs, 'Version', toVersion, 'latest'),
    key: {
      reference: optional<string | null>(inputs, 'Reference', toReference, null),
      onConflict: optional<OnConflict | null>(inputs, 'OnConflict', toOnConflict, null),
      conflictScope: optional<ConflictScope | null>(inputs, 'ConflictScope', toScope, null),
    },
    tags: optional(inputs, 'Tags', toTags, {}),
    priority: optional<Priority | null>(inputs, 'Priority', toPriority, null),
  };
}

function toOnConflict(value: Json): Conversion<OnConflict> {
  return toChoice(value, ON_CONFLICT);
}

function toScope(value: Json): Conversion<ConflictScope> {
  return toChoice(value, CONFLICT_SCOPES);
}

function toVersion(value: Json): Conversion<number> {
  const version = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > 0) {
    return { ok: true, value: version };
  }
  const message = `expected the number of a version, but got ${describeValue(value)}`;
  return { ok: false, message };
}

function toPriority(value: Json): Conversion<Priority> {
  const priority = priorityOf(typeof value === 'string' ? Number(value) : value);
  if (priority !== null) return { ok: true, value: priority };
  const message = `expected a priority from 1 to ${PRIORITIES.length}, but got ${describeValue(value)}`;
  return { ok: false, message };
}

function toTags(value: Json): Conversion<Tags> {
  const object = toObject(value);
  if (!object.ok) return object;
  const { problem, tags } = readTags(Object.entries(object.value));
  return problem === null ? { ok: true, value: tags } : { ok: false, message: problem };
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
