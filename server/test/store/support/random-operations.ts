/** Random operations on a store, over few ids and times, so that they meet. */
import { compareText } from '../../../src/store/text-order.js';
import fc from 'fast-check';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { condition, failure, failureKey, fieldName, indexFields } from './random-conditions.js';
import { ACTIVITY_OPERATIONS } from './random-activity-operations.js';
import { side } from './random-side-records.js';
import { inPlace, PLACE_OPERATIONS, placed } from './random-place-operations.js';
import {
  claimer,
  fairness,
  instanceId,
  limit,
  optional,
  priority,
  reference,
  small,
  text,
  time,
  worker,
  type Step,
} from './random-values.js';
import { commitOf, eventOf, instanceOf } from '../records.js';

const status = fc.constantFrom('Runnable', 'Suspended', 'Complete', 'Terminated');

const tags = fc.dictionary(fieldName, text, { maxKeys: 2 });

/** The error that an instance shows, and when its step began to fail. */
const error: fc.Arbitrary<Pick<InstanceRecord, 'errorAt' | 'failingSince'>> = fc
  .tuple(optional(time), optional(fc.integer({ min: 1, max: 50 })))
  .map(([errorAt, forMs]) => {
    const failingSince = errorAt === null || forMs === null ? null : errorAt - forMs;
    return { errorAt, failingSince };
  });

const FIRST = { action: 'queue', queued: false } as const;
const LATER = { action: 'queue', queued: true } as const;

