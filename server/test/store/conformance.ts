/**
 * The contract suite: every adapter of the store passes it.
 *
 * Goal: the statements of store.ts, one by one, and concurrent callers that want the same thing.
 * Method: the test of an adapter provides a fixture that opens store objects on fresh data; the cases use only the
 * contract.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.js';
import { describeActivities } from './conformance/activities.js';
import { describeActivityLists } from './conformance/activity-lists.js';
import { describeAudit } from './conformance/audit.js';
import { describeBulkJobs } from './conformance/bulk-jobs.js';
import { describeConcurrency } from './conformance/concurrency.js';
import { describeDefinitions } from './conformance/definitions.js';
import { describeEvents } from './conformance/events.js';
import { describeFailures } from './conformance/failures.js';
import { describeFairLines } from './conformance/fair-lines.js';
import { describeFairness } from './conformance/fairness.js';
import { describeHousekeeping } from './conformance/housekeeping.js';
import { describeInboxBounds } from './conformance/inbox-bounds.js';
import { describeInstanceLists } from './conformance/instance-lists.js';
import { describeInstanceSearch } from './conformance/instance-search.js';
import { describeInstanceMessages } from './conformance/instance-messages.js';
import { describeInstances } from './conformance/instances.js';
import { describeKeptReferences } from './conformance/kept-references.js';
import { describeMessageClaims } from './conformance/message-claims.js';
import { describeNotifications } from './conformance/notifications.js';
import { describeOddValues } from './conformance/odd-values.js';
import { describePriorities } from './conformance/priorities.js';
import { describePlaces } from './conformance/places.js';
import { describeQueues } from './conformance/queues.js';
import { describeRefusedValues } from './conformance/refused-values.js';
import { describeSideRecords } from './conformance/side-records.js';
import { describeSlotActivities } from './conformance/slot-activities.js';
import { describeSlotClaims } from './conformance/slot-claims.js';
import { describeSlotsAtOnce } from './conformance/slots-at-once.js';
import { describeSlotGrants } from './conformance/slot-grants.js';
import { describeSlotRaces } from './conformance/slot-races.js';
import { describeSlotUse } from './conformance/slot-use.js';
import { describeSlotWaits } from './conformance/slot-waits.js';
import { describeSlots } from './conformance/slots.js';
import { describeStarts } from './conformance/starts.js';
import { describeTextSearch } from './conformance/text-search.js';
import { describeResources } from './conformance/resources.js';
import { describeTriggers } from './conformance/triggers.js';
import { describeTermRaces } from './conformance/term-races.js';
import { describeWindows } from './conformance/windows.js';
import { describeWithdrawals } from './conformance/withdrawals.js';

export interface StoreFixture {
  /** Started, on the same data as all others of this fixture. */
  readonly store: Store;
  /** Another store object on the same data, as another node has it. Always the same one; `close` stops it. */
  open(): Promise<Store>;
  /** How many terms belong to no instance. Absent: terms are a part of their instance. */
  strayTerms?(): Promise<number>;
  /** Removes all data; runs before every case. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** What the sections of the suite use; read inside a case. */
export interface StoreUnderTest {
  readonly store: Store;
  open(): Promise<Store>;
  strayTerms(): Promise<number>;
}

export function describeStore(title: string, createFixture: () => Promise<StoreFixture>): void {
  describe(`${title} (store contract)`, () => {
    let fixture: StoreFixture;
    beforeAll(async () => {
      fixture = await createFixture();
    });
    beforeEach(() => fixture.clear());
    afterAll(() => fixture.close());
    const underTest: StoreUnderTest = {
      get store() {
        return fixture.store;
      },
      open: () => fixture.open(),
      strayTerms: async () => (await fixture.strayTerms?.()) ?? 0,
    };

    it('answers a ping', async () => {
      await expect(underTest.store.ping()).resolves.toBeUndefined();
    });

    it('confirms that its own compare-and-set is atomic', async () => {
      await expect(underTest.store.probeAtomicity()).resolves.toBe(true);
    });

    describeDefinitions(underTest);
    describeInstances(underTest);
    describePriorities(underTest);
    describeFairness(underTest);
    describeFairLines(underTest);
    describePlaces(underTest);
    describeWindows(underTest);
    describeQueues(underTest);
    describeSlots(underTest);
    describeSlotGrants(underTest);
    describeSlotActivities(underTest);
    describeSlotClaims(underTest);
    describeSlotsAtOnce(underTest);
    describeSlotUse(underTest);
    describeSlotWaits(underTest);
    describeSlotRaces(underTest);
    describeInboxBounds(underTest);
    describeInstanceMessages(underTest);
    describeMessageClaims(underTest);
    describeInstanceLists(underTest);
    describeInstanceSearch(underTest);
    describeTermRaces(underTest);
    describeTextSearch(underTest);
    describeResources(underTest);
    describeTriggers(underTest);
    describeSideRecords(underTest);
    describeStarts(underTest);
    describeKeptReferences(underTest);
    describeActivities(underTest);
    describeActivityLists(underTest);
    describeWithdrawals(underTest);
    describeAudit(underTest);
    describeBulkJobs(underTest);
    describeEvents(underTest);
    describeFailures(underTest);
    describeHousekeeping(underTest);
    describeNotifications(underTest);
    describeOddValues(underTest);
    describeRefusedValues(underTest);
    describeConcurrency(underTest);
  });
}
