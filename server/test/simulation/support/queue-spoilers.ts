/** The store without one of the safeguards of queues; see spoilers.ts. */
import type { Store } from '../../../src/store/store.js';

export const QUEUE_SPOILERS = {
  'a start does not look for the runs with its reference (S10)': (store) => ({
    ...store,
    insertInstance: ({ conflict, ...insert }) =>
      store.insertInstance(
        conflict === undefined || conflict.action === 'queue' ? insert : { ...insert, conflict },
      ),
  }),
  'a queued start has its place by its own clock (S10)': (store) => ({
    ...store,
    insertInstance: ({ conflict, ...insert }) => {
      const isQueued = conflict?.action === 'queue' && conflict.queued;
      if (conflict === undefined || isQueued) return store.insertInstance(insert);
      return store.insertInstance({ ...insert, conflict });
    },
  }),
  'a queued run looks for none before it': (store) => ({
    ...store,
    findPredecessor: () => Promise.resolve(null),
  }),
  'the end of a run does not reach the one that waits for it': (store) => ({
    ...store,
    postMessages: async (messages, claimer) => {
      const isPlace = messages.some(({ message }) => message.id.startsWith('place-free/'));
      return isPlace ? messages.map(() => null) : store.postMessages(messages, claimer);
    },
  }),
  'a queued run does not look again if the one before it has ended in between': (store) => ({
    ...store,
    postMessages: async (messages, claimer) => {
      const posted = await store.postMessages(messages, claimer);
      return posted.map((answer, at) => {
        const { instanceId = '', message } = messages[at] ?? {};
        if (answer !== null || message?.id.startsWith('queue/') !== true) return answer;
        return { instanceId, inSeq: 0, epoch: 0, owner: null, rested: false };
      });
    },
  }),
} satisfies Readonly<Record<string, (store: Store) => Store>>;