const instances: readonly fc.Arbitrary<Step>[] = [
  fc
    .record({
      id: instanceId,
      status,
      startTime: small,
      wakeAt: optional(time),
      owner: optional(worker),
      underWay: fc.boolean(),
      endTime: optional(time),
      lastChangeAt: time,
      error,
      failure: optional(failure),
      tags,
      index: indexFields,
      fairness,
      queued: fc.boolean(),
      countsFrom: optional(small),
      reference: optional(reference),
      rule: fc.constantFrom(null, FIRST, LATER),
      inserted: placed,
    })
    .chain(({ error: errorTimes, inserted, rule, ...changes }) =>
      side.map((records): Step => async (store) => {
        const record = instanceOf(changes.id, { ...changes, ...errorTimes });
        const conflict = rule === null ? {} : { conflict: rule };
        const insert = { record, side: records, ...conflict };
        const result = await store.insertInstance(inPlace(insert, inserted));
        // Not all stores look at the events in the same step.
        return result.outcome === 'inserted' ? { ...result, noEvents: undefined } : result;
      }),
    ),
  fc
    .record({
      id: instanceId,
      behind: fc.constantFrom(0, 0, 0, 0, 1),
      late: fc.constantFrom(0, 0, 0, 0, 1),
      side,
      status,
      endTime: optional(time),
      lastChangeAt: time,
      error,
      failure: optional(failure),
      wakeAt: optional(time),
      underWay: fc.boolean(),
      crashes: small,
      state: text,
      keepsInbox: fc.boolean(),
      waits: fc.constantFrom(null, true, false),
      after: optional(indexFields),
      removeSubscriptions: fc.subarray(['s1', 's2', 's3']),
      removeActivities: fc.subarray(['i/1', 'j/1']),
      settleActivities: fc.subarray(['i/1', 'i/2', 'k/1']),
    })
    .map(
      ({ id, after, behind, late, keepsInbox, waits, error: errorTimes, ...changes }): Step =>
        async (store) => {
          const current = (await store.getInstance(id)) ?? instanceOf(id);
          const { concurrencyKey, epoch, index, inSeq, revision } = current;
          const takesPlace = waits === false && concurrencyKey !== null;
          const expected = { id, epoch, inSeq: inSeq - behind, revision: revision - late };
          return store.commitInstance(
            commitOf(expected, {
              ...changes,
              ...errorTimes,
              ...(keepsInbox ? { keepInbox: true } : {}),
              ...(waits === null ? {} : { queued: waits }),
              ...(takesPlace && { takesPlace }),
              ...(after === null ? {} : { indexChange: { before: index, after } }),
            }),
          );
        },
    ),
  fc
    .record({
      id: instanceId,
      epoch: fc.integer({ min: 1, max: 3 }),
      owner: worker,
      suspected: fc.boolean(),
      due: fc.boolean(),
      resting: fc.boolean(),
    })
    .map(
      (claim): Step =>
        (store) =>
          store.claimInstance(claim),
    ),
  fc
    .array(
      fc.record({
        instanceId,
        message: fc.record({ id: fc.constantFrom('m', 'n', 'o'), body: text }),
      }),
      { maxLength: 3 },
    )
    .map(
      (messages): Step =>
        (store) =>
          store.postMessages(messages),
    ),
  fc
    .record({
      instanceId,
      message: fc.record({ id: fc.constantFrom('m', 'n', 'o'), body: text }),
      claimer,
    })
    .map(
      ({ claimer: by, ...message }): Step =>
        (store) =>
          store.postMessages([message], by),
    ),
  fc.tuple(instanceId, fc.constantFrom('suspend', 'resume', 'terminate'), time).map(
    (args): Step =>
      (store) =>
        store.controlInstance(...args),
  ),
  fc.tuple(instanceId, time, fc.record({ id: fc.constantFrom('m', 'n'), body: text })).map(
    ([id, at, message]): Step =>
      (store) =>
        store.controlInstance(id, 'compensate', at, undefined, message),
  ),
  fc.record({ id: instanceId, at: small, reference }).map(
    (place): Step =>
      (store) =>
        store.findPredecessor({ ...place, definitionId: 'order' }),
  ),
  fc.tuple(time, limit).map(
    (args): Step =>
      (store) =>
        store.findDueInstances(...args),
  ),
  fc.record({ before: time, limit, wakeAt: time, id: instanceId }).map(
    ({ before, id, limit: most, wakeAt }): Step =>
      (store) =>
        store.findDueInstances(before, most, { wakeAt, id }),
  ),
  fc.tuple(worker, optional(instanceId), limit).map(
    (args): Step =>
      (store) =>
        store.findInstancesUnderWay(...args),
  ),
  fc.tuple(worker, fc.record({ time, id: instanceId }), limit).map(
    (args): Step =>
      (store) =>
        store.findChangedInstances(...args),
  ),
  fc.tuple(instanceId, fc.integer({ min: 1, max: 3 }), small).map(
    (args): Step =>
      (store) =>
        store.setCrashes(...args),
  ),
  fc
    .record({
      filter: fc.oneof(
        fc.record({ status, startedFrom: small, startedTo: small }, { requiredKeys: [] }),
        fc.record({ status, failedFrom: time }, { requiredKeys: ['failedFrom'] }),
        fc.record({ status, failure: failureKey }, { requiredKeys: ['failure'] }),
        fc.record(
          { queued: fc.constant(true), status, reference, startedFrom: small },
          { requiredKeys: ['queued'] },
        ),
        fc.record({ reference, status }, { requiredKeys: ['reference'] }),
        fc.record(
          { startedFrom: small, unchangedSince: time },
          { requiredKeys: ['unchangedSince'] },
        ),
      ),
      search: fc.record(
        {
          where: fc.array(condition, { minLength: 1, maxLength: 3 }),
          endedFrom: time,
          endedTo: time,
          version: fc.constantFrom(1, 2),
        },
        { requiredKeys: [] },
      ),
      after: optional(fc.record({ time, id: instanceId })),
      limit,
    })
    .map(({ filter, search, ...page }): Step => async (store) => [
      await store.listInstances({ ...page, filter: { ...filter, ...search } }),
      await store.countInstances({
        after: page.after,
        max: page.limit,
        filter: { ...filter, ...search },
      }),
    ]),
  fc.array(instanceId, { maxLength: 3 }).map((ids): Step => async (store) => {
    const found = await store.getSummaries([...new Set(ids)]);
    return found.toSorted((left, right) => compareText(left.id, right.id));
  }),
  fc.tuple(instanceId, fc.dictionary(fieldName, optional(text), { maxKeys: 2 }), time).map(
    ([id, changes, at]): Step =>
      (store) =>
        store.patchTags(id, changes, { time: at, actor: 'a', action: 'set-tags', detail: null }),
  ),
  fc.tuple(instanceId, priority, time).map(
    ([id, wanted, at]): Step =>
      (store) =>
        store.setPriority(id, wanted, {
          time: at,
          actor: 'a',
          action: 'set-priority',
          detail: null,
        }),
  ),
  fc
    .tuple(instanceId, indexFields, fc.constantFrom(0, 0, 0, 1))
    .map(([id, after, behind]): Step => async (store) => {
      const { inSeq, index, revision } = (await store.getInstance(id)) ?? instanceOf(id);
      const place = { id, inSeq: inSeq - behind, revision };
      return store.replaceIndex(place, { before: index, after });
    }),
];

