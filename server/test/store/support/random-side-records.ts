/** Random records that are stored with an instance. */
import fc from 'fast-check';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import type { SideRecords } from '../../../src/store/records/instances.js';
import { claimBy, NO_SIDE } from '../records.js';
import {
  activityId,
  activityName,
  fairness,
  instanceId,
  optional,
  priority,
  small,
  text,
  time,
  worker,
} from './random-values.js';

const activity: fc.Arbitrary<NewActivityRecord> = fc
  .record({
    id: activityId,
    name: activityName,
    parameters: text,
    priority,
    createdAt: time,
    fairness,
    by: optional(worker),
    lease: time,
  })
  .map(({ by, fairness: fair, lease, id, ...rest }) => ({
    ...rest,
    ...(fair !== null && { fairness: fair }),
    id,
    instanceId: id.slice(0, 1),
    ...(by === null ? {} : { claim: claimBy(by, lease) }),
  }));

export const side: fc.Arbitrary<SideRecords> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(NO_SIDE) },
  fc.record({
    // A pass gives each record its own id.
    history: fc.uniqueArray(fc.record({ instanceId, sequence: small, body: text }), {
      maxLength: 2,
      selector: (record) => `${record.instanceId}/${record.sequence}`,
    }),
    subscriptions: fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('s1', 's2', 's3'),
        instanceId,
        nameKey: fc.constantFrom('paid/7', 'paid/8'),
        effectiveAt: time,
      }),
      { maxLength: 2, selector: ({ id }) => id },
    ),
    activities: fc.uniqueArray(activity, { maxLength: 3, selector: ({ id }) => id }),
  }),
);
