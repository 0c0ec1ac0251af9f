/** Reading instances: one, a list, the steps of one. */
import type { StepRecord, WorkflowInstance } from '../engine/instance.js';
import { AppError } from '../errors.js';
import type { InstanceFilter, InstanceRecord, Store } from '../store/store.js';
import type { DefinitionCatalog } from './definition-catalog.js';
import type * as Host from './host.js';
import { listItem, loadInstance, viewPointer, viewRecord } from './instance-views.js';
import { decodeCursor, encodeCursor, pageOf } from './paging.js';

export interface InstanceQueriesOptions {
  readonly store: Store;
  readonly catalog: DefinitionCatalog;
}

export class InstanceQueries {
  readonly #store: Store;
  readonly #catalog: DefinitionCatalog;

  constructor({ catalog, store }: InstanceQueriesOptions) {
    this.#store = store;
    this.#catalog = catalog;
  }

  /** @throws AppError `workflow_not_found` */
  async load(id: string): Promise<InstanceRecord> {
    const record = await this.#store.getInstance(id);
    if (record !== null) return record;
    throw new AppError('workflow_not_found', `There is no workflow '${id}'`, {
      fields: { workflowId: id },
    });
  }

  async list(request: Host.InstanceListRequest): Promise<Host.Page<Host.InstanceListItem>> {
    const { cursor, limit, ...filter } = request;
    const { list, timeOf } = orderOf(filter);
    const position = decodeCursor(cursor, list);
    const summaries = await this.#store.listInstances({
      filter,
      after: position === null ? null : { time: Number(position[0]), id: position[1] ?? '' },
      limit: limit + 1,
    });
    return pageOf(summaries.map(listItem), limit, list, (item) => [String(timeOf(item)), item.id]);
  }

  /** First what the store's history has, then the newest records, then what is open: one list, cut into pages. */
  async listSteps(id: string, page: Host.PageRequest): Promise<Host.Page<Host.StepView>> {
    const instance = loadInstance(await this.load(id));
    const definition = await this.#catalog.find(instance.definitionId, instance.version);
    const context = { workflowId: id, definition };
    const position = decodeCursor(page.cursor, 'workflow-steps');
    const from = position === null ? 0 : Number(position[0]);
    const records = await this.#records(instance, from, page.limit);
    const views = records.map((record) => viewRecord(record, context));
    const ended = instance.spilled + instance.recent.length;
    const openFrom = Math.max(0, from - ended);
    const open = [...instance.pointers.values()].slice(
      openFrom,
      openFrom + page.limit - views.length,
    );
    views.push(...open.map((pointer) => viewPointer(pointer, context, instance.endTime)));
    const next = from + views.length;
    const hasMore = views.length > 0 && next < ended + instance.pointers.size;
    return {
      items: views,
      nextCursor: hasMore ? encodeCursor('workflow-steps', [String(next)]) : null,
    };
  }

  async #records(
    instance: WorkflowInstance,
    from: number,
    limit: number,
  ): Promise<readonly StepRecord[]> {
    const stored =
      from < instance.spilled ? await this.#store.readHistory(instance.id, from, limit) : [];
    const records = stored.map(({ body }) => JSON.parse(body) as StepRecord); // Written by this server.
    const recentFrom = Math.max(0, from + records.length - instance.spilled);
    return [...records, ...instance.recent.slice(recentFrom, recentFrom + limit - records.length)];
  }
}

/** Each order has cursors of its own. */
function orderOf(filter: InstanceFilter): {
  readonly list: string;
  readonly timeOf: (item: Host.InstanceListItem) => number;
} {
  if (filter.failedFrom !== undefined) {
    return { list: 'failed-workflows', timeOf: ({ failureTime }) => failureTime ?? 0 };
  }
  if (filter.unchangedSince !== undefined) {
    return { list: 'unchanged-workflows', timeOf: ({ lastChangeTime }) => lastChangeTime };
  }
  return { list: 'workflows', timeOf: ({ startTime }) => startTime };
}
