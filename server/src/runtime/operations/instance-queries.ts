/** Reads instances: one, a list, or the steps of one. Concurrent reads take a bounded amount of memory. */
import { LRUCache } from 'lru-cache';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import { runForServer } from '../../base/limits/current-caller.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type {
  InstanceCount,
  InstanceFilter,
  InstancePosition,
} from '../../store/records/instance-lists.js';
import type { InstanceRecord, InstanceSummary } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { SharedWork } from '../../base/shared-work.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { Clock } from '../../base/clock.js';
import { SEARCH_MS_MAX, searches } from '../model/bounded-search.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import { explainMany, type Explanations } from './explain-many.js';
import { explainStoredInstance, type ExplainOptions } from './explain-stored-instance.js';
import { withSlotPositions } from './slot-positions.js';
import type { Explanation } from '../explain/explanation.js';
import { findInstances, type FindRequest, type InstanceFindings } from './find-instances.js';
import type {
  InstanceCountView,
  InstanceListItem,
  InstanceListRequest,
  InstanceView,
  StepListRequest,
  StepView,
} from '../model/instance-types.js';
import { listItem, loadInstance, viewInstance } from '../instance-state/instance-views.js';
import { readLong } from '../instance-state/long-states.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import { decodeCursor, encodeCursor, pageOf, type Page } from '../model/paging.js';
import { JoinedReads } from '../memory/joined-reads.js';
import type { ReadingGate } from '../memory/reading-gate.js';
import { countOpenSteps, type OpenSteps, type OpenStepsRequest } from './open-steps.js';
import { listSteps } from './step-list.js';

/** Limits of counts. */
const COUNT_LIMITS = { max: 10_000, ms: SEARCH_MS_MAX };

export interface InstanceQueriesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly nodes: NodeRegistry;
  readonly catalog: DefinitionCatalog;
  readonly limits: ExplainOptions['limits'];
  /** Shared by all reads of whole instances and events. */
  readonly reading: ReadingGate;
  /**
   * A separate gate for explanations, which are slow for instances with many open steps, so that they don't delay other reads.
   */
  readonly explaining: ReadingGate;
}

/** Maximum number of instances whose definition is cached. */
const KNOWN_DEFINITIONS_MAX = 10_000;

/** What an instance with an open window has collected; null: the store has it. */
async function inputOfWindow(record: InstanceRecord): Promise<JsonObject | null> {
  return (await loadInstance(record)).debounce?.input ?? null;
}

export class InstanceQueries {
  readonly #options: InstanceQueriesOptions;
  /** Many callers may wait for the end of one instance, and then all read it at the same time. */
  readonly #joined = new JoinedReads<InstanceView>();
  readonly #joinedEnds = new JoinedReads<InstanceView | null>();
  /** By instance id. It never changes. Callers that then read the instance find out whether it still exists. */
  readonly #definitions = new LRUCache<string, Promise<string>>({ max: KNOWN_DEFINITIONS_MAX });
  readonly #explanations = new SharedWork<Explanation>();

  constructor(options: InstanceQueriesOptions) {
    this.#options = options;
  }

  /** @throws AppError `workflow_not_found` */
  async load(id: string): Promise<InstanceRecord> {
    const record = await this.#options.store.getInstance(id);
    if (record !== null) return record;
    throw instanceNotFound(id);
  }

