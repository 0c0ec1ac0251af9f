/** Random operations on slots of limits. */
import fc from 'fast-check';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import type { ConflictRule } from '../../../src/store/records/instances.js';
import type { LimitRule } from '../../../src/store/records/rates.js';
import type { NeededSlot, SlotRequest } from '../../../src/store/records/slots.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';
import {
  activityName,
  instanceId,
  limit as most,
  optional,
  priority,
  text,
  time,
  worker,
  type Step,
} from './random-values.js';
import { NO_CHANGES, putLimit } from './slot-cases.js';

const LIMITS = ['api', 'db'] as const;
const limit = fc.constantFrom(...LIMITS);
const key = fc.constantFrom('', 'k');
const execution = fc.constantFrom('x', 'y', 'z');
const itemNumber = fc.constantFrom('1', '2');
const instance = fc.constantFrom('i', 'i', 'j', 'k');
const units = fc.constantFrom(1, 1, 1, 2);

const rule: fc.Arbitrary<LimitRule> = fc.oneof(
  fc.record({ concurrency: fc.integer({ min: 0, max: 3 }), rate: fc.constant(null) }),
  fc.record({
    concurrency: optional(fc.constant(2)),
    rate: fc.record({
      count: fc.constant(1),
      perMs: fc.constantFrom(2, 4),
      burst: fc.integer({ min: 1, max: 2 }),
    }),
  }),
);

/** Each limit once, in the order of the names. */
const needs: fc.Arbitrary<readonly [NeededSlot, ...NeededSlot[]]> = fc
  .uniqueArray(fc.record({ limit, key, units }), {
    selector: (need) => need.limit,
    minLength: 1,
    maxLength: 2,
  })
  .map((list) => {
    const [first, ...others] = list.toSorted((a, b) => (a.limit < b.limit ? -1 : 1));
    return [first!, ...others];
  });

const request: fc.Arbitrary<SlotRequest> = fc.record({ execution, needs });
const requests = fc.uniqueArray(request, { selector: (each) => each.execution, maxLength: 2 });
const waits = fc.uniqueArray(fc.record({ execution, needs, since: time }), {
  selector: (each) => each.execution,
  maxLength: 2,
});
const items = fc.uniqueArray(
  fc.record({
    number: itemNumber,
    needs: optional(needs),
    name: activityName,
    parameters: text,
    createdAt: time,
  }),
  { selector: ({ number }) => number, maxLength: 2 },
);

const slots = fc.record({
  take: requests,
  wait: waits,
  begun: fc.subarray(['x', 'y']),
  free: requests,
});

type Slots = typeof slots extends fc.Arbitrary<infer Value> ? Value : never;
type Items = typeof items extends fc.Arbitrary<infer Value> ? Value : never;

function changesOf(id: string, { begun, free, take, wait }: Slots) {
  const named = <Each extends SlotRequest>(each: Each): Each => ({
    ...each,
    execution: `${id}/${each.execution}`,
  });
  // What begins doesn't begin to wait in the same commit.
  const waits = new Set<string>(wait.map(({ execution }) => execution));
  return {
    ...NO_CHANGES,
    take: take.map(named),
    wait: wait.map((each) => ({
      ...named(each),
      on: { limit: each.needs[0].limit, key: each.needs[0].key },
    })),
    begun: begun.filter((each) => !waits.has(each)).map((each) => `${id}/${each}`),
    free: free.map(named),
  };
}

function activitiesOf(id: string, list: Items): readonly NewActivityRecord[] {
  return list.map(({ needs: needed, number, ...item }) =>
    activityOf(`${id}/${number}`, id, { ...item, ...(needed !== null && { needs: needed }) }),
  );
}

const AUDIT = { time: 9, actor: 'a', detail: null } as const;
const TERMINATE: ConflictRule = { action: 'terminate', audit: { ...AUDIT, action: 'terminate' } };
const itemId = fc.tuple(instance, itemNumber).map(([id, number]) => `${id}/${number}`);

