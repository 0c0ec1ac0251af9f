/** Random operations on slots: few instances, limits and times, so that they interact. */
import fc from 'fast-check';
import type { NeededSlot, SlotChanges, SlotRequest } from '../../../src/store/records/slots.js';
import type { Store } from '../../../src/store/store.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';
import { fairness, optional, priority, type Step } from './random-values.js';
import { putLimit } from './slot-cases.js';

const LIMITS = ['api', 'db'];
export const SLOT_INSTANCES = ['a', 'b', 'c', 'd'];
const KEYS = ['', 'k'];
const AUDIT = { time: 9000, actor: 'a', detail: null } as const;
/** Times are in a small range, because a rate counts them. */
const time = fc.integer({ min: 1000, max: 1040 });
const id = fc.constantFrom(...SLOT_INSTANCES);
const number = fc.integer({ min: 1, max: 4 });
const execution = fc.tuple(id, number).map(([of, n]) => `${of}/${n}`);
const itemId = fc.tuple(id, fc.integer({ min: 5, max: 6 })).map(([of, n]) => `${of}/${n}`);
const name = fc.constantFrom('ship', 'pack');
const worker = fc.constantFrom('v', 'w');

const needs = fc.subarray(LIMITS, { minLength: 1 }).chain((limits) =>
  fc.tuple(
    ...limits.map((limit) =>
      fc.record({
        limit: fc.constant(limit),
        key: fc.constantFrom(...KEYS),
        units: fc.constantFrom(1, 1, 1, 2),
      }),
    ),
  ),
) as unknown as fc.Arbitrary<readonly [NeededSlot, ...NeededSlot[]]>;

const request = (
  of: fc.Arbitrary<number>,
): fc.Arbitrary<{ n: number; needs: SlotRequest['needs'] }> => fc.record({ n: of, needs });

const rule = fc.oneof(
  fc.record({ concurrency: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    concurrency: optional(fc.integer({ min: 1, max: 4 })),
    rate: fc.record({
      count: fc.constantFrom(1, 3, 100),
      perMs: fc.constantFrom(10, 1000),
      burst: fc.integer({ min: 1, max: 3 }),
    }),
  }),
);

const changes = fc.record({
  take: fc.uniqueArray(request(number), { maxLength: 2, selector: ({ n }) => n }),
  wait: fc.uniqueArray(request(number), { maxLength: 2, selector: ({ n }) => n }),
  free: fc.uniqueArray(request(fc.integer({ min: 1, max: 6 })), {
    maxLength: 3,
    selector: ({ n }) => n,
  }),
  begun: fc.uniqueArray(number, { maxLength: 2 }),
  items: fc.uniqueArray(
    fc.record({
      n: fc.integer({ min: 5, max: 6 }),
      needs: optional(needs),
      fair: fairness,
      by: optional(worker),
      leaseMs: fc.integer({ min: 1, max: 30 }),
    }),
    { maxLength: 2, selector: ({ n }) => n },
  ),
  at: time,
});

type Changes = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

function slotsOf(of: string, { at, begun, free, take, wait }: Changes): SlotChanges {
  const requestBy = ({
    n,
    needs: needed,
  }: {
    n: number;
    needs: SlotRequest['needs'];
  }): SlotRequest => ({
    execution: `${of}/${n}`,
    needs: needed,
  });
  return {
    take: take.map(requestBy),
    wait: wait.map((each) => {
      const { key, limit } = each.needs[0];
      return { ...requestBy(each), since: at, on: { limit, key } };
    }),
    free: free.map(requestBy),
    begun: begun.map((n) => `${of}/${n}`),
  };
}

const sideOf = (of: string, { at, items }: Changes) => ({
  ...NO_SIDE,
  activities: items.map(({ by, fair, leaseMs, n, needs: needed }) =>
    activityOf(`${of}/${n}`, of, {
      // The same id always has the same content: of another one, the stores free slots at different moments of a commit.
      name: n === 5 ? 'ship' : 'pack',
      createdAt: at,
      ...(needed !== null && { needs: needed }),
      ...(fair !== null && { fairness: fair }),
      ...(by !== null && { claim: claimBy(by, at + leaseMs) }),
    }),
  ),
});

/** Of an item that exists, a claim would come with other needs. */
async function withoutClaims(store: Store, of: string, changed: Changes): Promise<Changes> {
  const known = await store.getActivities(changed.items.map(({ n }) => `${of}/${n}`));
  const exists = new Set(known.map((item) => item.id));
  const items = changed.items.map((item) =>
    exists.has(`${of}/${item.n}`) ? { ...item, by: null } : item,
  );
  return { ...changed, items };
}

const COMMIT_ENDS = { status: 'Complete', endTime: 9000, outcome: 'Succeeded' } as const;

