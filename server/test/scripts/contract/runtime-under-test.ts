/** The runtime that the contract's cases call, and the variables that they read. */
import { afterAll, beforeAll } from 'vitest';
import { writeJson } from '../../../src/engine/values/exact-json.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type {
  EvaluationRequest,
  EvaluationResult,
  EvaluationVariables,
  ScriptRuntime,
} from '../../../src/scripts/script-runtime.js';

export const DATA: JsonObject = {
  Value1: 'one',
  count: 3,
  price: 2.5,
  flag: false,
  nothing: null,
  list: [1, [2, 3], { name: 'x' }],
  order: {
    lines: [{ sku: 'a', qty: 2 }],
    'with space': 1,
    items: ['field'],
    deep: { er: { est: 7 } },
  },
  items: 'a field',
  text: 'äöü 😀 "quoted"\n',
};
export const CONTEXT: JsonObject = {
  Workflow: { Id: 'w1', Version: 2 },
  Item: { name: 'i' },
  Index: 0,
};
const STEP: JsonObject = { EventData: { ok: true }, c: 4 };
const ENVIRONMENT = { NAME: 'n1', EMPTY: '' };

export type RuntimeUnderTest = ReturnType<typeof runtimeUnderTest>;

/** Starts a runtime before the tests of the enclosing suite and stops it after them. */
export function runtimeUnderTest(
  create: (environment: Readonly<Record<string, string>>) => ScriptRuntime,
) {
  let runtime: ScriptRuntime;

  const evaluateAll = async (
    expressions: readonly (string | EvaluationRequest)[],
    variables: Partial<EvaluationVariables> = {},
  ): Promise<EvaluationResult> =>
    runtime.evaluate(
      expressions.map((item) => (typeof item === 'string' ? { source: item } : item)),
      { data: DATA, context: CONTEXT, step: STEP, ...variables },
    );
  /** The value of one expression, which must succeed. */
  const valueOf = async (source: string, variables: Partial<EvaluationVariables> = {}) => {
    const result = await evaluateAll([source], variables);
    if (!result.ok) throw new Error(`${source}: ${result.error.type}: ${result.error.message}`);
    return result.values[0];
  };
  /** The error of one expression, which must fail. */
  const errorOf = async (source: string, variables: Partial<EvaluationVariables> = {}) => {
    const result = await evaluateAll([source], variables);
    if (result.ok) throw new Error(`${source} gave ${writeJson(result.values)}`);
    return result.error;
  };
  /** The result of a script, which must succeed. */
  const run = async (source: string, inputs: JsonObject = {}) => {
    const result = await runtime.runScript(source, inputs);
    if (!result.ok) throw new Error(`${result.error.type}: ${result.error.message}`);
    return result;
  };

  beforeAll(async () => {
    runtime = create(ENVIRONMENT);
    await runtime.start();
    await evaluateAll(['abs(1)']);
  });
  afterAll(() => runtime.stop());

  return {
    /** Only while tests run. */
    get runtime() {
      return runtime;
    },
    evaluateAll,
    valueOf,
    errorOf,
    run,
  };
}
