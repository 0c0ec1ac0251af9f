/** The final state of instances that were purged after their retention: the checker examines them too. */
import type { HistoryRecord, InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { hold } from './violation.js';

export interface Removed {
  readonly record: InstanceRecord;
  readonly history: readonly HistoryRecord[];
}

export const HISTORY_MAX = 10_000;

export class Archive {
  readonly removed = new Map<string, Removed>();
  readonly #known = new Set<string>();

  inserted(id: string): void {
    this.#known.add(id);
  }

  /** The store completes operations at once (MS1), so everything is read right before and right after the removal. */
  async purge(store: Store, request: Parameters<Store['purge']>[0]): ReturnType<Store['purge']> {
    const reads = [...this.#known].map((id) => ({
      id,
      before: store.getInstance(id),
      history: store.readHistory(id, 0, HISTORY_MAX),
    }));
    const answer = store.purge(request);
    const left = reads.map(({ id }) => ({
      record: store.getInstance(id),
      history: store.readHistory(id, 0, 1),
    }));
    for (const [at, { before, history, id }] of reads.entries()) {
      const record = await before;
      const after = left[at];
      if (record === null || after === undefined || (await after.record) !== null) continue;
      const { endTime, wakeAt } = record;
      const isOld = endTime !== null && endTime < request.instancesEndedBefore;
      hold(isOld, 'I8 only what ended long ago is removed', () => id);
      hold(wakeAt === null, 'I8 what others have not heard of is not removed', () => id);
      hold((await after.history).length === 0, 'I8 the history goes with it', () => id);
      this.#known.delete(id);
      this.removed.set(id, { record, history: await history });
    }
    return answer;
  }
}
