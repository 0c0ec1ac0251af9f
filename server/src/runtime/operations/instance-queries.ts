/** Reading instances: one, a list, the steps of one. What is read at the same time takes a bounded amount of memory. */
import { AppError } from '../../base/errors.js';
import type { InstanceFilter, InstanceRecord, Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type * as Host from '../host.js';
import { listItem, loadInstance } from './instance-views.js';
import { memoryCost } from '../memory/memory-cost.js';
import { decodeCursor, pageOf } from './paging.js';
import type { ReadingGate } from '../memory/reading-gate.js';
import { listSteps } from './step-list.js';

export interface InstanceQueriesOptions {
  readonly store: Store;
  readonly catalog: DefinitionCatalog;
  /** Shared by all that reads whole instances and events. */
  readonly reading: ReadingGate;
}

export class InstanceQueries {
  readonly #store: Store;
  readonly #catalog: DefinitionCatalog;
  readonly #reading: ReadingGate;

  constructor({ catalog, reading, store }: InstanceQueriesOptions) {
    this.#store = store;
    this.#reading = reading;
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

  /**
   * What `view` makes of an instance, in its turn.
   *
   * @throws AppError `workflow_not_found`, `overloaded`
   */
  read<View>(id: string, view: (record: InstanceRecord) => View | Promise<View>): Promise<View> {
    return this.#reading.read(
      () => this.load(id),
      ({ state }) => memoryCost(state),
      view,
    );
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

  /** @throws AppError `workflow_not_found`, `invalid_request` for a cursor of another list */
  listSteps(id: string, request: Host.StepListRequest): Promise<Host.Page<Host.StepView>> {
    return this.read(id, async (record) => {
      const instance = await loadInstance(record);
      const definition = await this.#catalog.find(instance.definitionId, instance.version);
      const context = { workflowId: id, definition };
      return listSteps({ store: this.#store, instance, context }, request);
    });
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
