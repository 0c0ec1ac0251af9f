/**
 * The store: everything durable, behind one contract.
 *
 * Owns: documents and the atomicity of single operations. Must not know: what the opaque `state`, `data` and `body` texts
 * mean, and how workflows run.
 *
 * Rules that every adapter follows (numbered; test/store/ cites them):
 *  S1 A resolved write is durable: it survives kill -9 of the server.
 *  S2 `commitInstance` and `claimInstance` are compare-and-set: of any number of concurrent callers with the same
 *     expectation, one wins.
 *  S3 `postMessages` appends, increments `inSeq` and sets `wakeAt` to 0 in one atomic step, once for each message id, and
 *     only while the instance is Runnable or Suspended.
 *  S4 The side records of a commit or an insert (history, subscriptions, activities) are written before the instance
 *     document that needs them, and are removed after it. All are idempotent by id.
 *  S5 A write that fails with `StoreUnavailableError` may or may not have happened. Callers read back.
 *  S6 User data is stored as opaque text: no key or value in it has a meaning to the store.
 *  S7 Every read is bounded by a limit and served by an index.
 *  S8 An inbox is bounded (`INBOX_BYTES_MAX`). A message that does not fit is not added. Instead, in the same step, the inbox
 *     gets `OVERFLOW_MESSAGE`, `inSeq` is incremented and `wakeAt` is set to 0, so that the instance searches for what it
 *     missed. If the inbox has the overflow message already, nothing changes: the commit that removes it has seen it (S2),
 *     and the instance searches only after that commit (R13). So no number of messages keeps an instance with a full inbox
 *     from committing. Control actions always fit.
 *  S9 Once `setDefinitionDisabled` has resolved, no insert that begins later, through any store object, inserts an instance
 *     of a disabled definition.
 *  S10 Inserts with a conflict rule that have the same definition and reference take effect one after another, on all
 *     nodes: each one sees the instances of those before it. A caller that died in between blocks no other.
 *  S11 The deliveries of a commit or an insert are stored in the same atomic step, and not at all if it changes nothing. Only
 *     stores that can write several records in one step do this, see `storesDeliveries`.
 *  S12 A write that the database refuses because of its data fails with `StoreRefusedError`, alone: others of the same moment
 *     happen.
 *  S13 A step that adds a message for a claimer also claims the instance (owner, `epoch` + 1) if it rested, and belonged to one
 *     of the claimer's `from`. There is no moment between message and claim: of any number of concurrent callers, only the one
 *     whose message came first claims. MongoDB claims in this way only if a call has one message.
 *  S14 Inserts with a rule for places and grants of places that have the same definition and key take effect one after another,
 *     on all nodes: each one sees the places of those before it. So no more than the limit of each are held.
 *  S15 Commits, inserts and claims that take slots, and grants of slots, that have a limit and key in common take effect one after
 *     another, on all nodes. Slots are held by open instances and by items that a worker has, and by nothing else. The newest
 *     settings of a limit (its resource) hold.
 *  S16 Inserts with a window that have the same definition and key take effect one after another, on all nodes: each one sees the
 *     windows of those before it. An instance has an open window from its insert until a commit closes it, or it ends. So no two
 *     open instances of a definition have the same `debounceKey`.
 *  S17 Among what is in one queue with the same priority, fairness keys take turns in proportion to their weights, on all nodes; what
 *     has no key is one group. A queue is an activity name, the line of a limit and key, or those that wait for a place of a key.
 *     Turns are charged when something is handed out, and a key that had nothing in the queue starts at the present. If more than
 *     `TURNS_TRIED_MAX` keys have nothing that can be handed out, the oldest goes. See records/turns.ts.
 *
 * Times are milliseconds since 1970, from the caller's clock. Callers create the ids. `contract/` has the operations,
 * `records/` the stored records, with one file for each noun.
 */
import { AppError } from '../base/errors.js';
import type { Service } from '../base/service.js';
import type { ActivityStore } from './contract/activities.js';
import type { BulkJobStore } from './contract/bulk-jobs.js';
import type { DefinitionStore } from './contract/definitions.js';
import type { EventStore } from './contract/events.js';
import type { HousekeepingStore } from './contract/housekeeping.js';
import type { InstanceStore } from './contract/instances.js';
import type { NotificationStore } from './contract/notifications.js';
import type { ResourceStore } from './contract/resources.js';
import type { SlotStore } from './contract/slots.js';
import type { TriggerStore } from './contract/triggers.js';

/** The store cannot be reached or did not respond in time; the outcome of the operation is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError' as const;
}

/**
 * The database refuses the data of the operation, and would refuse it again: a value is too long, too large, or has characters
 * that the database does not know. Nothing has happened, and repeating it helps nobody: callers end what they were doing with
 * this error as its outcome, and go on with other work.
 */
export class StoreRefusedError extends AppError {
  constructor(reason: string, cause: unknown) {
    super('invalid_data', `The database refuses to store this: ${reason}`, { cause });
  }
}

/** The largest time; "never" in an indexed field. 9999-12-31T23:59:59.999Z. */
export const FAR_FUTURE_MS = 253_402_300_799_999;

/** Each part of the contract is in `contract/`, one file for each noun. */
export interface Store
  extends
    Service,
    DefinitionStore,
    InstanceStore,
    ActivityStore,
    EventStore,
    BulkJobStore,
    NotificationStore,
    TriggerStore,
    ResourceStore,
    SlotStore,
    HousekeepingStore {
  readonly kind: 'sqlite' | 'mongo' | 'postgres' | 'memory';
  /** Whether commits and inserts may contain deliveries (rule S11). */
  readonly storesDeliveries: boolean;

  /** Resolves when the store responds. @throws StoreUnavailableError */
  ping(): Promise<void>;

  /** Tests with concurrent writers whether compare-and-set is really atomic here; some servers only claim it. */
  probeAtomicity(): Promise<boolean>;

  /**
   * Sends these texts to everyone who listens to the channel, together or not at all. Only of stores whose server can: a
   * backplane may use it. @throws StoreUnavailableError
   */
  notify?(channel: string, payloads: readonly string[]): Promise<void>;
}