  /**
   * The instance's definition id, even if the instance was removed recently. @throws AppError `workflow_not_found`,
   * `overloaded`
   */
  definitionOf(id: string): Promise<string> {
    const known = this.#definitions.get(id);
    if (known !== undefined) return known;
    // It is shared, so no caller may abort it.
    const found = runForServer(() => this.read(id, ({ definitionId }) => definitionId));
    this.#definitions.set(id, found);
    found.catch(() => this.#definitions.delete(id));
    return found;
  }

  /** The instances whose definition is allowed. Doesn't read them if all are. */
  async within(ids: readonly string[], allowed: AllowedNames): Promise<ReadonlySet<string>> {
    const found = new Set(ids);
    if (allowed === 'all') return found;
    for (const id of found) {
      const definitionId = await ifFound(this.definitionOf(id));
      if (definitionId === null || !allowsName(allowed, definitionId)) found.delete(id);
    }
    return found;
  }

  /**
   * Reads an instance within the memory limit and returns its `view`.
   *
   * @throws AppError `workflow_not_found`, `overloaded`
   */
  read<View>(id: string, view: (record: InstanceRecord) => View | Promise<View>): Promise<View> {
    return this.#read(id, () => undefined, view);
  }

  #read<View>(
    id: string,
    begins: () => void,
    view: (record: InstanceRecord) => View | Promise<View>,
  ): Promise<View> {
    const load = (): Promise<InstanceRecord> => {
      begins();
      return this.load(id);
    };
    return readThrough(this.#options.reading, load, view);
  }

  /** @throws AppError `workflow_not_found` */
  get(id: string): Promise<InstanceView> {
    return this.#joined.read(id, (begins) => this.#read(id, begins, viewInstance));
  }

  /** Null if it has not ended. @throws AppError `workflow_not_found` */
  getEnded(id: string): Promise<InstanceView | null> {
    const view = (record: InstanceRecord): Promise<InstanceView> | null =>
      record.endTime === null ? null : viewInstance(record);
    return this.#joinedEnds.read(id, (begins) => this.#read(id, begins, view));
  }

  /** The data with which the instance was started. @throws AppError `workflow_not_found`, `input_not_found` */
  async getInput(id: string): Promise<JsonObject> {
    const { reading, store } = this.#options;
    // The window first: the commit that closes it moves the input to the store.
    const ofWindow = await this.read(id, (record) =>
      record.debounceKey === null ? null : inputOfWindow(record),
    );
    if (ofWindow !== null) return ofWindow;
    const input = await reading.read(
      () => store.getInput(id),
      (text) => memoryCost(text ?? ''),
      readInput,
    );
    if (input !== null) return input;
    throw new AppError('input_not_found', 'The run was started before the server kept inputs', {
      fields: { workflowId: id },
    });
  }

  /** @throws AppError `invalid_request` for a cursor of another list */
  async list(request: InstanceListRequest): Promise<Page<InstanceListItem>> {
    const { cursor, limit, ...filter } = request;
    const { list, timeOf } = orderOf(filter);
    const position = decodeCursor(cursor, list);
    let after = position === null ? null : { time: Number(position[0]), id: position[1] ?? '' };
    const found: InstanceSummary[] = [];
    const positionOf = (item: InstanceListItem): [string, string] => [
      String(timeOf(item)),
      item.id,
    ];
    for (const isLast of searches(this.#options.clock)) {
      const wanted = limit + 1 - found.length;
      const part = await this.#options.store.listInstances({ filter, after, limit: wanted });
      found.push(...part.items);
      after = part.searchedTo;
      if (after === null || isLast()) break;
    }
    const page = pageOf(found.map(listItem), limit, list, positionOf);
    if (after === null || page.nextCursor !== null) return page;
    // The search has reached its time limit; it continues with the next page.
    return { ...page, nextCursor: encodeCursor(list, [String(after.time), after.id]) };
  }

  /** Stops at the maximum, or at its time limit. */
  async count(
    filter: InstanceFilter,
    limits: { readonly max: number; readonly ms: number } = COUNT_LIMITS,
  ): Promise<InstanceCountView> {
    let after: InstancePosition | null = null;
    let count = 0;
    for (const isLast of searches(this.#options.clock, limits.ms)) {
      const max = limits.max + 1 - count;
      const part: InstanceCount = await this.#options.store.countInstances({ filter, after, max });
      count += part.count;
      after = part.searchedTo;
      if (after === null || isLast()) break;
    }
    const exact = after === null && count <= limits.max;
    return { count: Math.min(count, limits.max), exact };
  }

  /** The current steps of a definition's open instances. */
  countOpenSteps(request: OpenStepsRequest): Promise<OpenSteps> {
    const { clock, store } = this.#options;
    return countOpenSteps({ clock, store, read: (id, view) => this.read(id, view) }, request);
  }

  /** Completed and open steps. @throws AppError `workflow_not_found`, `invalid_request` for a cursor of another list */
  listSteps(id: string, request: StepListRequest): Promise<Page<StepView>> {
    return this.read(id, async (record) => {
      const instance = await loadInstance(record);
      const definition = await this.#options.catalog.find(instance.definitionId, instance.version);
      const context = { workflowId: id, definition };
      const { clock, store } = this.#options;
      const page = await listSteps({ store, instance, context }, request);
      const items = await withSlotPositions(page.items, instance, { store, now: clock.now() });
      return { ...page, items };
    });
  }

  /** Finds instances by any part of their id, reference, tags and index fields: see find-instances.ts. */
  find(request: FindRequest, allowed: AllowedNames): Promise<InstanceFindings> {
    return findInstances(this.#options, request, allowed);
  }

  /** Explains instances, one after another for a bounded time. Missing ones are omitted. */
  explainMany(ids: readonly string[], allowed: AllowedNames): Promise<Explanations> {
    const explain = (id: string) => ifFound(this.explain(id, allowed));
    return explainMany(ids, { clock: this.#options.clock, explain });
  }

  /**
   * Explains in words why the instance does not advance. Concurrent callers share the explanation.
   * @param allowed the definitions whose runs are also explained as children
   * @throws AppError `workflow_not_found`
   */
  explain(id: string, allowed: AllowedNames): Promise<Explanation> {
    const key = JSON.stringify([id, allowed === 'all' ? allowed : allowed.toSorted()]);
    return this.#explanations.get(key, (begins) => {
      const load = (): Promise<InstanceRecord> => {
        begins();
        return this.load(id);
      };
      return readThrough(this.#options.explaining, load, (record) =>
        explainStoredInstance(record, this.#options, allowed),
      );
    });
  }
}

function readThrough<View>(
  gate: ReadingGate,
  load: () => Promise<InstanceRecord>,
  view: (record: InstanceRecord) => View | Promise<View>,
): Promise<View> {
  return gate.read(load, ({ state }) => memoryCost(state), view);
}

/** Null: there is no such instance. */
async function ifFound<Found>(call: Promise<Found>): Promise<Found | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AppError && error.code === 'workflow_not_found') return null;
    throw error;
  }
}

export function instanceNotFound(id: string): AppError {
  return new AppError('workflow_not_found', `There is no run with the id '${id}'`, {
    fields: { workflowId: id },
  });
}

async function readInput(text: string | null): Promise<JsonObject | null> {
  const value = text === null ? null : await readLong(text);
  return value !== null && isJsonObject(value) ? value : null;
}

/** Each order has its own cursors. */
function orderOf(filter: InstanceFilter): {
  readonly list: string;
  readonly timeOf: (item: InstanceListItem) => number;
} {
  if (filter.failedFrom !== undefined) {
    return { list: 'failed-workflows', timeOf: ({ failureTime }) => failureTime ?? 0 };
  }
  if (filter.unchangedSince !== undefined) {
    return { list: 'unchanged-workflows', timeOf: ({ lastChangeTime }) => lastChangeTime };
  }
  return { list: 'workflows', timeOf: ({ startTime }) => startTime };
}
