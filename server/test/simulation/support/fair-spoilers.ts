/** The store without one of the safeguards of fairness; see spoilers.ts. */
import type { SideRecords } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';

function withOneKey(side: SideRecords): SideRecords {
  const fairness = { key: 'one', weight: 1 };
  return { ...side, activities: side.activities.map((item) => ({ ...item, fairness })) };
}

export const FAIR_SPOILERS = {
  'work items are stored with one fairness key': (store) => ({
    ...store,
    insertInstance: (insert) => store.insertInstance({ ...insert, side: withOneKey(insert.side) }),
    commitInstance: (commit) => store.commitInstance({ ...commit, side: withOneKey(commit.side) }),
  }),
} satisfies Readonly<Record<string, (store: Store) => Store>>;
