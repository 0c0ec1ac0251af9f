/** Steps as tests write them: with Conductor's member names and given ids. */
import type { JsonObject } from '../../../src/engine/values/json.js';

export type Steps = readonly JsonObject[];

/** A step of this type. */
export function step(
  Id: string,
  StepType: string,
  Inputs: JsonObject = {},
  rest: JsonObject = {},
): JsonObject {
  return { Id, StepType, ...(Object.keys(Inputs).length === 0 ? {} : { Inputs }), ...rest };
}

/** A step that only writes these fields. */
export function compute(Id: string, Outputs: JsonObject, rest: JsonObject = {}): JsonObject {
  return { Id, StepType: 'NoOp', Outputs, ...rest };
}

/** Appends its id to `data.trail`, so that the data contains the order of the steps. */
export function mark(Id: string, rest: JsonObject = {}): JsonObject {
  return compute(Id, { trail: `data.get("trail", []) + ["${Id}"]` }, rest);
}

/** Each step has the next one as its NextStepId. */
export function chain(...steps: readonly JsonObject[]): JsonObject[] {
  return steps.map((each, index) => {
    const next = steps[index + 1];
    return next === undefined || 'NextStepId' in each ? each : { ...each, NextStepId: next['Id']! };
  });
}

/** Fails whenever it runs: the field does not exist. */
export function failing(Id: string, rest: JsonObject = {}): JsonObject {
  return compute(Id, { never: 'data.missing_field' }, rest);
}

/** Offers work to the workers of a name, and stores the result in `data.result`. */
export function activity(
  Id: string,
  name: string,
  inputs: JsonObject = {},
  rest: JsonObject = {},
): JsonObject {
  const Outputs = { result: 'step.Result' };
  return step(Id, 'Activity', { ActivityName: `"${name}"`, ...inputs }, { Outputs, ...rest });
}
