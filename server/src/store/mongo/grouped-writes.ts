/** The writes that share commands, by kind: each kind waits only for its own. */
import type { Collections } from './collections.js';
import type {
  ActivityDocument,
  HistoryDocument,
  InstanceDocument,
  SubscriptionDocument,
} from './documents.js';
import { GroupedCommits } from './grouped-commits.js';
import { GroupedInserts } from './grouped-inserts.js';

export interface GroupedWrites {
  readonly commits: GroupedCommits;
  readonly instances: GroupedInserts<InstanceDocument>;
  readonly history: GroupedInserts<HistoryDocument>;
  readonly subscriptions: GroupedInserts<SubscriptionDocument>;
  readonly activities: GroupedInserts<ActivityDocument>;
}

export function groupedWritesOf(collections: Collections): GroupedWrites {
  return {
    commits: new GroupedCommits(collections),
    instances: new GroupedInserts(collections.instances, ({ state }) => state),
    history: new GroupedInserts(collections.history, ({ body }) => body),
    subscriptions: new GroupedInserts(collections.subscriptions, ({ nameKey }) => nameKey),
    activities: new GroupedInserts(collections.activities, ({ parameters }) => parameters),
  };
}
