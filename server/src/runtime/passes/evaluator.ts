/** Evaluates the engine's expressions: inputs, outputs with selectors, and cancel conditions of steps. */
import { failureHint } from '../../engine/definitions/foreign/failure-hint.js';
import { toBoolean } from '../../engine/values/convert-input.js';
import type { StepDefinition } from '../../engine/model/definition.js';
import type { InputValue } from '../../engine/model/input-value.js';
import { writeJson } from '../../engine/values/exact-json.js';
import { planInputs, requestOf, type InputPlan } from '../../engine/model/expression-plan.js';
import type { Failure } from '../../engine/failure/fail-step.js';
import type { Instance } from '../../engine/model/instance.js';
import { setField, type Json, type JsonObject } from '../../engine/values/json.js';
import { compensatingOf } from '../../engine/session/undone-by.js';
import { idempotencyKey, type Pointer } from '../../engine/model/pointer.js';
import type { TriggerStart } from '../../engine/model/trigger.js';
import type { StepResult } from '../../engine/flow/step-work.js';
import { INVALID_LIMIT_KEY } from '../../engine/primitives/request-slots.js';
import {
  isRefusal,
  type CallOptions,
  type EvaluationRequest,
  type EvaluationResult,
  type ScriptError,
  type ScriptRuntime,
} from '../../scripts/script-runtime.js';
import type { Secrets } from '../secrets/secrets.js';
import { SecretInputs } from './secret-inputs.js';
import { shownValue } from './shown-value.js';

export type Evaluated<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly failure: Failure };

/** Most evaluations need no Python and return immediately; awaiting them would cost more than the evaluation. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** The instance and step that the expressions belong to. */
export interface EvaluationPlace {
  readonly instance: Instance;
  readonly pointer: Pointer;
  /** Its signal cancels the evaluation, which then fails with `Aborted`. It is read only if Python is needed. */
  readonly pending?: { readonly signal: AbortSignal };
  /** True if its inputs go to a call, so that they may use secrets. */
  readonly takesSecrets?: boolean;
}

const SECRETS_ELSEWHERE =
  'secrets can be used only in the inputs of HttpRequest, Activity and custom steps';

export class Evaluator {
  readonly #scripts: ScriptRuntime;
  readonly #secretInputs: SecretInputs | null;

  /** @param secrets null: expressions have no secrets */
  constructor(scripts: ScriptRuntime, secrets: Pick<Secrets, 'variables'> | null = null) {
    this.#scripts = scripts;
    this.#secretInputs = secrets === null ? null : new SecretInputs(scripts, secrets);
  }

  /** Resolves when an interpreter is ready, or can't be started. */
  async ready(): Promise<void> {
    await this.#scripts.waitUntilReady();
  }

  inputs(
    place: EvaluationPlace,
    inputs: StepDefinition['inputs'],
  ): MaybePromise<Evaluated<JsonObject>> {
    const plan = planInputs(inputs);
    if (plan.sources.length === 0) return { ok: true, value: plan.build([]) };
    return andThen(this.#values(place, plan), (result) =>
      result.ok
        ? { ok: true, value: plan.build(result.values) }
        : { ok: false, failure: failureOf(result.error, expressionOf(plan, result.index)) },
    );
  }

  #values(place: EvaluationPlace, plan: InputPlan): MaybePromise<EvaluationResult> {
    const variables = variablesOf(place);
    const options = optionsOf(place);
    if (plan.mayReadSecrets && place.takesSecrets === true && this.#secretInputs !== null) {
      const execution = idempotencyKey(place.instance.id, place.pointer);
      return this.#secretInputs.evaluate({ plan, variables, options, execution });
    }
    const expressions = plan.sources.map((source) => ({ source }));
    return this.#scripts.evaluate(expressions, variables, options);
  }

  /** Outputs first, in order, each visible to later ones; then the selectors. */
  outputs(
    place: EvaluationPlace,
    work: Pick<StepDefinition, 'outputs'> & {
      readonly result: JsonObject;
      readonly selectors: StepDefinition['selectNextStep'];
    },
  ): MaybePromise<Evaluated<StepResult>> {
    const { outputs, selectors, result: step } = work;
    if (outputs.length === 0 && selectors.length === 0) {
      return { ok: true, value: { outputs: [], selected: [], shown: {} } };
    }
    const expressions: EvaluationRequest[] = [
      ...outputs.map(({ key, value }) => ({ ...requestOf(value), assignTo: key })),
      ...selectors.map(({ condition }) => requestOf(condition)),
    ];
    const variables = { ...variablesOf(place), step };
    return andThen(this.#scripts.evaluate(expressions, variables, optionsOf(place)), (result) =>
      result.ok
        ? { ok: true, value: stepResult(work, result.values) }
        : { ok: false, failure: failureOf(result.error, expressions[result.index]) },
    );
  }

  /** The keys of a step's limits, in their order; null for one without a key. A failure isn't retried, unless Python is unavailable. */
  limitKeys(
    place: EvaluationPlace,
    limits: StepDefinition['limits'],
  ): MaybePromise<Evaluated<readonly Json[]>> {
    const keyed = limits.flatMap(({ key, name }) =>
      key === null ? [] : [{ name, request: requestOf(key) }],
    );
    if (keyed.length === 0) return { ok: true, value: [] };
    const requests = keyed.map(({ request }) => request);
    const evaluated = this.#scripts.evaluate(requests, variablesOf(place), optionsOf(place));
    return andThen(evaluated, (result) => {
      if (!result.ok) return { ok: false, failure: keyFailure(result, keyed[result.index]) };
      const values = result.values.values();
      return {
        ok: true,
        value: limits.map(({ key }) => (key === null ? null : (values.next().value ?? null))),
      };
    });
  }

  /** If the condition can't be evaluated, returns the failure, which the caller treats as false. */
  condition(place: EvaluationPlace, condition: InputValue): MaybePromise<Evaluated<boolean>> {
    const expression = requestOf(condition);
    const variables = variablesOf(place);
    return andThen(this.#scripts.evaluate([expression], variables, optionsOf(place)), (result) =>
      result.ok
        ? { ok: true, value: isTrue(result.values[0] ?? null) }
        : { ok: false, failure: failureOf(result.error, expression) },
    );
  }
}