export const SLOT_OPERATIONS: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(limit, optional(rule)).map(([name, next]): Step => async (store) => {
    if (next === null) return store.removeResource('limit', name);
    return putLimit(store, name, next);
  }),
  fc
    .record({
      id: instance,
      priority,
      slots: optional(slots),
      offered: items,
      startTime: time,
      conflict: fc.constantFrom(null, null, TERMINATE),
      status: fc.constantFrom('Runnable', 'Runnable', 'Suspended'),
    })
    .map(({ conflict, id, offered, slots: changes, ...record }): Step => async (store) => {
      const result = await store.insertInstance({
        record: instanceOf(id, { ...record, reference: 'r' }),
        side: { ...NO_SIDE, activities: activitiesOf(id, offered) },
        ...(changes !== null && { slots: changesOf(id, changes) }),
        ...(conflict !== null && { conflict }),
      });
      // Not all stores look at the events in the same step, or say that none was terminated.
      return { terminated: [], ...result, noEvents: undefined };
    }),
  ...[1, 2, 3].map(() =>
    fc
      .record({
        id: instance,
        slots: optional(slots),
        offered: items,
        removed: fc.subarray(['1', '2']),
        lastChangeAt: time,
        ends: fc.constantFrom(false, false, false, true),
      })
      .map(
        ({ ends, id, lastChangeAt, offered, removed, slots: changes }): Step =>
          async (store) => {
            const record = await store.getInstance(id);
            if (record === null || record.endTime !== null) return null;
            const end = { status: 'Complete', endTime: 9, outcome: 'Succeeded' } as const;
            return store.commitInstance(
              commitOf(record, {
                status: record.status,
                lastChangeAt,
                side: { ...NO_SIDE, activities: ends ? [] : activitiesOf(id, offered) },
                removeActivities: ends ? [`${id}/1`, `${id}/2`] : removed.map((n) => `${id}/${n}`),
                ...(ends && { ...end, slots: NO_CHANGES }),
                ...(!ends && changes !== null && { slots: changesOf(id, changes) }),
              }),
            );
          },
      ),
  ),
  fc.tuple(instanceId, fc.constantFrom('suspend', 'resume', 'terminate'), time).map(
    ([id, action, at]): Step =>
      (store) =>
        store.controlInstance(id, action, at),
  ),
  fc.tuple(instanceId, priority).map(
    ([id, wanted]): Step =>
      (store) =>
        store.setPriority(id, wanted, { ...AUDIT, action: 'set-priority' }),
  ),
  ...[1, 2].map(() =>
    fc.record({ name: activityName, now: time, by: worker, leaseMs: time }).map(
      ({ by, leaseMs, ...asked }): Step =>
        (store) =>
          store.claimActivity({ ...asked, claim: claimBy(by, asked.now + leaseMs), deferMs: 3 }),
    ),
  ),
  fc.tuple(itemId, worker, time).map(
    ([activityId, by, now]): Step =>
      (store) =>
        store.completeActivity({
          activityId,
          tokenHash: `token-${by}`,
          result: { succeeded: true, data: '1', hash: 'h' },
          now,
          message: { id: `m ${activityId}`, body: '' },
        }),
  ),
  fc.tuple(itemId, worker, time, time).map(
    ([id, by, lease, now]): Step =>
      (store) =>
        store.extendActivity(id, `token-${by}`, lease, now),
  ),
  fc.tuple(itemId, worker, fc.boolean()).map(
    ([id, by, countsAttempt]): Step =>
      (store) =>
        store.releaseActivity(id, `token-${by}`, countsAttempt),
  ),
  fc.uniqueArray(itemId, { maxLength: 2 }).map(
    (ids): Step =>
      async (store) =>
        (await store.withdrawActivities(ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ),
  ...[1, 2, 3].map(() =>
    fc.record({ limit, key, now: time, aheadMs: fc.constantFrom(0, 0, 3) }).map(
      (asked): Step =>
        (store) =>
          store.grantSlots(asked),
    ),
  ),
  fc.tuple(optional(fc.record({ limit, key })), most).map(
    (args): Step =>
      (store) =>
        store.findWaitedKeys(...args),
  ),
  time.map(
    (now): Step =>
      (store) =>
        store.countSlots(LIMITS, now),
  ),
  fc.tuple(instance, fc.oneof(execution, itemNumber), time).map(
    ([id, number, now]): Step =>
      (store) =>
        store.findSlotPosition(`${id}/${number}`, now),
  ),
  fc.tuple(activityName, time).map(
    ([name, now]): Step =>
      (store) =>
        store.listActivityItems(name, now, null, 9),
  ),
];
