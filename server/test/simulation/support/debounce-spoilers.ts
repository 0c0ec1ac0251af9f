/** The store without one of the safeguards of debounced starts; see spoilers.ts. */
import type { InstanceCommit } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';

/** The state says that a start has joined, and lacks its data. */
function withoutLast(commit: InstanceCommit): InstanceCommit {
  // `writeState` wrote it.
  const state = JSON.parse(commit.state) as {
    readonly debounce?: { readonly data: string };
    readonly data: { readonly items?: readonly unknown[] };
  };
  const { items = [] } = state.data;
  if (state.debounce?.data !== 'list' || items.length < 3) return commit;
  const data = { ...state.data, items: items.slice(0, -1) };
  return { ...commit, state: JSON.stringify({ ...state, data }) };
}

function withoutWindow<Write extends { readonly window?: unknown }>({
  window,
  ...write
}: Write): Omit<Write, 'window'> {
  return window === undefined ? write : { ...write };
}

export const DEBOUNCE_SPOILERS = {
  'a start does not see the open window of its key (S16)': (store) => ({
    ...store,
    insertInstance: (insert) => store.insertInstance(withoutWindow(insert)),
  }),
  'a commit does not close the window of a run that begins': (store) => ({
    ...store,
    commitInstance: (commit) => store.commitInstance(withoutWindow(commit)),
  }),
  'a commit says that a start has joined, but lacks its data': (store) => ({
    ...store,
    commitInstance: (commit) => store.commitInstance(withoutLast(commit)),
  }),
  'a repeated start is not known to have been sent to a window': (store) => ({
    ...store,
    insertInstance: async (insert) => {
      const result = await store.insertInstance(insert);
      if (result.outcome !== 'joined-before' || result.byWindow !== true) return result;
      await store.forgetJoinedStart(insert.record.id, result.record.id);
      return store.insertInstance(insert);
    },
  }),
} satisfies Readonly<Record<string, (store: Store) => Store>>;
