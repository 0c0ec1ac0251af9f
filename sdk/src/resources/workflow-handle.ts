import type {
  ControlledWorkflow,
  DataObject,
  EndedWorkflow,
  Explanation,
  ModificationRequest,
  RepairedWorkflow,
  RerunRequest,
  RestartRequest,
  StepExecution,
  SucceededWorkflow,
  Workflow,
  WorkflowAction,
  WorkflowExport,
} from '../api-types.js';
import type { CallOptions, IdempotentCallOptions, TerminateOptions } from '../options.js';
import type { PagedList } from '../paged-list.js';
import type { ResultOptions, StepFilter, WaitOptions } from './workflow-options.js';
import type { WorkflowsResource } from './workflows.js';

/**
 * A handle for one run. It only holds the id, so it is never out of date.
 *
 * @example
 * ```ts
 * type Approval = { order: number; approved?: boolean };
 * const approval = await client.workflows.start<Approval>('approval', { order: 7 });
 * await client.events.publish('approved', 'order-7', true);
 * const { approved } = await approval.result({ timeoutMs: 10_000 });
 * console.log(approved); // true
 * ```
 */
export class WorkflowHandle<TData extends object = DataObject> {
  readonly #workflows: WorkflowsResource;
  readonly id: string;
  /**
   * Whether the start that returned this handle joined an existing run, which may have ended. False for a new run, and for
   * handles from `workflows.handle`.
   */
  readonly joined: boolean;

  /** @internal Created by `client.workflows`. */
  constructor(workflows: WorkflowsResource, id: string, joined = false) {
    this.#workflows = workflows;
    this.id = id;
    this.joined = joined;
  }

  /** Returns the current state of the run, with its data. @throws ApiError `workflow_not_found` */
  get(options?: CallOptions): Promise<Workflow<TData>> {
    return this.#workflows.get<TData>(this.id, options);
  }

  /**
   * Waits until the run has succeeded, and returns its data.
   *
   * @throws WorkflowFailedError if it ends with another outcome; TimeoutError if it does not end within `timeoutMs`
   */
  result(options?: ResultOptions): Promise<TData> {
    return this.#workflows.result<TData>(this.id, options);
  }

  /**
   * Waits until the run has ended, with any outcome. Its data is guaranteed to be complete only if `outcome` is `Succeeded`.
   *
   * @throws TimeoutError if it does not end within `timeoutMs`; WorkflowFailedError for the outcomes in `failOn`
   */
  wait(options: WaitOptions & { readonly failOn: 'any' }): Promise<SucceededWorkflow<TData>>;
  wait(options?: WaitOptions): Promise<EndedWorkflow<TData>>;
  wait(options?: WaitOptions): Promise<EndedWorkflow<TData>> {
    return this.#workflows.wait<TData>(this.id, options);
  }

  /** Suspends the run until it is resumed. @throws ApiError `status_conflict` if it is not `Runnable` */
  suspend(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.suspend<TData>(this.id, options);
  }

  /** Resumes the run. @throws ApiError `status_conflict` if it is not suspended */
  resume(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.resume<TData>(this.id, options);
  }

  /** Terminates the run; with `compensate`, compensates it first. Has no effect on a run that has ended. */
  terminate(options?: TerminateOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.terminate<TData>(this.id, options);
  }

  /**
   * Immediately retries every step that is waiting for its next attempt.
   *
   * @throws ApiError `workflow_not_found`; `action_conflict` if no step is waiting for a retry
   */
  retry(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.retry<TData>(this.id, options);
  }

  /**
   * Changes the run, in any status: see `client.workflows.modify`.
   *
   * @throws ApiError `modification_impossible` with one entry in `errors` for each obstacle; nothing has changed
   */
  modify(
    modification: ModificationRequest,
    options?: IdempotentCallOptions,
  ): Promise<RepairedWorkflow<TData>> {
    return this.#workflows.modify<TData>(this.id, modification, options);
  }

  /**
   * Runs the run again from a step; the default is the first: see `client.workflows.rerun`.
   *
   * @throws ApiError `modification_impossible` with one entry in `errors` for each obstacle; nothing has changed
   */
  rerun(rerun: RerunRequest, options?: IdempotentCallOptions): Promise<RepairedWorkflow<TData>> {
    return this.#workflows.rerun<TData>(this.id, rerun, options);
  }

  /**
   * Starts the run again as a new run, and returns its handle: see `client.workflows.restart`.
   *
   * @throws ApiError `definition_disabled`; `invalid_data` if the input does not fit the `Input` of the version
   */
  async restart(
    restart: RestartRequest,
    options?: IdempotentCallOptions,
  ): Promise<WorkflowHandle<TData>> {
    const { workflowId } = await this.#workflows.restart<TData>(this.id, restart, options);
    return this.#workflows.handle<TData>(workflowId);
  }

  /** Returns everything that the server knows about the run. @throws ApiError `workflow_not_found` */
  export(options?: CallOptions): Promise<WorkflowExport> {
    return this.#workflows.export(this.id, options);
  }

  /**
   * Explains the current state of the run: a summary in one sentence, and one reason for each step that is running or waiting.
   *
   * @throws ApiError `workflow_not_found`
   */
  explain(options?: CallOptions): Promise<Explanation> {
    return this.#workflows.explain(this.id, options);
  }

  /**
   * Returns the actions that were applied to the run, and by whom, newest first. The server keeps the most recent 100.
   *
   * @throws ApiError `workflow_not_found`
   */
  audit(options?: CallOptions): Promise<readonly WorkflowAction[]> {
    return this.#workflows.audit(this.id, options);
  }

  /**
   * Lists the executions of its steps: first those that have ended, in order, then the open ones. `order: 'desc'` reverses the
   * order; the other options are filters, all of which must match.
   *
   * @throws ApiError `workflow_not_found`
   */
  steps(options?: StepFilter & CallOptions): PagedList<StepExecution> {
    return this.#workflows.steps(this.id, options);
  }
}
