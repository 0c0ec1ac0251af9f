/** The expressions of a webhook: checked when it is set up, and evaluated for each call. */
import { notPython } from '../../engine/definitions/late-problems.js';
import { parseInputValue } from '../../engine/definitions/parse-input-value.js';
import { ParseState } from '../../engine/definitions/parse-state.js';
import type { InputValue } from '../../engine/model/input-value.js';
import { planInputs } from '../../engine/model/expression-plan.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { AppError } from '../../base/errors.js';
import { isRefusal, type ScriptRuntime } from '../../scripts/script-runtime.js';
import type { WebhookEffect } from './webhook-types.js';

interface Inputs {
  readonly inputs: readonly { readonly name: string; readonly value: InputValue }[];
  readonly state: ParseState;
}

const USE = { gives: 'value', knowsStep: false, stepType: null } as const;
const BODY: Json = 'hook.body';

/** @throws AppError `invalid_request` that lists all problems */
export async function checkInputs(
  effect: WebhookEffect,
  scripts: Pick<ScriptRuntime, 'checkSyntax' | 'examine'>,
): Promise<void> {
  const { state } = parseInputs(effect, false);
  const problems: DocumentProblem[] = [...state.errors.toArray()];
  if (problems.length === 0) {
    const sources = state.expressions.map(({ source }) => source);
    const isPython = (source: string): boolean => (scripts.examine?.(source) ?? null) !== null;
    for (const syntaxError of await scripts.checkSyntax('expression', sources)) {
      const expression = state.expressions[syntaxError.index] ?? { source: '', pointer: '' };
      const problem = notPython(expression, syntaxError, isPython);
      problems.push({ ...problem, code: 'invalid_expression' });
    }
  }
  const [first] = problems;
  if (first === undefined) return;
  const place = first.pointer.slice(1).replaceAll('/', '.');
  throw new AppError('invalid_request', `${place}: ${first.message}`, { problems });
}

/** @throws AppError `invalid_data` if an expression fails, `python_unavailable` */
export async function evaluateInputs(
  effect: WebhookEffect,
  hook: JsonObject,
  scripts: Pick<ScriptRuntime, 'evaluate'>,
): Promise<JsonObject> {
  const plan = planInputs(parseInputs(effect, true).inputs);
  const expressions = plan.sources.map((source) => ({ source }));
  const result = await scripts.evaluate(expressions, { data: {}, context: {}, hook });
  if (result.ok) return plan.build(result.values);
  const { message } = result.error;
  if (isRefusal(result.error)) throw new AppError('python_unavailable', message);
  const source = plan.sources[result.index] ?? '';
  throw new AppError('invalid_data', `${message} in the expression '${source}' of the webhook`);
}

function parseInputs(effect: WebhookEffect, isStored: boolean): Inputs {
  const state = new ParseState({ isStored });
  const [at, members] =
    'publish' in effect
      ? ['/publish', effect.publish]
      : ['/start', withoutDefinition(effect.start)];
  const values: Readonly<Record<string, Json | undefined>> = { data: BODY, ...members };
  const inputs = Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const place = { pointer: `${at}/${name}`, use: USE };
    return [{ name, value: parseInputValue(value, place, state) }];
  });
  return { inputs, state };
}

function withoutDefinition({
  data,
  reference,
}: Extract<WebhookEffect, { readonly start: unknown }>['start']): Readonly<
  Record<string, Json | undefined>
> {
  return { ...(data !== undefined && { data }), reference };
}
