/** Changes what belongs to a run and isn't its data. */
import type { ControlledWorkflow, DataObject, Priority } from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';
import { WorkflowLists } from './workflow-lists.js';

/** Calls that change the tags and the priority of a run. Part of `client.workflows`. */
export class WorkflowProperties extends WorkflowLists {
  readonly #transport: Transport;

  /** @internal Created as part of `client.workflows`. */
  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Sets tags of a run, which may have ended, without changing its other tags. `null` removes a tag.
   *
   * @throws ApiError `workflow_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * const { tags } = await client.workflows.updateTags(id, { team: 'billing', priority: null });
   * console.log(tags['team']); // billing
   * ```
   */
  async updateTags<TData extends object = DataObject>(
    workflowId: string,
    changes: Readonly<Record<string, string | null>>,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    const workflow = await this.#transport.call(
      'patch',
      '/api/workflow/{id}/tags',
      {
        path: { id: workflowId },
        body: { json: { ...changes } },
        repeatable: 'always',
        subject: { workflowId },
      },
      options,
    );
    return workflow as ControlledWorkflow<TData>;
  }

  /**
   * Changes the order in which the work of an open run waits: 1 goes first, 5 last. Work items that wait move with it.
   *
   * @throws ApiError `workflow_not_found`; `action_conflict` if the run has ended
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * const { priority } = await client.workflows.setPriority(id, 1);
   * console.log(priority); // 1
   * ```
   */
  async setPriority<TData extends object = DataObject>(
    workflowId: string,
    priority: Priority,
    options: CallOptions = {},
  ): Promise<ControlledWorkflow<TData>> {
    const workflow = await this.#transport.call(
      'put',
      '/api/workflow/{id}/priority',
      {
        path: { id: workflowId },
        body: { json: { priority } },
        repeatable: 'always',
        subject: { workflowId },
      },
      options,
    );
    return workflow as ControlledWorkflow<TData>;
  }
}
