/**
 * Replaces Python, which the engine never uses directly: the expressions of engine tests are JavaScript, so that these
 * tests need no interpreter and take microseconds.
 */
import { compileFunction } from 'node:vm';
import { toBoolean } from '../../../src/engine/values/convert-input.js';
import type { InputValue } from '../../../src/engine/model/input-value.js';
import { planInputs, requestOf } from '../../../src/engine/model/expression-plan.js';
import type { Instance } from '../../../src/engine/model/instance.js';
import { setField, type Json, type JsonObject } from '../../../src/engine/values/json.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import { compensatingOf } from '../../../src/engine/session/undone-by.js';
import type { StepResult, StepWork } from '../../../src/engine/flow/step-work.js';

/** An expression threw an error or returned undefined. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError' as const;
}

/** The variables that a test adds to `data`, `context` and `step`. */
export type World = Readonly<Record<string, unknown>>;

interface Variables {
  readonly data: JsonObject;
  readonly context: Json;
  readonly step?: JsonObject;
  readonly world: World;
}

const NAMES = ['data', 'context', 'step', 'world'] as const;

type Compiled = (...values: readonly unknown[]) => unknown;

const compiledSources = new Map<string, Compiled>();

function evaluate(source: string, variables: Variables): Json {
  let compiled = compiledSources.get(source);
  if (compiled === undefined) {
    compiled = compileFunction(`return (${source});`, NAMES) as Compiled;
    compiledSources.set(source, compiled);
  }
  let value: unknown;
  try {
    value = compiled(...NAMES.map((name) => variables[name]));
  } catch (error) {
    throw new EvaluationError(`${source}: ${String(error)}`);
  }
  if (value === undefined) throw new EvaluationError(`${source}: has no value`);
  return value as Json;
}

function contextOf(instance: Instance, pointer: Pointer): Json {
  return {
    Workflow: { Id: instance.id, Reference: instance.reference },
    Item: pointer.item ?? null,
    Index: pointer.index ?? null,
    Step: { Id: pointer.stepId, Attempt: pointer.attempt },
    Compensating: compensatingOf({ instance }, pointer),
  };
}

export function evaluateInputs(
  instance: Instance,
  work: Extract<StepWork, { kind: 'inputs' }>,
  world: World,
): JsonObject {
  const plan = planInputs(work.inputs);
  const variables = { data: instance.data, context: contextOf(instance, work.pointer), world };
  return plan.build(plan.sources.map((source) => evaluate(source, variables)));
}

/** As the server: null for a limit without a key. @throws EvaluationError */
export function evaluateKeys(
  instance: Instance,
  { pointer, step }: Extract<StepWork, { kind: 'inputs' }>,
  world: World,
): readonly Json[] {
  const variables = { data: instance.data, context: contextOf(instance, pointer), world };
  return step.limits.map(({ key }) => {
    if (key === null) return null;
    const single = requestOf(key);
    return 'source' in single ? evaluate(single.source, variables) : single.constant;
  });
}

export function evaluateOutputs(
  instance: Instance,
  work: Extract<StepWork, { kind: 'outputs' }>,
  world: World,
): StepResult {
  const context = contextOf(instance, work.pointer);
  const data = { ...instance.data };
  const shown: JsonObject = {};
  const valueOf = (input: InputValue): Json => {
    const single = requestOf(input);
    return 'source' in single
      ? evaluate(single.source, { data, context, step: work.result, world })
      : single.constant;
  };
  const outputs = work.outputs.map(({ key, value }) => {
    const result = valueOf(value);
    setField(data, key, result);
    setField(shown, key, result);
    return [key, result] as const;
  });
  const selected = work.selectors.filter(({ condition }) => isTrue(valueOf(condition)));
  return { outputs, selected: selected.map(({ stepId }) => stepId), shown };
}

export function evaluateCondition(
  instance: Instance,
  pointer: Pointer,
  condition: InputValue,
  world: World,
): boolean {
  const single = requestOf(condition);
  if (!('source' in single)) return isTrue(single.constant);
  const variables = { data: instance.data, context: contextOf(instance, pointer), world };
  return isTrue(evaluate(single.source, variables));
}

function isTrue(value: Json): boolean {
  const truth = toBoolean(value);
  return truth.ok && truth.value;
}
