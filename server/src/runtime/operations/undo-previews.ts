/** Previews of terminations with compensation: the steps to undo, and the work in flight. */
import { previewCleanUp, type UndoPreview } from '../../engine/flow/preview-clean-up.js';
import { restoreSession } from '../../engine/flow/lifecycle.js';
import { executionKey } from '../../engine/model/pointer.js';
import type { Instance } from '../../engine/model/instance.js';
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import { withdrawnItem } from '../instances/item-withdrawal.js';
import type { InstanceQueries } from './instance-queries.js';
import { loadInstance } from '../instance-state/instance-views.js';

export interface UndoPreviewsOptions {
  readonly store: Pick<Store, 'getActivities'>;
  readonly clock: Clock;
  readonly catalog: Pick<DefinitionCatalog, 'find'>;
  readonly queries: Pick<InstanceQueries, 'read'>;
}

export class UndoPreviews {
  readonly #options: UndoPreviewsOptions;

  constructor(options: UndoPreviewsOptions) {
    this.#options = options;
  }

  /** Changes nothing. @throws AppError `workflow_not_found` */
  previewUndo(id: string): Promise<UndoPreview> {
    return this.#options.queries.read(id, (record) => this.#previewOf(record));
  }

  async #previewOf(record: InstanceRecord): Promise<UndoPreview> {
    const { catalog, clock, store } = this.#options;
    const { id } = record;
    if (record.endTime !== null) return { undo: [], inFlight: [] };
    const instance = await loadInstance(record);
    const definition = await catalog.find(record.definitionId, record.version);
    if (definition === null) {
      throw new AppError('internal', `The definition of run ${id} is missing`);
    }
    const now = clock.now();
    const found = await store.getActivities(itemIdsOf(instance));
    const items = new Map(found.map((item) => [item.id, item]));
    return previewCleanUp(restoreSession(definition, instance, now), (pointer) =>
      withdrawnItem(items.get(executionKey(id, pointer)), now),
    );
  }
}

function itemIdsOf({ id, pointers }: Instance): readonly string[] {
  return [...pointers.values()]
    .filter(({ state }) => state.kind === 'activity')
    .map((pointer) => executionKey(id, pointer));
}