/** Waits only for what isn't there yet. */
export function andThen<In, Out>(
  value: MaybePromise<In>,
  map: (value: In) => MaybePromise<Out>,
): MaybePromise<Out> {
  return value instanceof Promise ? value.then(map) : map(value);
}

function stepResult(
  work: Pick<StepDefinition, 'outputs'> & { readonly selectors: StepDefinition['selectNextStep'] },
  values: Extract<EvaluationResult, { ok: true }>['values'],
): StepResult {
  const outputs = work.outputs.map(({ key }, index) => [key, values[index] ?? null] as const);
  const selected = work.selectors
    .filter((_, index) => isTrue(values[work.outputs.length + index] ?? null))
    .map(({ stepId }) => stepId);
  const shown: JsonObject = {};
  for (const [key, value] of outputs) setField(shown, key, value);
  return { outputs, selected, shown: shownValue(shown) };
}

function isTrue(value: Json): boolean {
  const converted = toBoolean(value);
  return converted.ok && converted.value;
}

function optionsOf({ instance, pending }: EvaluationPlace): CallOptions {
  const { definitionId } = instance;
  if (pending === undefined) return { definitionId };
  return {
    definitionId,
    get signal() {
      return pending.signal;
    },
  };
}

function variablesOf(place: EvaluationPlace): { data: JsonObject; context: JsonObject } {
  return { data: place.instance.data, context: contextOf(place) };
}

function contextOf({ instance, pointer }: EvaluationPlace): JsonObject {
  return {
    Workflow: {
      Id: instance.id,
      DefinitionId: instance.definitionId,
      Version: instance.version,
      Reference: instance.reference,
      StartTime: new Date(instance.startTime).toISOString(),
    },
    Trigger: instance.trigger === null ? null : triggerContext(instance.trigger),
    Item: pointer.item ?? null,
    Index: pointer.index ?? null,
    Step: {
      Id: pointer.stepId,
      Attempt: pointer.attempt,
      IdempotencyKey: idempotencyKey(instance.id, pointer),
    },
    Compensating: compensatingOf({ instance }, pointer),
  };
}

/** The value of `context.Trigger`. */
export function triggerContext({ event, name, time }: TriggerStart): JsonObject {
  return {
    Name: name,
    Time: new Date(time).toISOString(),
    EventName: event?.name ?? null,
    EventKey: event?.key ?? null,
    EventData: event?.data ?? null,
  };
}

function failureOf(error: ScriptError, expression: EvaluationRequest | undefined): Failure {
  if (error.type === 'NameError' && error.message.includes("'secrets'")) {
    return { type: 'SecretError', message: SECRETS_ELSEWHERE, traceback: null };
  }
  const where = expression === undefined ? '' : ` in expression '${shorten(textOf(expression))}'`;
  const hint =
    expression === undefined
      ? ''
      : failureHint({ ...error, source: textOf(expression), isScript: false });
  return {
    type: error.type,
    message: `${error.message}${where}${hint}`,
    traceback: error.traceback ?? null,
  };
}

function keyFailure(
  { error }: Extract<EvaluationResult, { ok: false }>,
  failed: { readonly name: string; readonly request: EvaluationRequest } | undefined,
): Failure {
  const failure = failureOf(error, failed?.request);
  if (isRefusal(error)) return failure;
  return {
    ...failure,
    type: INVALID_LIMIT_KEY,
    message: `Key of the limit '${failed?.name ?? ''}': ${failure.type}: ${failure.message}`,
    retryable: false,
  };
}

function expressionOf({ sources }: InputPlan, index: number): EvaluationRequest | undefined {
  const source = sources[index];
  return source === undefined ? undefined : { source };
}

function textOf(expression: EvaluationRequest): string {
  return 'source' in expression ? expression.source : writeJson(expression.constant);
}

function shorten(source: string): string {
  return source.length <= 200 ? source : `${source.slice(0, 200)}…`;
}
