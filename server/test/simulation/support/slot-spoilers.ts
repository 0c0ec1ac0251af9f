/** The store without one of the safeguards of slots; see spoilers.ts. */
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import type { SlotChanges } from '../../../src/store/records/slots.js';
import type { Store } from '../../../src/store/store.js';

/** What begins is stored, and nothing is taken for it. */
function takeNothing(slots: SlotChanges | undefined): SlotChanges | undefined {
  return slots === undefined ? undefined : { ...slots, take: [] };
}

function withoutNeeds({ needs, ...item }: NewActivityRecord): NewActivityRecord {
  return needs === undefined ? item : item;
}

export const SLOT_SPOILERS = {
  'a commit takes slots without looking whether they are free (S15)': (store) => ({
    ...store,
    commitInstance: ({ slots, ...commit }) => {
      const taken = takeNothing(slots);
      return store.commitInstance(taken === undefined ? commit : { ...commit, slots: taken });
    },
  }),
  'the insert of an instance takes no slots (S15)': (store) => ({
    ...store,
    insertInstance: ({ slots, ...insert }) => {
      const taken = takeNothing(slots);
      return store.insertInstance(taken === undefined ? insert : { ...insert, slots: taken });
    },
  }),
  'a commit does not say for which freed slots others wait': (store) => ({
    ...store,
    commitInstance: async (commit) => {
      const outcome = await store.commitInstance(commit);
      if (typeof outcome === 'string' || outcome.outcome !== 'committed') return outcome;
      return { ...outcome, waits: [] };
    },
  }),
  'a result does not say for which freed slots others wait': (store) => ({
    ...store,
    completeActivity: async (request) => {
      const completed = await store.completeActivity(request);
      return completed.outcome === 'accepted' ? { ...completed, waits: [] } : completed;
    },
  }),
  'a grant does not return those that were granted before and have not begun (LG1)': (store) => {
    const told = new Set<string>();
    return {
      ...store,
      grantSlots: async (request) => {
        const grants = await store.grantSlots(request);
        const begin = grants.begin.filter(({ execution }) => !told.has(execution));
        for (const { execution } of begin) told.add(execution);
        return { ...grants, begin };
      },
    };
  },
  'a grant does not say for which other keys some wait now': (store) => ({
    ...store,
    grantSlots: async (request) => ({ ...(await store.grantSlots(request)), moved: [] }),
  }),
  'a grant does not say when the rate allows the next one': (store) => ({
    ...store,
    grantSlots: async (request) => ({ ...(await store.grantSlots(request)), retryAt: null }),
  }),
  'a node that starts or finds another one dead looks at no key (LG2)': (store) => ({
    ...store,
    // The check at the end calls with a different limit from that of the node.
    findWaitedKeys: (after, limit) =>
      limit === 1 ? store.findWaitedKeys(after, limit) : Promise.resolve([]),
  }),
  'a claim takes no slots for its item': (store) => ({
    ...store,
    commitInstance: (commit) => {
      const activities = commit.side.activities.map(withoutNeeds);
      return store.commitInstance({ ...commit, side: { ...commit.side, activities } });
    },
  }),
} satisfies Readonly<Record<string, (store: Store) => Store>>;
