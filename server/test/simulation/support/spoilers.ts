/** The store without one safeguard. With each of them the simulation must find a violation. */
import { FAR_FUTURE_MS, type Store } from '../../../src/store/store.js';
import type { ActivityClaim } from '../../../src/store/records/activities.js';
import type {
  CommitOutcome,
  InstanceCommit,
  InstanceRecord,
  SideRecords,
} from '../../../src/store/records/instances.js';
import { DEBOUNCE_SPOILERS } from './debounce-spoilers.js';
import { FAIR_SPOILERS } from './fair-spoilers.js';
import { PLACE_SPOILERS } from './place-spoilers.js';
import { QUEUE_SPOILERS } from './queue-spoilers.js';
import { SLOT_SPOILERS } from './slot-spoilers.js';
import { OVERFLOW_MESSAGE, type InboxMessage } from '../../../src/store/records/messages.js';

const LONG_LEASE_MS = 10_000;

/** Writes a commit whatever it expects, by expecting the current values. */
async function commitBlindly(store: Store, commit: InstanceCommit): Promise<CommitOutcome> {
  const record = await store.getInstance(commit.id);
  if (record === null) return 'lost';
  const { epoch, inSeq, revision } = record;
  return store.commitInstance({ ...commit, epoch, inSeq, revision });
}

/** Leases that workers request are shorter than the initial one of a claim without a lease. */
function holdForever(claim: ActivityClaim, now: number): ActivityClaim {
  const isWithoutLease = claim.leaseExpiresAt - now >= LONG_LEASE_MS;
  return isWithoutLease ? { ...claim, leaseExpiresAt: FAR_FUTURE_MS } : claim;
}

function holdItems(side: SideRecords): SideRecords {
  const activities = side.activities.map(({ claim, ...item }) => {
    return claim === undefined ? item : { ...item, claim: holdForever(claim, item.createdAt) };
  });
  return { ...side, activities };
}

