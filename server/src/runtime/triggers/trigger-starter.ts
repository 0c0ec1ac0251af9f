/** Starts the runs of triggers: evaluates Data and Reference, and calls the same start as clients. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type {
  TriggerDebounce,
  TriggerDefinition,
  TriggerStart,
} from '../../engine/model/trigger.js';
import { toLimitKey, toObject, toReference } from '../../engine/values/convert-input.js';
import { planInputs } from '../../engine/model/expression-plan.js';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import { AppError, type ErrorCode } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { isRefusal, type ScriptRuntime } from '../../scripts/script-runtime.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { DebounceRequest, InstanceView } from '../model/instance-types.js';
import type { InstanceStarter } from '../operations/instance-starter.js';
import { triggerContext } from '../passes/evaluator.js';
import type { LastFiring } from '../trigger-records/trigger-state.js';
import { traceHeadersOf, type TraceHeaders } from '../../tracing/trace-context.js';

const REASON_LENGTH_MAX = 1000;
/** The definition doesn't allow another run now. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'reference_in_use',
  'concurrency_reached',
  'queue_full',
]);
/** Errors that don't concern the start itself: it is repeated. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'overloaded',
  'stopping',
  'store_unavailable',
  'python_unavailable',
  'too_many_requests',
]);

export interface TriggerStarterOptions {
  readonly scripts: Pick<ScriptRuntime, 'evaluate'>;
  readonly starts: Pick<InstanceStarter, 'start'>;
  readonly logger: Pick<Logger, 'error'>;
}

/** Includes the span that published the event. */
export interface TriggeredStart extends TraceHeaders {
  readonly definition: WorkflowDefinition;
  readonly trigger: TriggerDefinition;
  readonly start: TriggerStart;
  readonly workflowId: string;
  /** A person starts the run, which doesn't wait for others. */
  readonly isByHand?: true;
}

export type StartAttempt =
  | { readonly outcome: 'started'; readonly instance: InstanceView }
  /** Another run has the reference, and the definition joins it. */
  | { readonly outcome: 'joined'; readonly instance: InstanceView }
  /** The definition doesn't allow another run now. */
  | { readonly outcome: 'refused'; readonly error: AppError }
  /** The definition is disabled. */
  | { readonly outcome: 'disabled' }
  | { readonly outcome: 'failed'; readonly error: AppError };

export class TriggerStarter {
  readonly #options: TriggerStarterOptions;

  constructor(options: TriggerStarterOptions) {
    this.#options = options;
  }

  /** @throws unknown if the start has to be repeated */
  async start(triggered: TriggeredStart): Promise<StartAttempt> {
    const { definition, start, trigger, workflowId } = triggered;
    try {
      const { data, debounce, reference } = await this.#evaluate(triggered);
      const { byWindow, instance, isNew } = await this.#options.starts.start({
        definitionId: definition.id,
        version: definition.version,
        data,
        reference,
        // A repeated start joins once.
        idempotency: debounce === null ? null : { key: workflowId, requestHash: workflowId },
        ...(debounce !== null && { debounce }),
        actor: `trigger ${trigger.name}`,
        trigger: { start, workflowId },
        ...traceHeadersOf(triggered),
      });
      return { outcome: isNew || byWindow === true ? 'started' : 'joined', instance };
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      if (!(error instanceof AppError))
        return { outcome: 'failed', error: this.#unexpected(error) };
      if (TRANSIENT.has(error.code)) throw error;
      if (error.code === 'definition_disabled') return { outcome: 'disabled' };
      if (REFUSALS.has(error.code)) return { outcome: 'refused', error };
      return { outcome: 'failed', error };
    }
  }

  /** A start that fails for an unknown reason would fail again, and block the ones after it. */
  #unexpected(error: unknown): AppError {
    this.#options.logger.error({ err: error }, 'could not start the run of a trigger');
    const message = 'the server could not start this run; see the server log for the reason';
    return new AppError('internal', message, { cause: error });
  }

  /** @throws AppError `invalid_data`, `python_unavailable` */
  async #evaluate({ definition, isByHand, start, trigger }: TriggeredStart): Promise<{
    readonly data: JsonObject;
    readonly reference: string | null;
    readonly debounce: DebounceRequest | null;
  }> {
    const { source } = trigger;
    const debounce = source.kind === 'event' && isByHand !== true ? source.debounce : null;
    const key = debounce?.key ?? null;
    const inputs = [
      ...(key === null ? [] : [{ name: 'Key', value: key }]),
      ...(trigger.data === null ? [] : [{ name: 'Data', value: trigger.data }]),
      ...(trigger.reference === null ? [] : [{ name: 'Reference', value: trigger.reference }]),
    ];
    const plan = planInputs(inputs);
    const context = {
      Trigger: triggerContext(start),
      Workflow: { DefinitionId: definition.id, Version: definition.version },
    };
    const variables = { data: {}, context };
    const expressions = plan.sources.map((source) => ({ source }));
    const options = { definitionId: definition.id };
    const result = await this.#options.scripts.evaluate(expressions, variables, options);
    if (!result.ok) {
      const { message } = result.error;
      if (isRefusal(result.error)) throw new AppError('python_unavailable', message);
      const failed = plan.sources[result.index] ?? '';
      throw invalid(`Trigger '${trigger.name}': ${message} in expression '${failed}'`);
    }
    const values = plan.build(result.values);
    return {
      data: dataOf(trigger, start, values),
      reference: referenceOf(trigger, values),
      debounce: debounce === null ? null : debounceOf(trigger, debounce, values),
    };
  }
}

/** The attempt as shown in the list of triggers; null if the definition is disabled. */
export function firingOf(attempt: StartAttempt, time: number): LastFiring | null {
  switch (attempt.outcome) {
    case 'started':
      return { time, workflowId: attempt.instance.id, outcome: 'Started', reason: null };
    case 'joined': {
      const { id, reference } = attempt.instance;
      const reason = `The run ${id} has the reference '${reference ?? ''}' already`;
      return { time, workflowId: null, outcome: 'Skipped', reason };
    }
    case 'refused':
      return { time, workflowId: null, outcome: 'Skipped', reason: attempt.error.message };
    case 'failed':
      return { time, workflowId: null, outcome: 'Failed', reason: attempt.error.message };
    case 'disabled':
      return null;
  }
}

function dataOf(trigger: TriggerDefinition, start: TriggerStart, values: JsonObject): JsonObject {
  if (trigger.data === null) {
    const data = start.event?.data;
    return isJsonObject(data) ? data : {};
  }
  const data = toObject(values['Data'] ?? null);
  if (!data.ok) throw invalid(`Trigger '${trigger.name}': Data: ${data.message}`);
  return data.value;
}

function debounceOf(
  trigger: TriggerDefinition,
  { data, maxMs, periodMs }: TriggerDebounce,
  values: JsonObject,
): DebounceRequest {
  const value = values['Key'] ?? null;
  const max = maxMs === null ? {} : { maxMs };
  if (value === null || value === '') return { periodMs, key: null, data, ...max };
  const key = toLimitKey(value);
  if (!key.ok) throw invalid(`Trigger '${trigger.name}': Key of Debounce: ${key.message}`);
  return { periodMs, key: key.value, data, ...max };
}

function referenceOf(trigger: TriggerDefinition, values: JsonObject): string | null {
  const reference = toReference(values['Reference'] ?? null);
  if (!reference.ok) throw invalid(`Trigger '${trigger.name}': Reference: ${reference.message}`);
  return reference.value;
}

function invalid(message: string): AppError {
  return new AppError('invalid_data', message.slice(0, REASON_LENGTH_MAX));
}
