/** The store of a simulation: in memory, with what the real ones may do. */
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { EventRecord } from '../../../src/store/records/events.js';
import type { InboxMessage } from '../../../src/store/records/messages.js';
import type {
  InsertEventResult,
  MessageClaimer,
} from '../../../src/store/records/posted-messages.js';
import type { Store } from '../../../src/store/store.js';

const SUBSCRIPTIONS_SEEN_MAX = 8;
/** As many as `hasNotification` repeats after. */
const SEEDS_OF_EACH_KIND = 17;

/**
 * Events are stored as on SQLite, as on MongoDB (they are not posted) or as on PostgreSQL (they are posted to the
 * subscriptions that were there a moment before). Half of the starts do not look at the events in the same step. Messages
 * about runs are stored with half of the seeds as on MongoDB (through the outbox), and else as on the others (in the commit).
 */
export function createSimulatedStore(seed: number): Store {
  const store = createMemoryStore();
  const lastOf = (id: string): number => id.codePointAt(id.length - 1) ?? 0;
  const isHalf = (id: string): boolean => lastOf(id) % 2 === 0;
  return {
    ...store,
    storesDeliveries: Math.floor(seed / SEEDS_OF_EACH_KIND) % 2 === 0,
    insertEvent: async (event, message, claimer) => {
      const way = lastOf(event.id) % 3;
      if (way === 0 || message === undefined) return store.insertEvent(event, message, claimer);
      if (way === 1) return store.insertEvent(event);
      return insertUnconfirmed(store, event, message, claimer);
    },
    insertInstance: async (insert) => {
      const result = await store.insertInstance(insert);
      const isUnknown = result.outcome === 'inserted' && isHalf(insert.record.id);
      return isUnknown ? { outcome: 'inserted' } : result;
    },
  };
}

/** Half of the time, misses the newest subscription, which was stored while the event was. */
async function insertUnconfirmed(
  store: Store,
  event: EventRecord,
  message: InboxMessage,
  claimer: MessageClaimer | undefined,
): Promise<InsertEventResult> {
  const { id, nameKey, publishedAt } = event;
  const found = await store.findSubscriptions(nameKey, publishedAt, null, SUBSCRIPTIONS_SEEN_MAX);
  const inserted = await store.insertEvent(event);
  if (inserted.outcome === 'exists') return inserted;
  const seen = found.slice(0, found.length - ((id.codePointAt(id.length - 2) ?? 0) % 2));
  const instanceIds = [...new Set(seen.map(({ instanceId }) => instanceId))];
  const messages = instanceIds.map((instanceId) => ({ instanceId, message }));
  const posted = (await store.postMessages(messages, claimer)).filter((answer) => answer !== null);
  const isToAll = found.length < SUBSCRIPTIONS_SEEN_MAX && posted.length === instanceIds.length;
  return { outcome: 'inserted', posted, delivery: isToAll ? 'unconfirmed' : 'partial' };
}
