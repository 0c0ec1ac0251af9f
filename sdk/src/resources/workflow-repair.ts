/** Repairs runs. */
import type {
  DataObject,
  ModificationRequest,
  RepairedWorkflow,
  RerunRequest,
} from '../api-types.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { IdempotentCallOptions } from '../options.js';
import type { Transport } from '../transport.js';
import { WorkflowControl } from './workflow-control.js';

/** How long the server waits for the run to apply the repair. */
const REPAIR_MS_MAX = 30_000;

/** Calls that repair runs. Part of `client.workflows`. */
export class WorkflowRepair extends WorkflowControl {
  readonly #transport: Transport;

  /** @internal Created as part of `client.workflows`. */
  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Changes a run in any status, atomically: cancels open steps, changes the data (a JSON Merge Patch), moves the run to another
   * version of its definition, starts steps and resumes the run, in this order. Starting a step reopens an ended run. With
   * `dryRun`, it only returns a preview.
   *
   * @throws ApiError `workflow_not_found`; `modification_impossible` with one entry in `errors` for each obstacle, and nothing
   *   has changed; `modification_pending` if the run has not taken the modification within 30 s: it may still do so;
   *   `idempotency_conflict` if the key was already used for a different modification of the run
   *
   * @example
   * ```ts
   * const { id } = await client.workflows.start('approval', { order: 7 });
   * const { cancelled, started } = await client.workflows.modify(id, {
   *   reason: 'the customer has paid by phone',
   *   data: { paid: true },
   *   cancel: ['*'],
   * });
   * console.log(cancelled.length, started.length); // 1 0
   * ```
   */
  modify<TData extends object = DataObject>(
    workflowId: string,
    modification: ModificationRequest,
    options: IdempotentCallOptions = {},
  ): Promise<RepairedWorkflow<TData>> {
    return this.#repair<TData>('modify', { workflowId, json: modification }, options);
  }

  /**
   * Runs a run again from a step: cancels everything that is open, starts the step `from` (the default is the first step),
   * and resumes the run if it is suspended. Apart from the changes in `data`, the run's data stays the same.
   *
   * @throws like `modify`
   *
   * @example
   * ```ts
   * const greeting = await client.workflows.start('greeting', { name: 'Ada' });
   * await greeting.wait();
   * await client.workflows.rerun(greeting.id, { reason: 'wrong name', data: { name: 'Grace' } });
   * const { name } = await greeting.result({ timeoutMs: 10_000 });
   * console.log(name); // Grace
   * ```
   */
  rerun<TData extends object = DataObject>(
    workflowId: string,
    rerun: RerunRequest,
    options: IdempotentCallOptions = {},
  ): Promise<RepairedWorkflow<TData>> {
    return this.#repair<TData>('rerun', { workflowId, json: rerun }, options);
  }

  async #repair<TData extends object>(
    verb: 'modify' | 'rerun',
    { json, workflowId }: { workflowId: string; json: ModificationRequest | RerunRequest },
    { idempotencyKey = newIdempotencyKey(), ...options }: IdempotentCallOptions,
  ): Promise<RepairedWorkflow<TData>> {
    const repaired = await this.#transport.call(
      'post',
      `/api/workflow/{id}/${verb}`,
      {
        path: { id: workflowId },
        body: { json },
        repeatable: 'always',
        subject: { workflowId },
        idempotencyKey,
        longPollMs: REPAIR_MS_MAX,
      },
      options,
    );
    return repaired as RepairedWorkflow<TData>;
  }
}
