/** The requests and responses of calls on runs. */
import type { DataObject, EndedWorkflow, FailedOutcome, Workflow } from '../api-types.js';
import { WorkflowFailedError, type FailedCall } from '../errors.js';
import type { components } from '../generated/schema.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { RetryOptions } from '../options.js';
import type { Transport } from '../transport.js';
import type { CountFilter, StartOptions } from './workflow-options.js';

type ControlledWorkflow = components['schemas']['ControlledWorkflow'];

export interface StartedWorkflow {
  readonly workflow: ControlledWorkflow;
  /** The run already existed, and the server didn't start one. */
  readonly joined: boolean;
}

/** The status of the response to a start that has started a run. */
export const CREATED = 201;

/** @param start the start data, and how long the server waits for the end of the run */
export async function startWorkflow(
  transport: Transport,
  definitionId: string,
  start: { readonly data: DataObject; readonly waitSeconds: number },
  { idempotencyKey = newIdempotencyKey(), ...options }: StartOptions,
): Promise<StartedWorkflow> {
  const { data, waitSeconds } = start;
  const { conflictScope, debounce, debounceData, debounceKey, debounceMax, ...others } = options;
  const { delay, fairnessKey, fairnessWeight, onConflict, priority, ...more } = others;
  const { reference, startAt, tags, version, ...rest } = more;
  const { status, value } = await transport.callWithStatus(
    'post',
    '/api/workflow/{id}',
    {
      path: { id: definitionId },
      query: {
        reference,
        version,
        startAt: startAt instanceof Date ? startAt.toISOString() : startAt,
        delay: textOf(delay),
        debounce: textOf(debounce),
        debounceKey,
        debounceMax: textOf(debounceMax),
        debounceData,
        tag: tags && Object.entries(tags).map(([name, value]) => `${name}:${value}`),
        priority,
        fairnessKey,
        fairnessWeight,
        onConflict,
        conflictScope,
        wait: waitSeconds === 0 ? undefined : waitSeconds,
      },
      body: { json: data },
      repeatable: 'always',
      subject: { definitionId },
      idempotencyKey,
      longPollMs: waitSeconds * 1000,
    },
    rest,
  );
  return { workflow: value, joined: status !== CREATED };
}

/** A duration: seconds, or a text. */
function textOf(duration: number | string | undefined): string | undefined {
  return duration === undefined ? undefined : String(duration);
}

/** Callers who can't read runs get them without their data. */
export function hasData(workflow: ControlledWorkflow): boolean {
  return workflow.data !== undefined;
}

/** @throws WorkflowFailedError for an outcome in `failOn` */
export function accepted<TData extends object>(
  workflow: EndedWorkflow<TData>,
  failOn: readonly FailedOutcome[] | 'any',
  failed: FailedCall,
): EndedWorkflow<TData> {
  const { lastError: error, outcome } = workflow;
  if (outcome === 'Succeeded') return workflow;
  if (failOn !== 'any' && !failOn.includes(outcome)) return workflow;
  throw new WorkflowFailedError({ ...failed, outcome, error });
}

/** The server doesn't know the type of the data; the caller declares it. */
export function asWorkflow<TData extends object>(workflow: object): Workflow<TData> {
  return workflow as Workflow<TData>;
}

/** Allows as many retries as fit into the timeout. */
export function patient(retry: RetryOptions | false | undefined): RetryOptions | false {
  return retry === false ? false : { ...retry, limit: Number.MAX_SAFE_INTEGER };
}

/** The filter in API form: times are strings, and conditions are a list. */
export function asQuery<Filter extends CountFilter>({
  where,
  ...filter
}: Filter): {
  readonly [Name in Exclude<keyof Filter, 'where'>]: Exclude<Filter[Name], Date>;
} & { readonly where: string[] | undefined } {
  const members = asTimes(filter) as Omit<ReturnType<typeof asQuery<Filter>>, 'where'>;
  const conditions =
    where === undefined ? undefined : typeof where === 'string' ? [where] : [...where];
  return { ...members, where: conditions } as ReturnType<typeof asQuery<Filter>>;
}

/** Times as texts. */
export function asTimes<Filter extends object>(
  filter: Filter,
): { readonly [Name in keyof Filter]: Exclude<Filter[Name], Date> } {
  const entries = Object.entries(filter).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : (value as unknown),
  ]);
  // Each member is one of the filter.
  return Object.fromEntries(entries) as ReturnType<typeof asTimes<Filter>>;
}
