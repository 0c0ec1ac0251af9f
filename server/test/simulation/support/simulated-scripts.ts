/**
 * Expressions that mean the same in Python and JavaScript, evaluated as JavaScript.
 *
 * Only simulations use it: a seed cannot control an interpreter in another process, and Python's evaluation has its own
 * tests. Some results come at once and some later, as from the real one.
 */
import { compileFunction } from 'node:vm';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import type {
  EvaluationRequest,
  EvaluationResult,
  EvaluationVariables,
  ScriptRuntime,
} from '../../../src/scripts/script-runtime.js';

type Compiled = (data: JsonObject, context: JsonObject, step: JsonObject) => unknown;

const COMPILED = new Map<string, Compiled>();

export function createSimulatedScripts(answerLater: () => Promise<void> | null): ScriptRuntime {
  return {
    ready: true,
    waitUntilReady: () => Promise.resolve(),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    evaluate(expressions, variables) {
      const result = evaluate(expressions, variables);
      const pause = answerLater();
      return pause === null ? result : pause.then(() => result);
    },
    runScript: () =>
      Promise.resolve({
        ok: false,
        error: { type: 'Unavailable', message: 'no scripts in simulations' },
        output: '',
      }),
    checkSyntax: () => Promise.resolve([]),
    statistics: () => ({ interpreters: 0, busy: 0, queued: 0, replaced: 0, timeouts: 0 }),
  };
}

function evaluate(
  expressions: readonly EvaluationRequest[],
  { context, data, step }: EvaluationVariables,
): EvaluationResult {
  const seen = { ...data };
  const values: Json[] = [];
  for (const [index, request] of expressions.entries()) {
    const { assignTo } = request;
    try {
      const value =
        'constant' in request ? request.constant : evaluated(request.source, seen, context, step);
      values.push(value);
      if (assignTo !== undefined) seen[assignTo] = value;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, index, error: { type: 'AttributeError', message } };
    }
  }
  return { ok: true, values };
}

function evaluated(
  source: string,
  data: JsonObject,
  context: JsonObject,
  step: JsonObject = {},
): Json {
  const value = compiled(source)(data, context, step);
  if (value === undefined) throw new Error(`${source} has no value`);
  return value as Json;
}

function compiled(source: string): Compiled {
  let known = COMPILED.get(source);
  if (known === undefined) {
    known = compileFunction(`return (${source});`, ['data', 'context', 'step']) as Compiled;
    COMPILED.set(source, known);
  }
  return known;
}