export const slotOperation: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...LIMITS), optional(rule))
      .map(([limit, next]): Step => async (store) => {
        if (next === null) return store.removeResource('limit', limit);
        return putLimit(store, limit, next);
      }),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(id, priority, fairness, optional(changes))
      .map(([of, first, fair, asked]): Step => async (store) => {
        const changed = asked && (await withoutClaims(store, of, asked));
        return store
          .insertInstance({
            record: instanceOf(of, {
              priority: first,
              fairness: fair,
              startTime: changed?.at ?? 1000,
            }),
            side: changed === null ? NO_SIDE : sideOf(of, changed),
            ...(changed !== null && { slots: slotsOf(of, changed) }),
          })
          .then((result) => ({ ...result, noEvents: undefined }));
      }),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(id, changes, fc.integer({ min: 0, max: 9 }))
      .map(([of, asked, n]): Step => async (store) => {
        const changed = await withoutClaims(store, of, asked);
        const record = await store.getInstance(of);
        if (record === null || (record.status !== 'Runnable' && record.status !== 'Suspended'))
          return null;
        const slots = slotsOf(of, changed);
        const freed = slots.free.map((each) => each.execution);
        // A commit frees the items that it removes.
        const removed = freed.filter((each) => each.endsWith('5') || each.endsWith('6'));
        return store.commitInstance({
          ...commitOf(record, {
            slots,
            side: sideOf(of, {
              ...changed,
              items: changed.items.filter(({ n: item }) => !removed.includes(`${of}/${item}`)),
            }),
          }),
          status: record.status,
          lastChangeAt: changed.at,
          removeActivities: removed,
          ...(n === 0 && COMMIT_ENDS),
        });
      }),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(name, worker, time, fc.integer({ min: 0, max: 20 })).map(
      ([of, by, now, lease]): Step =>
        (store) =>
          store.claimActivity({ name: of, now, claim: claimBy(by, now + lease), deferMs: 5 }),
    ),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...LIMITS), fc.constantFrom(...KEYS), time, fc.constantFrom(0, 0, 20))
      .map(
        ([limit, key, now, aheadMs]): Step =>
          (store) =>
            store.grantSlots({ limit, key, now, aheadMs }),
      ),
  },
  fc.tuple(itemId, worker, time).map(([of, by, now]): Step => async (store) => {
    const result = await store.completeActivity({
      activityId: of,
      tokenHash: `token-${by}`,
      result: { succeeded: true, data: '1', hash: 'h' },
      now,
      message: { id: `m-${of}`, body: '{}' },
    });
    return { ...result, posted: null };
  }),
  fc.tuple(itemId, worker).map(
    ([of, by]): Step =>
      (store) =>
        store.releaseActivity(of, `token-${by}`),
  ),
  fc.tuple(itemId, worker, time).map(
    ([of, by, now]): Step =>
      (store) =>
        store.extendActivity(of, `token-${by}`, now + 10, now),
  ),
  fc.tuple(itemId, worker, time).map(
    ([of, by, now]): Step =>
      (store) =>
        store.takeOverActivity(of, claimBy(by, now + 10)),
  ),
  itemId.map(
    (of): Step =>
      (store) =>
        store.withdrawActivities([of]),
  ),
  fc.tuple(id, fc.constantFrom('suspend', 'resume', 'terminate')).map(
    ([of, action]): Step =>
      (store) =>
        store.controlInstance(of, action, 9000),
  ),
  fc.tuple(id, priority).map(
    ([of, next]): Step =>
      (store) =>
        store.setPriority(of, next, { ...AUDIT, action: 'set-priority' }),
  ),
  id.map((of): Step => async (store) => {
    const record = await store.getInstance(of);
    return record === null ? null : store.removeInstances([record]);
  }),
  time.map(
    (before): Step =>
      (store) =>
        store.purge({
          keepsInstances: true,
          instancesEndedBefore: 0,
          untoldEndedBefore: 0,
          eventsPublishedBefore: 0,
          activitiesDoneBefore: before,
          limit: 10,
        }),
  ),
  fc.tuple(execution, time).map(
    ([of, now]): Step =>
      (store) =>
        store.findSlotPosition(of, now),
  ),
  fc.tuple(itemId, time).map(
    ([of, now]): Step =>
      (store) =>
        store.findSlotPosition(of, now),
  ),
);

/** Everything of slots that can be read. */
export async function slotContents(store: Store): Promise<unknown> {
  const now = 1020;
  const items = SLOT_INSTANCES.flatMap((of) => [`${of}/5`, `${of}/6`]);
  return {
    instances: await Promise.all(SLOT_INSTANCES.map((of) => store.getInstance(of))),
    uses: await store.countSlots([...LIMITS, 'none'], now),
    waited: await store.findWaitedKeys(null, 9),
    lists: await Promise.all(
      ['ship', 'pack'].map((of) => store.listActivityItems(of, now, null, 99)),
    ),
    items: (await store.getActivities(items)).toSorted((left, right) =>
      left.id < right.id ? -1 : 1,
    ),
  };
}
