/** Restarts instances: each as a new instance with the same input, reference, tags, priority and fairness. */
import type { InstanceSummary } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import { loadInstance } from '../instance-state/instance-views.js';
import type { InstanceQueries } from './instance-queries.js';
import type { InstanceView, RestartRequest } from '../model/instance-types.js';
import type { InstanceStarter } from './instance-starter.js';

export interface InstanceRestartsOptions {
  readonly store: Pick<Store, 'appendAudit' | 'linkRestart' | 'listAudit'>;
  readonly clock: Clock;
  readonly queries: Pick<InstanceQueries, 'getInput' | 'read'>;
  readonly starts: Pick<InstanceStarter, 'start'>;
  /** Called when an instance got the link to its restart. */
  readonly changed: (record: InstanceSummary) => void;
}

export class InstanceRestarts {
  readonly #options: InstanceRestartsOptions;

  constructor(options: InstanceRestartsOptions) {
    this.#options = options;
  }

  /**
   * Restarts an instance in any status, without changing it. Returns the new instance before its first step. The new instance
   * is stored first: if the server dies before it stores the link in the old one, a repeated request adds it.
   *
   * @throws AppError `workflow_not_found`, `input_not_found`, and the errors of a start
   */
  async restart(id: string, request: RestartRequest, actor: string): Promise<InstanceView> {
    const { queries, starts } = this.#options;
    const { idempotency = null, reason, version } = request;
    const data = await queries.getInput(id);
    const old = await queries.read(id, async (record) => {
      const { definitionId, fairness, priority, reference, tags, version: used } = record;
      const { debounce } = await loadInstance(record);
      const isCollected = debounce?.data === 'list';
      return { definitionId, fairness, priority, reference, tags, version: used, isCollected };
    });
    const { instance } = await starts.start({
      ...old,
      fairness: old.fairness ?? { key: null },
      ...(version !== undefined && { version }),
      data,
      idempotency,
      actor,
      restartOf: id,
    });
    await this.#link(id, instance.id, { actor, reason, isRepeatable: idempotency !== null });
    return instance;
  }

  async #link(
    oldId: string,
    newId: string,
    by: { readonly actor: string; readonly reason: string; readonly isRepeatable: boolean },
  ): Promise<void> {
    const { changed, clock, queries, store } = this.#options;
    const entry = { time: clock.now(), actor: by.actor, action: 'restart' } as const;
    const inOld = { ...entry, detail: `restarted as run ${newId}: ${by.reason}` };
    const inNew = { ...entry, detail: `restart of run ${oldId}: ${by.reason}` };
    // An earlier request with the same key may have recorded it already.
    const isIn = async (id: string, detail: string): Promise<boolean> => {
      const entries = by.isRepeatable ? await store.listAudit(id) : null;
      return entries?.some((each) => each.action === 'restart' && each.detail === detail) === true;
    };
    if (!(await isIn(newId, inNew.detail))) await store.appendAudit(newId, inNew);
    if (await isIn(oldId, inOld.detail)) return;
    if (await store.linkRestart(oldId, newId, inOld)) await queries.read(oldId, changed);
  }
}
