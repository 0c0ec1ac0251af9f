/** Limits, executions and items for the cases of slots. */
import type { ActivityRecord, NewActivityRecord } from '../../../src/store/records/activities.js';
import type { InstanceCommit, InstanceRecord } from '../../../src/store/records/instances.js';
import type { LimitRule } from '../../../src/store/records/rates.js';
import type {
  LimitKey,
  NeededSlot,
  SlotChanges,
  SlotGrants,
  SlotRequest,
} from '../../../src/store/records/slots.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

export const NO_CHANGES: SlotChanges = { take: [], wait: [], begun: [], free: [] };

export const need = (limit: string, key = '', units = 1): NeededSlot => ({ limit, key, units });

export const on = (limit: string, key = ''): LimitKey => ({ limit, key });

export function requestOf(
  execution: string,
  ...needs: readonly [NeededSlot, ...NeededSlot[]]
): SlotRequest {
  return { execution, needs };
}

/** Inserts a limit, or replaces it. */
export async function putLimit(
  store: Store,
  name: string,
  rule: Partial<LimitRule>,
): Promise<void> {
  const known = await store.getResource('limit', name);
  const revision = (known?.revision ?? 0) + 1;
  const body = JSON.stringify(rule);
  const resource = { kind: 'limit' as const, name, revision, expiresAt: null, body };
  await store.saveResource(resource, known?.revision ?? null);
}

/** Executions are named `<instance>/<n>`. */
export function slotCasesOf(test: StoreUnderTest) {
  const instanceOfExecution = (execution: string): string => execution.split('/')[0] ?? '';
  const change = async (
    id: string,
    slots: Partial<SlotChanges>,
    more: Partial<InstanceCommit> = {},
  ) => {
    const record = (await test.store.getInstance(id))!;
    const commit = commitOf(record, { slots: { ...NO_CHANGES, ...slots }, ...more });
    return test.store.commitInstance({ ...commit, status: more.status ?? record.status });
  };
  const take = (execution: string, ...needs: [NeededSlot, ...NeededSlot[]]) =>
    change(instanceOfExecution(execution), { take: [{ execution, needs }] });
  return {
    change,
    take,
    limit: (name: string, rule: Partial<LimitRule>) => putLimit(test.store, name, rule),
    start: (id: string, changes: Partial<InstanceRecord> = {}) =>
      test.store.insertInstance({ record: instanceOf(id, changes), side: NO_SIDE }),
    takes: async (execution: string, ...needs: [NeededSlot, ...NeededSlot[]]): Promise<boolean> => {
      const outcome = await take(execution, ...needs);
      return typeof outcome === 'object' && outcome.outcome === 'committed';
    },
    wait: (execution: string, since: number, ...needs: [NeededSlot, ...NeededSlot[]]) =>
      change(instanceOfExecution(execution), {
        wait: [{ execution, needs, since, on: { limit: needs[0].limit, key: needs[0].key } }],
      }),
    free: (execution: string, ...needs: [NeededSlot, ...NeededSlot[]]) =>
      change(instanceOfExecution(execution), { free: [{ execution, needs }] }),
    begin: (execution: string) => change(instanceOfExecution(execution), { begun: [execution] }),
    grant: (
      limit: string,
      key = '',
      more: { now?: number; aheadMs?: number } = {},
    ): Promise<SlotGrants> => test.store.grantSlots({ limit, key, now: 5000, aheadMs: 0, ...more }),
    held: async (limit: string, now = 5000): Promise<number> =>
      (await test.store.countSlots([limit], now))[0]!.held,
    /** An open instance with one item that needs slots. */
    offer: (id: string, needs: readonly NeededSlot[], changes: Partial<NewActivityRecord> = {}) =>
      test.store.insertInstance({
        record: instanceOf(id, {
          priority: changes.priority ?? 3,
          fairness: changes.fairness ?? null,
        }),
        side: { ...NO_SIDE, activities: [activityOf(`${id}/1`, id, { needs, ...changes })] },
      }),
    claim: (worker: string, changes: { name?: string; now?: number; leaseMs?: number } = {}) => {
      const { leaseMs = 10_000, name = 'ship', now = 2000 } = changes;
      const claim = claimBy(worker, now + leaseMs);
      return test.store.claimActivity({ name, now, claim, deferMs: 500 });
    },
  };
}

/** The id of a claimed item; null: none. */
export function idOf(claimed: Awaited<ReturnType<Store['claimActivity']>>): string | null {
  return claimed !== null && 'id' in claimed
    ? (claimed satisfies Partial<ActivityRecord>).id
    : null;
}

export function beginsOf({ begin }: SlotGrants): readonly string[] {
  return begin.map(({ execution }) => execution);
}
