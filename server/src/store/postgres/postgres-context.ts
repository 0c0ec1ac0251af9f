/** The dependencies of every operation. */
import type { CountedInserts } from '../counted-inserts.js';
import type { GroupCommit } from '../group-commit.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { ClaimedActivity } from '../records/activities.js';
import type {
  CommitOutcome,
  InsertInstance,
  InstanceCommit,
  InstanceRecord,
} from '../records/instances.js';
import type { InsertedEvent, MessageClaimer, PostedMessage } from '../records/posted-messages.js';
import type { LimitKey } from '../records/slots.js';
import type { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import type { Database } from './database.js';

/** A message, and who claims its instance. */
export type Message = OperationArguments<'postMessages'>[0][number] & {
  readonly claimer?: MessageClaimer | undefined;
};
export type EventInsert = OperationArguments<'insertEvent'>;
export type DeliveredEvent = Pick<InsertedEvent, 'posted' | 'delivery'>;
export type Claim = OperationArguments<'claimInstance'>[0];
export type ActivityClaimRequest = OperationArguments<'claimActivity'>[0];
export type ActivityCompletion = OperationArguments<'completeActivity'>[0];

export type SlotInsertOutcome =
  | 'inserted'
  | 'not-inserted'
  | Extract<OperationResult<'insertInstance'>, { outcome: 'no-slots' }>
  | { readonly outcome: 'inserted'; readonly waits: readonly LimitKey[] };

/** Operations that share a statement with others of their kind; each module creates its own. */
export interface Groups {
  readonly inserts: GroupCommit<InsertInstance, 'inserted' | 'not-inserted'>;
  readonly commits: GroupCommit<InstanceCommit, 'committed' | 'lost'>;
  /** Those that change slots. */
  readonly slotInserts: GroupCommit<InsertInstance, SlotInsertOutcome>;
  readonly slotCommits: GroupCommit<InstanceCommit, CommitOutcome>;
  readonly messages: GroupCommit<readonly Message[], readonly (PostedMessage | null)[]>;
  readonly reads: GroupCommit<string, InstanceRecord | null>;
  readonly claims: GroupCommit<Claim, OperationResult<'claimInstance'>>;
  readonly activityClaims: GroupCommit<ActivityClaimRequest, ClaimedActivity>;
  readonly completions: GroupCommit<ActivityCompletion, OperationResult<'completeActivity'>>;
  /** Null if the event exists. */
  readonly events: GroupCommit<EventInsert, DeliveredEvent | null>;
}

export interface PostgresContext {
  readonly database: Database;
  readonly groups: Groups;
  readonly countedInserts: CountedInserts;
  readonly references: KeyedMutex;
  /** Reads the server's time, for nodes that use its clock. */
  readonly readServerTime: () => Promise<void>;
}
