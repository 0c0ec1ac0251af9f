/** Finds runs: lists, counts, and failed runs by cause. */
import type {
  Explanations,
  FailureGroups,
  WorkflowCount,
  WorkflowFindings,
  WorkflowSummary,
} from '../api-types.js';
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
   * Finds runs by a text in their id, reference, tags or index fields, and shows why each one matches. Values that equal or start
   * with the text are found in all runs. Values that contain the text are searched run by run, back to `partsFrom`; pass
   * `nextCursor` as `cursor` to search older runs.
   *
   * @example
   * ```ts
   * const { items } = await client.workflows.find('4711');
   * for (const { workflow, matches } of items) {
   *   const [{ of, name, value } = { of: 'id', name: null, value: '' }] = matches;
   *   console.log(workflow.workflowId, of, name, value);
   * }
   * ```
   */
  find(
    text: string,
    {
      cursor,
      limit,
      ...options
    }: {
      readonly limit?: number | undefined;
      readonly cursor?: string | undefined;
    } & CallOptions = {},
  ): Promise<WorkflowFindings> {
    return this.#transport.call(
      'get',
      '/api/workflow/find',
      { query: { text, limit, cursor }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /**
   * Explains up to 50 runs in one call. `items` omits runs that don't exist; `left` has the ids that the call had no time for.
   *
   * @example
   * ```ts
   * const open = await client.workflows.list({ status: 'Runnable', limit: 50 }).page();
   * if (open.items.length > 0) {
   *   const ids = open.items.map(({ workflowId }) => workflowId);
   *   const { items } = await client.workflows.explainMany(ids);
   *   for (const { summary, workflowId } of items) console.log(workflowId, summary);
   * }
   * ```
   */
  explainMany(workflowIds: readonly string[], options: CallOptions = {}): Promise<Explanations> {
    return this.#transport.call(
      'get',
      '/api/workflow/explain',
      { query: { id: [...workflowIds] }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /**
   * Groups failed runs by cause, the largest group first. To list the runs of a group, use the `failure` filter.
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
