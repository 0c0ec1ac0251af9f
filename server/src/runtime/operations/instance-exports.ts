/** Reads all records of an instance, for a copy outside the store. */
import { readJson } from '../../engine/values/exact-json.js';
import type { JsonObject } from '../../engine/values/json.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { Instance } from '../../engine/model/instance.js';
import type { StepRecord } from '../../engine/model/step-record.js';
import { AppError } from '../../base/errors.js';
import type { AuditEntry } from '../../store/records/control.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { DefinitionView } from '../definitions/definition-types.js';
import type { ReadingGate } from '../memory/reading-gate.js';
import type { InstanceQueries } from './instance-queries.js';
import type { InstanceView, StepView } from '../model/instance-types.js';
import {
  loadInstance,
  viewInstance,
  viewPointer,
  viewRecord,
  type ViewContext,
} from '../instance-state/instance-views.js';

/** Number of step records per read. */
const BLOCK_SIZE = 200;

export interface InstanceExport {
  readonly instance: InstanceView;
  /** The version that the instance uses; null if there is none. */
  readonly definition: DefinitionView | null;
  /** Null if the instance was started without one. */
  readonly input: JsonObject | null;
  /** Newest first. */
  readonly audit: readonly AuditEntry[];
  /** Ended steps in order, then open ones, in blocks. Can be read only once. */
  readonly steps: AsyncIterable<readonly StepView[]>;
}

export interface InstanceExportsOptions {
  readonly store: Pick<Store, 'getInstance' | 'listAudit' | 'readHistory'>;
  readonly catalog: Pick<DefinitionCatalog, 'find' | 'get'>;
  readonly queries: Pick<InstanceQueries, 'load' | 'getInput'>;
  /** Limits concurrent exports, each of which has one instance in memory. */
  readonly gate: ReadingGate;
}

export interface ExportOptions {
  /** Allows step records to be missing, after an interrupted removal. */
  readonly partial?: boolean;
}

export class InstanceExports {
  readonly #options: InstanceExportsOptions;

  constructor(options: InstanceExportsOptions) {
    this.#options = options;
  }

  /**
   * Reads the current state of an instance, and passes it to `write`.
   *
   * @throws AppError `workflow_not_found`, `overloaded`; `internal` if it can't be read, or is removed in the meantime
   */
  async export<Result>(
    id: string,
    write: (exported: InstanceExport) => Promise<Result>,
    { partial = false }: ExportOptions = {},
  ): Promise<Result> {
    const { gate, queries } = this.#options;
    return gate.read(
      () => queries.load(id),
      ({ state }) => memoryCost(state),
      async (record) => write(await this.#read(record, partial)),
    );
  }

  async #read(record: InstanceRecord, partial: boolean): Promise<InstanceExport> {
    const { catalog, store } = this.#options;
    const { definitionId, id, version } = record;
    const instance = await loadInstance(record);
    const context = { workflowId: id, definition: await catalog.find(definitionId, version) };
    return {
      instance: await viewInstance(record),
      definition: await notFoundAsNull('definition_not_found', () =>
        catalog.get(definitionId, version),
      ),
      input: await notFoundAsNull('input_not_found', () => this.#options.queries.getInput(id)),
      audit: (await store.listAudit(id)) ?? [],
      steps: stepsOf(store, { instance, context, partial }),
    };
  }
}

async function notFoundAsNull<Value>(
  code: AppError['code'],
  read: () => Promise<Value>,
): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === code) return null;
    throw error;
  }
}

interface Steps {
  readonly instance: Instance;
  readonly context: ViewContext;
  readonly partial: boolean;
}

async function* stepsOf(
  store: Pick<Store, 'readHistory'>,
  { context, instance, partial }: Steps,
): AsyncGenerator<readonly StepView[], void, undefined> {
  const { id, pointers, recent, spilled } = instance;
  let read = 0;
  for (let from = 0; from < spilled;) {
    const found = await store.readHistory(id, from, BLOCK_SIZE);
    // Later records were written after the read of the instance, which already contains them.
    const records = found.filter(({ sequence }) => sequence < spilled);
    if (records.length === 0) break;
    read += records.length;
    from = (records.at(-1)?.sequence ?? 0) + 1;
    // Written by this server.
    yield records.map(({ body }) => viewRecord(readJson(body) as unknown as StepRecord, context));
  }
  if (read < spilled && !partial) {
    throw new AppError('internal', `The run ${id} was removed while it was exported`);
  }
  for (let at = 0; at < recent.length; at += BLOCK_SIZE) {
    yield recent.slice(at, at + BLOCK_SIZE).map((record) => viewRecord(record, context));
  }
  const open = [...pointers.values()];
  for (let at = 0; at < open.length; at += BLOCK_SIZE) {
    yield open.slice(at, at + BLOCK_SIZE).map((pointer) => viewPointer(pointer, context, instance));
  }
}
