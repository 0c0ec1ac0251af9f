import type {
  ControlledWorkflow,
  DataObject,
  EndedWorkflow,
  Explanation,
  StepExecution,
  SucceededWorkflow,
  Workflow,
  WorkflowAction,
} from '../api-types.js';
import type { CallOptions, TerminateOptions } from '../options.js';
import type { PagedList } from '../paged-list.js';
import type { ResultOptions, StepFilter, WaitOptions } from './workflow-options.js';
import type { WorkflowsResource } from './workflows.js';

/**
 * One workflow, by its id. Holds nothing else, so that a handle never is out of date.
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

  /** @internal Made by `client.workflows`. */
  constructor(workflows: WorkflowsResource, id: string) {
    this.#workflows = workflows;
    this.id = id;
  }

  /** The workflow as it is now. @throws ApiError `workflow_not_found` */
  get(options?: CallOptions): Promise<Workflow<TData>> {
    return this.#workflows.get<TData>(this.id, options);
  }

  /**
   * Waits until it has succeeded, and gives its data.
   *
   * @throws WorkflowFailedError when it ended with another outcome; TimeoutError when that takes longer than `timeoutMs`
   */
  result(options?: ResultOptions): Promise<TData> {
    return this.#workflows.result<TData>(this.id, options);
  }

  /**
   * Waits until it has ended, in whatever way: `outcome` says how. Its data is sure to be whole only where that is `Succeeded`.
   *
   * @throws TimeoutError when that takes longer than `timeoutMs`; WorkflowFailedError for the outcomes that `failOn` names
   */
  wait(options: WaitOptions & { readonly failOn: 'any' }): Promise<SucceededWorkflow<TData>>;
  wait(options?: WaitOptions): Promise<EndedWorkflow<TData>>;
  wait(options?: WaitOptions): Promise<EndedWorkflow<TData>> {
    return this.#workflows.wait<TData>(this.id, options);
  }

  /** Stops it until it is resumed. @throws ApiError `status_conflict` when it is not running */
  suspend(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.suspend<TData>(this.id, options);
  }

  /** Lets it go on. @throws ApiError `status_conflict` when it is not suspended */
  resume(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.resume<TData>(this.id, options);
  }

  /** Ends it for good; with `compensate` it undoes first what it has done. One that has ended stays as it is. */
  terminate(options?: TerminateOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.terminate<TData>(this.id, options);
  }

  /**
   * Tries every step again now that waits for its next try.
   *
   * @throws ApiError `workflow_not_found`; `action_conflict` when no step waits for another try
   */
  retry(options?: CallOptions): Promise<ControlledWorkflow<TData>> {
    return this.#workflows.retry<TData>(this.id, options);
  }

  /**
   * Why it is where it is: a summary in one sentence, and one reason for each step that runs or waits.
   *
   * @throws ApiError `workflow_not_found`
   */
  explain(options?: CallOptions): Promise<Explanation> {
    return this.#workflows.explain(this.id, options);
  }

  /**
   * What was done to it and by whom, newest first; the newest 100 actions are kept.
   *
   * @throws ApiError `workflow_not_found`
   */
  audit(options?: CallOptions): Promise<readonly WorkflowAction[]> {
    return this.#workflows.audit(this.id, options);
  }

  /**
   * The executions of its steps: what ran, in order, then what is open. `order: 'desc'` turns the order round, and `stepId`
   * keeps only the executions of one step.
   *
   * @throws ApiError `workflow_not_found`
   */
  steps(options?: StepFilter & CallOptions): PagedList<StepExecution> {
    return this.#workflows.steps(this.id, options);
  }
}
