/**
 * Brings the index fields of open instances up to date after a new version of their definition has changed `Index`.
 *
 * Every commit writes the fields of the newest version, so only long-waiting instances remain. They are read one after another;
 * differences are written by compare-and-set, so that a working instance is never overwritten: its owner reads the new fields
 * before its next commit. Only the node with the lowest id does this. It keeps no records: a node that takes over, or restarts,
 * checks all definitions with several versions.
 */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { areSameFields, indexFieldsOf, type IndexPaths } from '../../engine/values/index-fields.js';
import { sleep, type Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';
import type { InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import { StoreUnavailableError, type Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import { DEFINITIONS_AT_ONCE } from '../definitions/definition-summaries.js';
import { readStored } from '../instance-state/long-states.js';

export interface IndexRefreshOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalog: Pick<DefinitionCatalog, 'find' | 'latest' | 'refreshIndexPaths'>;
  /** True if this node is the one that refreshes. */
  readonly isChosen: () => boolean;
  /** True while other nodes share the store. */
  readonly isShared: () => boolean;
}

const INTERVAL_MS = 2000;
/** How long another node may still write the fields of an earlier version: it rereads them every few seconds. */
const GRACE_MS = 15_000;
/** Without a hint of a new version, definitions are checked at this interval if nodes share the store. */
const LOOK_INTERVAL_MS = 60_000;
const INSTANCES_AT_ONCE = 50;
/** Pause before an unreadable definition is checked again. */
const FAILED_PAUSE_MS = 60_000;
/** Pause between two batches, in which others use the store. */
const PAUSE_MS = 50;
/** Instances of a definition with more versions are checked without comparing versions. */
const VERSIONS_COMPARED_MAX = 20;
/**
 * Maximum number of attempts for an instance that changes while its fields are computed. Each such commit has written the new
 * fields.
 */
const ATTEMPTS_MAX = 3;

export class IndexRefresh implements Service {
  readonly #options: IndexRefreshOptions;
  readonly #task: PeriodicTask;
  /** Newest versions whose fields all open instances have. */
  readonly #done = new Map<string, number>();
  /** Definitions to check, with the time of their newest version. */
  readonly #pending = new Map<string, number>();
  #lookedAt: number | null = null;
  #isStopping = false;
  #refreshed = 0;

  constructor(options: IndexRefreshOptions) {
    this.#options = options;
    const { clock, logger } = options;
    const name = 'bring index fields up to date';
    this.#task = new PeriodicTask({
      name,
      clock,
      logger,
      intervalMs: INTERVAL_MS,
      run: () => this.runOnce(),
    });
  }

  /** Number of definitions whose instances aren't all up to date, as far as this node knows. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Number of instances that this node has brought up to date. */
  get refreshed(): number {
    return this.#refreshed;
  }

  start(): Promise<void> {
    this.#task.startInBackground();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#task.stop();
  }

  /** Called when there may be a newer version of the definition. */
  noted(definitionId: string): void {
    this.#pending.set(definitionId, this.#options.clock.now());
  }

  async runOnce(): Promise<void> {
    const { catalog, clock, isChosen, isShared, logger } = this.#options;
    if (isShared()) await catalog.refreshIndexPaths();
    if (!isChosen()) {
      // Another node does it; if this one is chosen later, it starts over.
      this.#pending.clear();
      this.#done.clear();
      this.#lookedAt = null;
      return;
    }
    const now = clock.now();
    const isTime =
      this.#lookedAt === null || (isShared() && now - this.#lookedAt >= LOOK_INTERVAL_MS);
    if (isTime) await this.#lookThroughDefinitions(now);
    const graceMs = isShared() ? GRACE_MS : 0;
    for (const [id, since] of [...this.#pending]) {
      if (this.#isStopping) return;
      if (now - since < graceMs) continue;
      try {
        if (await this.#refreshDefinition(id)) this.#pending.delete(id);
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error;
        // Another program or a newer server may have stored it. It stays pending, and doesn't delay the others.
        logger.warn({ definitionId: id, err: error }, 'cannot bring index fields up to date');
        this.#pending.set(id, clock.now() + FAILED_PAUSE_MS);
      }
    }
  }

  async #lookThroughDefinitions(now: number): Promise<void> {
    let after: string | null = null;
    for (;;) {
      const found = await this.#options.store.listDefinitions(after, DEFINITIONS_AT_ONCE);
      for (const { createdAt, id, version } of found) {
        if (version > 1 && this.#done.get(id) !== version) this.#pending.set(id, createdAt);
      }
      after = found.at(-1)?.id ?? null;
      if (found.length < DEFINITIONS_AT_ONCE || this.#isStopping) break;
    }
    this.#lookedAt = now;
  }

  /** False if there is now a newer version. */
  async #refreshDefinition(id: string): Promise<boolean> {
    const { catalog, logger } = this.#options;
    const definition = await catalog.latest(id);
    const { index, version } = definition;
    if (this.#done.get(id) === version || !(await this.#mayDiffer(definition))) {
      this.#done.set(id, version);
      return true;
    }
    const before = this.#refreshed;
    for (const status of ['Runnable', 'Suspended'] as const) {
      await this.#refreshOpen({ definitionId: id, status }, index);
      if (this.#isStopping) return false;
    }
    const count = this.#refreshed - before;
    if (count > 0)
      logger.info({ definitionId: id, version, count }, 'brought index fields up to date');
    if ((await catalog.latest(id)).version !== version) return false;
    this.#done.set(id, version);
    return true;
  }

  /** True if an earlier version has indexed other fields. */
  async #mayDiffer({ id, index, version }: WorkflowDefinition): Promise<boolean> {
    const first = Math.max(1, version - VERSIONS_COMPARED_MAX);
    for (let earlier = version - 1; earlier >= first; earlier -= 1) {
      const definition = await this.#options.catalog.find(id, earlier).catch((error: unknown) => {
        if (error instanceof StoreUnavailableError) throw error;
        return 'unreadable' as const;
      });
      if (definition === 'unreadable') return true;
      if (definition !== null && !areSamePaths(definition.index, index)) return true;
    }
    return first > 1;
  }

  async #refreshOpen(
    filter: { readonly definitionId: string; readonly status: 'Runnable' | 'Suspended' },
    paths: IndexPaths,
  ): Promise<void> {
    const { store } = this.#options;
    let after: InstancePosition | null = null;
    while (!this.#isStopping) {
      const limit = INSTANCES_AT_ONCE;
      const { items, searchedTo } = await store.listInstances({ filter, after, limit });
      for (const { id } of items) await this.#refreshInstance(id, paths);
      const last = items.at(-1);
      if (items.length < limit || last === undefined) after = searchedTo;
      else after = { time: last.startTime, id: last.id };
      if (after === null) return;
      await sleep(this.#options.clock, PAUSE_MS);
    }
  }

  async #refreshInstance(id: string, paths: IndexPaths): Promise<void> {
    const { logger, store } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const record = await store.getInstance(id);
      if (record === null || record.endTime !== null) return;
      const fields = await fieldsOf(record, paths).catch((error: unknown) => {
        logger.warn({ workflowId: id, err: error }, 'cannot index an unreadable state');
        return null;
      });
      if (fields === null || areSameFields(record.index, fields)) return;
      if (await store.replaceIndex(record, { before: record.index, after: fields })) {
        this.#refreshed += 1;
        return;
      }
    }
  }
}

async function fieldsOf(record: InstanceRecord, paths: IndexPaths) {
  return indexFieldsOf((await readStored(record)).data, paths);
}

function areSamePaths(left: IndexPaths, right: IndexPaths): boolean {
  if (left.size !== right.size) return false;
  return [...left].every(([name, path]) => right.get(name)?.join('\0') === path.join('\0'));
}
