/** Steps as tests write them: the member names of the original, ids given, the rest as needed. */
import type { JsonObject } from '../../../src/engine/values/json.js';

export type Steps = readonly JsonObject[];

/** A step of a type. */
export function step(
  Id: string,
  StepType: string,
  Inputs: JsonObject = {},
  rest: JsonObject = {},
): JsonObject {
  return { Id, StepType, ...(Object.keys(Inputs).length === 0 ? {} : { Inputs }), ...rest };
}

/** A step that does nothing but write these fields. */
export function compute(Id: string, Outputs: JsonObject, rest: JsonObject = {}): JsonObject {
  return { Id, StepType: 'NoOp', Outputs, ...rest };
}

/** Appends its id to `data.trail`, so that the order of what ran is in the data. */
export function mark(Id: string, rest: JsonObject = {}): JsonObject {
  return compute(Id, { trail: `data.get("trail", []) + ["${Id}"]` }, rest);
}

/** Each step is followed by the next one. */
export function chain(...steps: readonly JsonObject[]): JsonObject[] {
  return steps.map((each, index) => {
    const next = steps[index + 1];
    return next === undefined || 'NextStepId' in each ? each : { ...each, NextStepId: next['Id']! };
  });
}

/** Fails whenever it runs: there is no such field. */
export function failing(Id: string, rest: JsonObject = {}): JsonObject {
  return compute(Id, { never: 'data.missing_field' }, rest);
}

/** Asks the workers of a name, and keeps their answer in `data.result`. */
export function activity(
  Id: string,
  name: string,
  inputs: JsonObject = {},
  rest: JsonObject = {},
): JsonObject {
  const Outputs = { result: 'step.Result' };
  return step(Id, 'Activity', { ActivityName: `"${name}"`, ...inputs }, { Outputs, ...rest });
}
