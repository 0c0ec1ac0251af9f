/** Controls runs. */
import type {
  CompensationPreview,
  ControlAction,
  ControlResult,
  ControlledWorkflow,
  DataObject,
  RestartRequest,
  WorkflowAction,
  WorkflowExport,
} from '../api-types.js';
import type { JsonValue } from '../json.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { CallOptions, IdempotentCallOptions, TerminateOptions } from '../options.js';
import type { Transport } from '../transport.js';
import { WorkflowProperties } from './workflow-properties.js';

interface EndQuery {
  readonly compensate?: boolean | undefined;
  readonly grace?: string | undefined;
  readonly reason?: string | undefined;
  readonly dryRun?: true;
  readonly purge?: true;
}

/** Calls that control a run or answer on its behalf, and the log of those calls. Part of `client.workflows`. */
export class WorkflowControl extends WorkflowProperties {
  readonly #transport: Transport;

  /** @internal Created as part of `client.workflows`. */
  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Suspends a run until it is resumed. Steps that are being executed finish; no other steps start.
   *
   * @throws ApiError `workflow_not_found`; `status_conflict` if it is not `Runnable`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * await client.workflows.suspend(id);
   * const { status } = await client.workflows.resume(id);
   * console.log(status); // Runnable
   * ```
   */
  suspend<TData extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    return this.#steer<TData>('suspend', workflowId, options);
  }

  /**
   * Resumes a suspended run. A step that failed is retried.
   *
   * @throws ApiError `workflow_not_found`; `status_conflict` if it is not suspended
   *
   * @example
   * ```ts
   * for await (const { workflowId } of client.workflows.list({ status: 'Suspended' })) {
   *   await client.workflows.resume(workflowId);
   * }
   * ```
   */
  resume<TData extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    return this.#steer<TData>('resume', workflowId, options);
  }

  /**
   * Terminates a run; with `compensate`, compensates it first. Has no effect on a run that has ended.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * await client.workflows.terminate(id, { compensate: true });
   * const { outcome } = await client.workflows.wait(id);
   * console.log(outcome); // Terminated
   * ```
   */
  async terminate<TData extends object = DataObject>(
    workflowId: string,
    { compensate, graceMs, reason, ...options }: TerminateOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    const grace = graceMs === undefined ? undefined : String(graceMs / 1000);
    const workflow = await this.#end(workflowId, { compensate, grace, reason }, options);
    return workflow as ControlledWorkflow<TData>;
  }

  /**
   * Returns the steps that `terminate` with `compensate` would undo, in order, and the work in flight. Changes nothing.
   *
   * @throws ApiError `workflow_not_found`
   */
  async previewCompensation(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<CompensationPreview> {
    const preview = await this.#end(workflowId, { compensate: true, dryRun: true }, options);
    return preview as CompensationPreview;
  }

  /**
   * Immediately retries every step that is waiting for its next attempt.
   *
   * @throws ApiError `workflow_not_found`; `action_conflict` if no step is waiting for a retry
   *
   * @example
   * ```ts
   * const yesterday = new Date(Date.now() - 86_400_000);
   * for await (const { workflowId, status } of client.workflows.list({ failedFrom: yesterday })) {
   *   if (status === 'Runnable') await client.workflows.retry(workflowId);
   * }
   * ```
   */
  retry<TData extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    return this.#steer<TData>('retry', workflowId, options);
  }