const others: readonly fc.Arbitrary<Step>[] = [
  fc
    .record({
      id: fc.constantFrom('e', 'f', 'g'),
      publishedAt: time,
      nameKey: fc.constantFrom('paid/7', 'paid/8'),
      data: text,
      deliveredTo: optional(small),
    })
    .map(
      ({ id, ...changes }): Step =>
        (store) =>
          store.insertEvent(eventOf(id, changes)),
    ),
  fc
    .array(
      fc.record({
        id: fc.constantFrom('e', 'f'),
        deliveredTo: small,
        takenBy: fc.subarray(['i', 'j']),
        isConfirmed: fc.boolean(),
      }),
      { maxLength: 2 },
    )
    .filter(([first, second]) => first?.id !== second?.id)
    .map(
      (deliveries): Step =>
        async (store) =>
          (await store.markEventsDelivered(deliveries)).toSorted(),
    ),
  fc
    .record({
      nameKey: optional(fc.constantFrom('paid/7', 'paid/8')),
      before: optional(fc.record({ publishedAt: time, id: fc.constantFrom('e', 'f') })),
      limit,
    })
    .map(
      (page): Step =>
        (store) =>
          store.listEvents(page),
    ),
  fc.tuple(fc.constantFrom('d', 'e'), optional(small), limit).map(
    (args): Step =>
      (store) =>
        store.listDefinitionVersions(...args),
  ),
  fc.tuple(fc.constantFrom('s', 't'), optional(small), limit).map(
    (args): Step =>
      (store) =>
        store.listStepScriptVersions(...args),
  ),
  fc.tuple(time, limit).map(
    (args): Step =>
      (store) =>
        store.findUndeliveredEvents(...args),
  ),
  fc.tuple(time, fc.constantFrom('', 'f'), limit).map(
    ([publishedAt, id, max]): Step =>
      (store) =>
        store.findEvents('paid/7', { publishedAt, id }, max),
  ),
  fc.tuple(time, optional(fc.constantFrom('s1', 's2')), limit).map(
    (args): Step =>
      (store) =>
        store.findSubscriptions('paid/7', ...args),
  ),
  fc.tuple(optional(fc.constantFrom('s1', 's2')), limit).map(
    (args): Step =>
      (store) =>
        store.listSubscriptions('paid/7', ...args),
  ),
  fc
    .record({
      id: fc.constantFrom('d', 'e'),
      body: text,
      stamp: optional(fc.constantFrom('a', 'b')),
      requestHash: fc.constantFrom('g', 'h'),
    })
    .map(
      ({ id, body, stamp, requestHash }): Step =>
        (store) =>
          store.insertDefinition(
            { id, description: null, body, createdAt: 1 },
            stamp === null ? null : { id: stamp, requestHash },
          ),
    ),
  fc.tuple(fc.constantFrom('s', 't'), text).map(
    ([name, source]): Step =>
      (store) =>
        store.insertStepScript({ name, source, createdAt: 1 }),
  ),
  fc.record({ id: worker, beatAt: time }).map(
    (node): Step =>
      (store) =>
        store.putNode({ ...node, url: '', version: '', hostname: '', pid: 1, details: null }),
  ),
  worker.map(
    (id): Step =>
      (store) =>
        store.removeNode(id),
  ),
  fc
    .record({
      instancesEndedBefore: time,
      untoldEndedBefore: time,
      eventsPublishedBefore: time,
      activitiesDoneBefore: time,
      limit,
    })
    .map(
      (request): Step =>
        (store) =>
          store.purge(request),
    ),
  fc.constant<Step>((store) => store.statistics()),
];

/** Any operation of the contract. */
export const anyOperation: fc.Arbitrary<Step> = fc.oneof(
  ...instances,
  ...ACTIVITY_OPERATIONS,
  ...PLACE_OPERATIONS,
  ...others,
);