export const SPOILERS: Readonly<Record<string, (store: Store) => Store>> = {
  'a node that lost an instance can still commit it (epoch and revision)': (store) => ({
    ...store,
    commitInstance: async (commit) => {
      const record = await store.getInstance(commit.id);
      if (record?.inSeq !== commit.inSeq) return 'lost';
      return commitBlindly(store, commit);
    },
  }),
  'a commit overwrites messages that it has not seen (inSeq)': (store) => ({
    ...store,
    commitInstance: async (commit) => {
      const record = await store.getInstance(commit.id);
      if (record?.epoch !== commit.epoch || record.revision !== commit.revision) return 'lost';
      return commitBlindly(store, commit);
    },
  }),
  'a commit is stored without the messages about it (S11)': (store) => ({
    ...store,
    commitInstance: (commit) => store.commitInstance({ ...commit, deliveries: [] }),
  }),
  'a run keeps its version when a modification moves it': (store) => ({
    ...store,
    commitInstance: async (commit) => {
      const version = (await store.getInstance(commit.id))?.version;
      return store.commitInstance(version === undefined ? commit : { ...commit, version });
    },
  }),
  'a wait ignores the stored events': (store) => ({
    ...store,
    findEvents: () => Promise.resolve([]),
  }),
  'nothing reminds of the messages that do not fit (S8)': (store) => {
    const isReminder = ({ id }: InboxMessage): boolean => id === OVERFLOW_MESSAGE.id;
    // The monitor compares objects: the same record must stay the same object.
    const forgetful = new WeakMap<InstanceRecord, InstanceRecord>();
    const forget = (record: InstanceRecord | null): InstanceRecord | null => {
      if (record?.inbox.some(isReminder) !== true) return record;
      const known = forgetful.get(record) ?? {
        ...record,
        inbox: record.inbox.filter((message) => !isReminder(message)),
      };
      forgetful.set(record, known);
      return known;
    };
    return {
      ...store,
      getInstance: async (id) => forget(await store.getInstance(id)),
      claimInstance: async (claim) => forget(await store.claimInstance(claim)),
      postMessages: async (...request) => {
        const posted = await store.postMessages(...request);
        return posted.map((answer) => (answer?.overflowed === true ? null : answer));
      },
    };
  },
  'a start that a trigger repeats starts another run (TG1)': (store) => ({
    ...store,
    insertInstance: async (insert) => {
      const { id, startedBy } = insert.record;
      const isRepeated = startedBy !== null && (await store.getInstance(id)) !== null;
      if (!isRepeated) return store.insertInstance(insert);
      return store.insertInstance({ ...insert, record: { ...insert.record, id: `${id}-again` } });
    },
  }),
  'an event counts as delivered before its triggers have started their runs': (store) => ({
    ...store,
    findEventTriggers: async (...query) => {
      const found = await store.findEventTriggers(...query);
      return found.slice(0, found.length - 1);
    },
  }),
  'a message that is queued again has another id (NT2)': (store) => {
    let queued = 0;
    return {
      ...store,
      insertDeliveries: (deliveries) =>
        store.insertDeliveries(
          deliveries.map((delivery) => ({ ...delivery, id: `${delivery.id}-${(queued += 1)}` })),
        ),
    };
  },
  'a delivery counts as made before it is (at least once)': (store) => ({
    ...store,
    claimDeliveries: async (...claim) => {
      const claimed = await store.claimDeliveries(...claim);
      for (const { attempts, id } of claimed) {
        const at = { dueAt: 0, endedAt: 0, answer: null };
        await store.saveDelivery({ id, attempts, state: 'delivered', ...at });
      }
      return claimed;
    },
  }),
  'a publisher ignores the waiting subscriptions': (store) => ({
    ...store,
    findSubscriptions: () => Promise.resolve([]),
  }),
  'subscriptions that the insert of an event has missed are not searched for': (store) => ({
    ...store,
    markEventsDelivered: (deliveries) =>
      store.markEventsDelivered(deliveries.map((each) => ({ ...each, isConfirmed: true }))),
  }),
  'the work of a dead node is not taken over': (store) => ({
    ...store,
    findInstancesUnderWay: () => Promise.resolve([]),
    findChangedInstances: () => Promise.resolve([]),
  }),
  'no node scans for due instances': (store) => ({
    ...store,
    findDueInstances: (before, limit, after) =>
      // The check at the end calls with a different limit from that of the runner.
      limit === 1 ? store.findDueInstances(before, limit, after) : Promise.resolve([]),
  }),
  'partially delivered events are never completed': (store) => ({
    ...store,
    findUndeliveredEvents: () => Promise.resolve([]),
  }),
  'a repeated start resets the existing run': (store) => ({
    ...store,
    insertInstance: async (insert) => {
      const { id } = insert.record;
      const existing = await store.getInstance(id);
      if (existing === null) return store.insertInstance(insert);
      const { epoch, inSeq, revision } = existing;
      const { state, status, outcome, endTime, lastChangeAt, errorAt, wakeAt, schemaVersion } =
        insert.record;
      const { failingSince, failure, underWay } = insert.record;
      const times = { endTime, lastChangeAt, errorAt, failingSince, wakeAt };
      const anew = {
        status,
        outcome,
        failure,
        ...times,
        underWay,
        state,
        schemaVersion,
        side: insert.side,
      };
      const removals = { removeSubscriptions: [], removeActivities: [], settleActivities: [] };
      await store.commitInstance({ id, epoch, inSeq, revision, ...anew, ...removals });
      return { outcome: 'inserted' };
    },
  }),
  'a result is accepted from any caller': (store) => ({
    ...store,
    completeActivity: async (request) => {
      const outcome = await store.completeActivity(request);
      if (outcome.outcome !== 'stale') return outcome;
      return { outcome: 'repeated' };
    },
  }),
  ...QUEUE_SPOILERS,
  ...DEBOUNCE_SPOILERS,
  ...PLACE_SPOILERS,
  ...SLOT_SPOILERS,
  ...FAIR_SPOILERS,
  'work without a lease is held from the claim on': (store) => ({
    ...store,
    claimActivity: (request) => {
      const claim = holdForever(request.claim, request.now);
      return store.claimActivity({ ...request, claim });
    },
    // A worker that already polls is assigned its item in the commit that offers it.
    insertInstance: (insert) => store.insertInstance({ ...insert, side: holdItems(insert.side) }),
    commitInstance: (commit) => store.commitInstance({ ...commit, side: holdItems(commit.side) }),
  }),
};