  /**
   * Applies an action to up to 100 runs, each independently, and returns one result per run. `compensate` applies to `terminate`,
   * `reason` to each action.
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * for (const { workflowId, outcome } of await client.workflows.control('suspend', [id, 'none'])) {
   *   console.log(workflowId, outcome);
   * }
   * ```
   */
  async control(
    action: ControlAction,
    workflowIds: readonly string[],
    { compensate, reason, ...options }: TerminateOptions = {},
  ): Promise<readonly ControlResult[]> {
    const json = {
      action,
      workflowIds: [...workflowIds],
      ...(compensate !== undefined && { compensate }),
      ...(reason !== undefined && { reason }),
    };
    const call = { body: { json }, repeatable: 'refused', subject: {} } as const;
    return (await this.#transport.call('patch', '/api/workflow', call, options)).results;
  }

  /**
   * Completes an activity that a run is waiting for, in place of a worker.
   *
   * @param executionId of the waiting step, from `steps`
   * @param result any JSON value
   * @throws ApiError `workflow_not_found`, `execution_not_found`; `action_conflict` if it is not waiting for an activity
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('payment', { amount: 250 });
   * for await (const { executionId, waitsFor } of client.workflows.steps(id)) {
   *   if (waitsFor?.kind !== 'activity') continue;
   *   await client.workflows.completeActivity(id, executionId, { receipt: 'by hand' });
   * }
   * ```
   */
  completeActivity(workflowId: string, executionId: number): Promise<void>;
  completeActivity<TResult>(
    workflowId: string,
    executionId: number,
    result: JsonValue<TResult>,
    options?: CallOptions,
  ): Promise<void>;
  completeActivity(
    workflowId: string,
    executionId: number,
    result: unknown = null,
    options: CallOptions = {},
  ): Promise<void> {
    return this.#answer('success', { workflowId, executionId, data: result }, options);
  }

  /**
   * Fails an activity that a run is waiting for, in place of a worker.
   *
   * @param executionId of the waiting step, from `steps`
   * @param reason any JSON value; it becomes the error of the step
   * @throws ApiError `workflow_not_found`, `execution_not_found`; `action_conflict` if it is not waiting for an activity
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('payment', { amount: 250 });
   * for await (const { executionId, waitsFor } of client.workflows.steps(id)) {
   *   if (waitsFor?.kind !== 'activity') continue;
   *   await client.workflows.failActivity(id, executionId, 'the shop has closed');
   * }
   * ```
   */
  failActivity(workflowId: string, executionId: number): Promise<void>;
  failActivity<TReason>(
    workflowId: string,
    executionId: number,
    reason: JsonValue<TReason>,
    options?: CallOptions,
  ): Promise<void>;
  failActivity(
    workflowId: string,
    executionId: number,
    reason: unknown = null,
    options: CallOptions = {},
  ): Promise<void> {
    return this.#answer('fail', { workflowId, executionId, data: reason }, options);
  }

  /**
   * Returns the actions that were applied to a run, and by whom, newest first. The server keeps the most recent 100.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * await client.workflows.suspend(id);
   * for (const { action, actor } of await client.workflows.audit(id)) console.log(action, actor); // suspend anonymous
   * ```
   */
  async audit(workflowId: string, options: CallOptions = {}): Promise<readonly WorkflowAction[]> {
    const path = { id: workflowId };
    const call = { path, repeatable: 'always', subject: { workflowId } } as const;
    return (await this.#transport.call('get', '/api/workflow/{id}/audit', call, options)).items;
  }

  /** Not retried after a lost response: the retry would be rejected, because the step is no longer waiting. */
  async #answer(
    how: 'success' | 'fail',
    { workflowId, executionId, data }: { workflowId: string; executionId: number; data: unknown },
    options: CallOptions,
  ): Promise<void> {
    await this.#transport.call(
      'post',
      `/api/workflow/{id}/steps/{executionId}/${how}`,
      {
        path: { id: workflowId, executionId },
        body: { json: data },
        repeatable: 'refused',
        subject: { workflowId },
      },
      options,
    );
  }

  /**
   * Starts a run again: as a new run with the same input, reference and tags, and with the same version of the definition unless
   * `version` names another. The old run does not change. Returns the new run.
   *
   * @throws ApiError `workflow_not_found`; `input_not_found` if the run was started before the server kept inputs;
   *   `definition_disabled`; `invalid_data` if the input does not fit the `Input` of the version
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * const again = await client.workflows.restart(id, { reason: 'try once more' });
   * console.log(again.restartOf === id); // true
   * ```
   */
  async restart<TData extends object = DataObject>(
    workflowId: string,
    restart: RestartRequest,
    { idempotencyKey = newIdempotencyKey(), ...options }: IdempotentCallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    const workflow = await this.#transport.call(
      'post',
      '/api/workflow/{id}/restart',
      {
        path: { id: workflowId },
        body: { json: restart },
        repeatable: 'always',
        subject: { workflowId },
        idempotencyKey,
      },
      options,
    );
    return workflow as ControlledWorkflow<TData>;
  }

  /**
   * Removes an ended run from the server, with its input, steps and record of actions, and returns its last state.
   *
   * @throws ApiError `workflow_not_found`; `action_conflict` if it is open
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * await client.workflows.wait(id);
   * await client.workflows.purge(id);
   * ```
   */
  async purge<TData extends object = DataObject>(
    workflowId: string,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    const workflow = await this.#end(workflowId, { purge: true }, options, 'refused');
    return workflow as ControlledWorkflow<TData>;
  }

  /**
   * Returns everything that the server knows about a run: the run, its definition, input, data, steps and record of actions.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('greeting', { name: 'Ada' });
   * const { steps, input } = await client.workflows.export(id);
   * console.log(steps.length, input);
   * ```
   */
  export(workflowId: string, options: CallOptions = {}): Promise<WorkflowExport> {
    return this.#transport.call(
      'get',
      '/api/workflow/{id}/export',
      { path: { id: workflowId }, repeatable: 'always', subject: { workflowId } },
      options,
    );
  }

  /** Not retried after a lost response: another user may have applied an action to the run in between. */
  #end(
    workflowId: string,
    query: EndQuery,
    options: CallOptions,
    repeatable: 'always' | 'refused' = 'always',
  ): Promise<ControlledWorkflow | CompensationPreview> {
    const call = { path: { id: workflowId }, query, repeatable, subject: { workflowId } } as const;
    return this.#transport.call('delete', '/api/workflow/{id}', call, options);
  }

  async #steer<TData extends object>(
    verb: 'suspend' | 'resume' | 'retry',
    workflowId: string,
    options: CallOptions,
  ): Promise<ControlledWorkflow<TData>> {
    const workflow = await this.#transport.call(
      'put',
      `/api/workflow/{id}/${verb}`,
      { path: { id: workflowId }, repeatable: 'refused', subject: { workflowId } },
      options,
    );
    return workflow as ControlledWorkflow<TData>;
  }
}
