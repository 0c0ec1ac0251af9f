/** Starts and finds runs. */
import type {
  DataObject,
  EndedWorkflow,
  Explanation,
  StepExecution,
  SucceededWorkflow,
  Workflow,
} from '../api-types.js';
import { isTimeoutError, TimeoutError } from '../errors.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';
import { accepted, asWorkflow, hasData, patient, startWorkflow } from './workflow-calls.js';
import { WorkflowRepair } from './workflow-repair.js';
import { WorkflowHandle } from './workflow-handle.js';
import type {
  ResultOptions,
  RunArguments,
  StartArguments,
  StepFilter,
  WaitOptions,
} from './workflow-options.js';

/** Proxies and load balancers often close connections that stay silent for longer. */
const WAIT_SECONDS_MAX = 20;
/** How much longer a `wait` that timed out may take to load the explanation. */
const SUMMARY_MS_MAX = 1000;

/** Starts, finds and controls runs: `client.workflows`. */
export class WorkflowsResource extends WorkflowRepair {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Starts a run of the latest version of a definition. The promise resolves once the run is stored. Each call has an
   * idempotency key, so a start that is retried, for example across a restart of the server, starts only one run. With
   * `onConflict: 'existing'`, here or in the definition, the handle may refer to an existing run; then `joined` is true.
   *
   * @param rest the start data, a JSON object, and `StartOptions`. The data may be omitted if it has no required members
   * @typeParam TData the data of the run when it has succeeded
   * @typeParam TInput the start data. The default is `TData`; members that steps add must then be optional in `TData`
   * @throws ApiError `definition_not_found`; `reference_in_use` if another run has the reference and `onConflict` is `fail`;
   *   `expression_failed` if the `Reference` of the definition fails for the data; `idempotency_conflict` if the key was already
   *   used with other data
   *
   * @example
   * ```ts
   * interface Input {
   *   name: string;
   * }
   * interface Greeting extends Input {
   *   greeted: boolean;
   * }
   * const greeting = await client.workflows.start<Greeting, Input>('greeting', { name: 'Ada' });
   * const { greeted } = await greeting.result({ timeoutMs: 10_000 });
   * console.log(greeted); // true
   * ```
   */
  async start<TData extends object = DataObject, TInput extends object = TData>(
    definitionId: string,
    ...rest: StartArguments<TInput>
  ): Promise<WorkflowHandle<TData>> {
    const [data, options = {}] = rest;
    // The type of the parameter allows only JSON objects.
    const start = { data: (data ?? {}) as DataObject, waitSeconds: 0 };
    const { joined, workflow } = await startWorkflow(this.#transport, definitionId, start, options);
    return new WorkflowHandle<TData>(this, workflow.workflowId, joined);
  }

  /**
   * Starts a run and waits until it has ended, with any outcome: in one request, if it ends within 20 seconds. After that, it
   * waits like `wait`. With `onConflict: 'existing'`, it may return or wait for an existing run; then `joined` is true.
   *
   * @param rest the start data and `RunOptions`
   * @throws like `start` and `wait`. After a TimeoutError, the run continues
   *
   * @example
   * ```ts
   * const { outcome, data } = await client.workflows.run('greeting', { name: 'Ada' }, { timeoutMs: 10_000 });
   * console.log(outcome, data['name']);
   * ```
   */
  async run<TData extends object = DataObject, TInput extends object = TData>(
    definitionId: string,
    ...rest: RunArguments<TInput>
  ): Promise<EndedWorkflow<TData> & { readonly joined: boolean }> {
    const [data, { failOn, timeoutMs = Infinity, ...options } = {}] = rest;
    const began = performance.now();
    // The response arrives before the timeout, with the id to include in the error.
    const waitSeconds = Math.min(WAIT_SECONDS_MAX, Math.max(0, Math.ceil(timeoutMs / 1000) - 1));
    const limited = timeoutMs === Infinity ? options : { ...options, timeoutMs };
    // The type of the parameter allows only JSON objects.
    const start = { data: (data ?? {}) as DataObject, waitSeconds };
    const started = await startWorkflow(this.#transport, definitionId, start, limited);
    const { joined, workflow } = started;
    const { workflowId } = workflow;
    const known = hasData(workflow) ? asWorkflow<TData>(workflow) : null;
    if (known !== null && known.outcome !== null) {
      const failed = { call: 'POST /api/workflow/{id}', subject: { workflowId }, attempts: 1 };
      return { ...accepted(known, failOn ?? [], failed), joined };
    }
    const { retry, signal } = options;
    const remainingMs = timeoutMs - (performance.now() - began);
    const ended = await this.wait<TData>(workflowId, {
      ...(failOn !== undefined && { failOn }),
      ...(timeoutMs !== Infinity && { timeoutMs: Math.max(0, remainingMs) }),
      retry,
      signal,
    });
    return { ...ended, joined };
  }

  /**
   * Returns the data that a run was started with, as it was sent. It doesn't change as the run modifies its data.
   *
   * @throws ApiError `workflow_not_found`; `input_not_found` if the run was started before the server kept inputs
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * console.log(await client.workflows.input(id)); // { name: 'Ada' }
   * ```
   */
  async input<TInput extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<TInput> {
    const input: object = await this.#transport.call(
      'get',
      '/api/workflow/{id}/input',
      { path: { id: workflowId }, repeatable: 'always', subject: { workflowId } },
      options,
    );
    // The server doesn't know the type of the data; the caller declares it.
    return input as TInput;
  }

  /**
   * Returns a handle for a run with a known id. Sends no request.
   *
   * @example
   * ```ts
   * const started = await client.workflows.start('greeting', { name: 'Ada' });
   * const again = client.workflows.handle(started.id);
   * console.log((await again.wait()).status);
   * ```
   */
  handle<TData extends object = DataObject>(workflowId: string): WorkflowHandle<TData> {
    return new WorkflowHandle<TData>(this, workflowId);
  }

  /**
   * Returns a run with its data.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * const workflow = await client.workflows.get<{ name: string }>(id);
   * console.log(workflow.status, workflow.data.name);
   * ```
   */
  get<TData extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<Workflow<TData>> {
    return this.#get<TData>(workflowId, 0, options);
  }

  /**
   * Explains the current state of a run: one reason for each step that is running or waiting, the most important first.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const approval = await client.workflows.start('approval', { order: 21 });
   * const { summary, reasons } = await client.workflows.explain(approval.id);
   * console.log(summary, reasons.map(({ kind }) => kind));
   * ```
   */
  explain(workflowId: string, options: CallOptions = {}): Promise<Explanation> {
    return this.#transport.call(
      'get',
      '/api/workflow/{id}/explain',
      { path: { id: workflowId }, repeatable: 'always', subject: { workflowId } },
      options,
    );
  }

