/** Finds runs: lists, counts, and failed runs by their cause. */
import type { FailureGroups, WorkflowCount, WorkflowSummary } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';
import { asQuery } from './workflow-calls.js';
import type { CountFilter, FailureFilter, WorkflowFilter } from './workflow-options.js';

/** The calls on many runs at once. */
export class WorkflowLists {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists runs without their data, newest first. `failedFrom` and `unchangedSince` change the order. If the filters match few
   * of very many runs, a page may have fewer items than `limit`, or none, even if there is a next page.
   *
   * @example
   * ```ts
   * const yesterday = new Date(Date.now() - 86_400_000);
   * for await (const workflow of client.workflows.list({ status: 'Runnable', startedFrom: yesterday })) {
   *   console.log(workflow.workflowId, workflow.definitionId, workflow.startTime);
   * }
   * ```
   */
  list({
    signal,
    timeoutMs,
    retry,
    ...filter
  }: WorkflowFilter & CallOptions = {}): PagedList<WorkflowSummary> {
    const query = asQuery(filter);
    const options = { signal, timeoutMs, retry };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/workflow',
        { query: { ...query, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Counts the runs that match a filter, up to 10,000: `exact` is false if there may be more.
   *
   * @example
   * ```ts
   * const { count, exact } = await client.workflows.count({ status: 'Suspended', where: 'tag.team=billing' });
   * console.log(exact ? count : `${count} or more`);
   * ```
   */
  count({
    signal,
    timeoutMs,
    retry,
    ...filter
  }: CountFilter & CallOptions = {}): Promise<WorkflowCount> {
    return this.#transport.call(
      'get',
      '/api/workflow/count',
      { query: asQuery(filter), repeatable: 'always', subject: {} },
      { signal, timeoutMs, retry },
    );
  }

  /**
   * Groups failed runs by their cause, the largest group first. List the runs of a group with the filter `failure`.
   *
   * @example
   * ```ts
   * const lastHour = new Date(Date.now() - 3_600_000);
   * const { items } = await client.workflows.failures({ failedFrom: lastHour });
   * for (const { count, key, message, stepId } of items) {
   *   console.log(`${count} runs failed at ${stepId}: ${message}`);
   *   for await (const run of client.workflows.list({ failure: key })) console.log(run.workflowId);
   * }
   * ```
   */
  failures({
    signal,
    timeoutMs,
    retry,
    ...filter
  }: FailureFilter & CallOptions = {}): Promise<FailureGroups> {
    return this.#transport.call(
      'get',
      '/api/workflow/failures',
      { query: asQuery(filter), repeatable: 'always', subject: {} },
      { signal, timeoutMs, retry },
    );
  }
}
