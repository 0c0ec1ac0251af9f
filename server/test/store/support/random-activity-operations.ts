/** Random operations on activities and their queues. */
import fc from 'fast-check';
import { claimBy } from '../records.js';
import {
  activityId,
  activityName,
  claimer,
  limit,
  optional,
  text,
  time,
  worker,
  type Step,
} from './random-values.js';

export const ACTIVITY_OPERATIONS: readonly fc.Arbitrary<Step>[] = [
  fc
    .record({
      name: activityName,
      now: time,
      by: worker,
      lease: time,
      deferMs: fc.integer({ min: 1, max: 5 }),
    })
    .map(
      ({ by, lease, ...rest }): Step =>
        (store) =>
          store.claimActivity({ ...rest, claim: claimBy(by, lease) }),
    ),
  fc.tuple(fc.subarray(['ship', 'pack', 'none']), time).map(
    (args): Step =>
      (store) =>
        store.findAvailableActivities(...args),
  ),
  fc
    .record({
      activityId,
      by: worker,
      now: time,
      data: text,
      hash: fc.constantFrom('g', 'h'),
      claims: optional(claimer),
    })
    .map(
      ({ activityId: id, by, now, data, hash, claims }): Step =>
        (store) =>
          store.completeActivity({
            activityId: id,
            tokenHash: `token-${by}`,
            result: { succeeded: true, data, hash },
            now,
            message: { id: `result ${id}`, body: data },
            ...(claims !== null && { claimer: claims }),
          }),
    ),
  fc.tuple(activityId, worker, time).map(
    ([id, by, lease]): Step =>
      (store) =>
        store.extendActivity(id, `token-${by}`, lease, 2000),
  ),
  fc.tuple(activityId, worker, fc.boolean()).map(
    ([id, by, countsAttempt]): Step =>
      (store) =>
        store.releaseActivity(id, `token-${by}`, countsAttempt),
  ),
  fc.uniqueArray(activityId, { maxLength: 3 }).map(
    (ids): Step =>
      async (store) =>
        (await store.withdrawActivities(ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ),
  fc.tuple(time, limit).map(
    (args): Step =>
      (store) =>
        store.findUnsettledActivities(...args),
  ),
  fc.tuple(time, limit).map(
    (args): Step =>
      (store) =>
        store.listActivityQueues(...args),
  ),
  fc
    .tuple(activityName, time, optional(fc.record({ availableAt: time, id: activityId })), limit)
    .map(
      (args): Step =>
        (store) =>
          store.listActivityItems(...args),
    ),
];