  /**
   * Waits until a run has succeeded, and returns its data. Short for `wait({ failOn: 'any' })`.
   *
   * @throws WorkflowFailedError if it ends with another outcome; TimeoutError if it does not end within `timeoutMs`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * const { greeted } = await client.workflows.result<{ greeted: boolean }>(id, { timeoutMs: 10_000 });
   * console.log(greeted); // true
   * ```
   */
  async result<TData extends object = DataObject>(
    workflowId: string,
    options: ResultOptions = {},
  ): Promise<TData> {
    const { data } = await this.wait<TData>(workflowId, { ...options, failOn: 'any' });
    return data;
  }

  /**
   * Waits until a run has ended, with any outcome. Uses long polls, which the server answers as soon as the run ends. Keeps
   * waiting while a run is suspended, because it may be resumed. With a `timeoutMs`, it also keeps retrying for that time if the
   * server is unavailable; without one, it fails like other calls.
   *
   * `outcome` shows how the run ended, and determines the type of `data`: `TData` for `Succeeded`, otherwise `Partial<TData>`.
   *
   * @throws TimeoutError if the run has not ended within `timeoutMs`, with the `summary` of `explain` (loading it may take one
   *   more second); the run continues. WorkflowFailedError if the run ended with an outcome in `failOn`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * const { outcome, endTime } = await client.workflows.wait(id, { timeoutMs: 10_000 });
   * console.log(outcome, endTime);
   * ```
   */
  wait<TData extends object = DataObject>(
    workflowId: string,
    options: WaitOptions & { readonly failOn: 'any' },
  ): Promise<SucceededWorkflow<TData>>;
  wait<TData extends object = DataObject>(
    workflowId: string,
    options?: WaitOptions,
  ): Promise<EndedWorkflow<TData>>;
  async wait<TData extends object = DataObject>(
    workflowId: string,
    { timeoutMs = Infinity, failOn = [], ...options }: WaitOptions = {},
  ): Promise<EndedWorkflow<TData>> {
    const began = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - began);
    for (let attempts = 1; ; attempts += 1) {
      const remainingMs = timeoutMs - elapsedMs();
      const failed = { call: 'GET /api/workflow/{id}', subject: { workflowId }, attempts };
      const timedOut = async (cause?: unknown): Promise<TimeoutError> =>
        new TimeoutError({
          ...failed,
          cause,
          elapsedMs: elapsedMs(),
          missed: 'the workflow did not end',
          summary: await this.#summary(workflowId, options),
        });
      if (remainingMs <= 0) throw await timedOut();
      const waitSeconds = Math.max(1, Math.min(WAIT_SECONDS_MAX, Math.floor(remainingMs / 1000)));
      const workflow = await this.#get<TData>(workflowId, waitSeconds, {
        ...options,
        ...(timeoutMs !== Infinity && { timeoutMs: remainingMs, retry: patient(options.retry) }),
      }).catch(async (error: unknown) => {
        throw isTimeoutError(error) && timeoutMs !== Infinity ? await timedOut(error.cause) : error;
      });
      if (workflow.outcome !== null) return accepted(workflow, failOn, failed);
    }
  }

  /** Why the run has not ended; null if the explanation does not load in time. */
  async #summary(workflowId: string, { signal }: CallOptions): Promise<string | null> {
    const explanation = await this.explain(workflowId, {
      signal,
      timeoutMs: SUMMARY_MS_MAX,
      retry: false,
    }).catch(() => null);
    return explanation?.summary ?? null;
  }

  /**
   * Lists the executions of a run: first those that have ended, in order, then the open ones. `order: 'desc'` reverses the
   * order. The other options are filters, all of which must match; a page may then have fewer items than `limit`, or none,
   * even if there is a next page: the server searches a long run piece by piece. Iterating continues by itself.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * await client.workflows.wait(id);
   * for await (const step of client.workflows.steps(id)) console.log(step.stepId, step.status);
   * const newest = await client.workflows.steps(id, { order: 'desc', limit: 1 }).page();
   * console.log(newest.items[0]?.stepId);
   * for await (const { stepId, item, error } of client.workflows.steps(id, { status: 'Failed' })) {
   *   console.log(stepId, item, error?.message);
   * }
   * ```
   */
  steps(
    workflowId: string,
    { order, stepId, status, item, turn, search, limit, ...options }: StepFilter & CallOptions = {},
  ): PagedList<StepExecution> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/workflow/{id}/steps',
        {
          path: { id: workflowId },
          query: { order, stepId, status, item, turn, search, limit, cursor },
          repeatable: 'always',
          subject: { workflowId },
        },
        options,
      ),
    );
  }

  async #get<TData extends object>(
    workflowId: string,
    waitSeconds: number,
    options: CallOptions,
  ): Promise<Workflow<TData>> {
    const workflow = await this.#transport.call(
      'get',
      '/api/workflow/{id}',
      {
        path: { id: workflowId },
        query: { wait: waitSeconds === 0 ? undefined : waitSeconds },
        repeatable: 'always',
        subject: { workflowId },
        longPollMs: waitSeconds * 1000,
      },
      options,
    );
    return asWorkflow<TData>(workflow);
  }
}
