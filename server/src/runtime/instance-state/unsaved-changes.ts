/**
 * The changes that a session has requested and no commit has saved yet.
 *
 * They outlive a commit that is lost to a message: the next commit contains all of them again. Every change is idempotent by
 * id, so saving it twice is harmless.
 */
import { writeJson } from '../../engine/values/exact-json.js';
import { noChanges, type Changes, type Session } from '../../engine/session/session.js';
import type { Instance } from '../../engine/model/instance.js';
import type { StepRecord } from '../../engine/model/step-record.js';
import type { ActivityClaim, NewActivityRecord } from '../../store/records/activities.js';
import type { HistoryRecord, SideRecords } from '../../store/records/instances.js';
import type { SubscriptionRecord } from '../../store/records/events.js';
import type { LimitKey, SlotChanges, SlotRequest } from '../../store/records/slots.js';
import { nameKeyOf } from '../../base/ids.js';
import { writeWork } from './message-codec.js';

/** Records beyond this number move from the state to the history, so that the state doesn't grow in a loop. */
const RECENT_RECORDS_MAX = 64;

export interface ReservedActivity {
  readonly id: string;
  readonly name: string;
  /** Of its parameters, in characters. */
  readonly length: number;
  readonly needsSlots: boolean;
}

/**
 * Workers that are waiting on this node. A new activity can be assigned to one directly, which saves a write and a search.
 */
export interface WorkerReservations {
  reserve(activity: ReservedActivity): ActivityClaim | null;
  /** Called if the activity won't be offered: its worker continues to wait. */
  release(activityId: string): void;
  /** Called if the store refuses the slots of the activity. Its worker continues to wait. */
  refused(activityId: string): void;
}

export function noSideRecords(): SideRecords {
  return { history: [], subscriptions: [], activities: [] };
}

export class UnsavedChanges {
  #history: HistoryRecord[] = [];
  #subscriptions = new Map<string, SubscriptionRecord>();
  #activities = new Map<string, NewActivityRecord>();
  #removedSubscriptions: string[] = [];
  #removedActivities: string[] = [];
  #settledActivities: string[] = [];
  readonly #takenSlots = new Map<string, SlotRequest>();
  readonly #slotWaits = new Map<string, SlotChanges['wait'][number]>();
  #begunSlots: string[] = [];
  #freedSlots: SlotRequest[] = [];
  #repairs: Changes['repairs'] = [];
  #joins: Changes['joins'] = [];
  #logLines: Changes['logLines'] = [];
  #failedAttempts: Changes['failedAttempts'] = [];
  #endedAttempts: Changes['endedAttempts'] = [];
  #endedWaits: Changes['endedWaits'] = [];
  #endedSlotWaits: Changes['endedSlotWaits'] = [];

  /** True if the commit found no stored event for the instance's waits. */
  noEvents = false;
  /** Keys of limits at which the commit requires a look: see `SlotOutcome`. */
  limitKeys: readonly LimitKey[] = [];
  /** True once a commit contained these changes: the store may have parts of them although the commit was lost. */
  #attempted = false;

  /** Collects the session's changes and clears them there. */
  collect(session: Session, workers: WorkerReservations): void {
    const { changes, instance } = session;
    session.changes = {
      ...noChanges(),
      effects: changes.effects,
      abortedEffects: changes.abortedEffects,
    };
    for (const { id, name, key, effectiveAt } of changes.subscriptions) {
      const nameKey = nameKeyOf(name, key);
      this.#subscriptions.set(id, { id, instanceId: instance.id, nameKey, effectiveAt });
    }
    for (const id of changes.removedSubscriptions) {
      const wasUnsaved = this.#subscriptions.delete(id);
      if (!wasUnsaved || this.#attempted) this.#removedSubscriptions.push(id);
    }
    this.#offer(session, changes.activities, workers);
    this.#prioritize(instance);
    for (const id of changes.removedActivities) {
      workers.release(id);
      const wasUnsaved = this.#activities.delete(id);
      if (!wasUnsaved || this.#attempted) this.#removedActivities.push(id);
    }
    this.#settledActivities.push(...changes.settledActivities);
    this.#collectSlots(changes);
    this.#repairs.push(...changes.repairs);
    this.#joins.push(...changes.joins);
    this.#logLines.push(...changes.logLines);
    this.#failedAttempts.push(...changes.failedAttempts);
    this.#endedAttempts.push(...changes.endedAttempts);
    this.#endedWaits.push(...changes.endedWaits);
    this.#endedSlotWaits.push(...changes.endedSlotWaits);
    if (instance.recent.length > RECENT_RECORDS_MAX) this.#spill(session, instance.recent);
  }

  markAttempted(): void {
    this.#attempted = true;
  }

  get activityIds(): readonly string[] {
    return [...this.#activities.keys()];
  }

  get side(): SideRecords {
    return {
      history: this.#history,
      subscriptions: [...this.#subscriptions.values()],
      activities: [...this.#activities.values()],
    };
  }

  get removals(): {
    readonly removeSubscriptions: readonly string[];
    readonly removeActivities: readonly string[];
    readonly settleActivities: readonly string[];
  } {
    return {
      removeSubscriptions: this.#removedSubscriptions,
      removeActivities: this.#removedActivities,
      settleActivities: this.#settledActivities,
    };
  }

  /** Undefined if no step needs slots. */
  get slots(): SlotChanges | undefined {
    const take = [...this.#takenSlots.values()];
    const wait = [...this.#slotWaits.values()];
    const [begun, free] = [this.#begunSlots, this.#freedSlots];
    const count = take.length + wait.length + begun.length + free.length;
    return count === 0 ? undefined : { take, wait, begun, free };
  }

  /** Called when the store refuses slots to these executions. Items among them are offered without a claim. */
  slotsRefused(executions: readonly string[], workers: WorkerReservations): void {
    for (const execution of executions) {
      this.#takenSlots.delete(execution);
      const item = this.#activities.get(execution);
      if (item?.claim === undefined) continue;
      workers.refused(execution);
      this.#activities.set(execution, withoutClaim(item));
    }
  }

  /** The modifications that were applied. */
  get repairs(): Changes['repairs'] {
    return this.#repairs;
  }

  /** Starts that were sent to the instance. */
  get joins(): Changes['joins'] {
    return this.#joins;
  }

  get failedAttempts(): Changes['failedAttempts'] {
    return this.#failedAttempts;
  }

  get endedAttempts(): Changes['endedAttempts'] {
    return this.#endedAttempts;
  }

  get endedWaits(): Changes['endedWaits'] {
    return this.#endedWaits;
  }

  get endedSlotWaits(): Changes['endedSlotWaits'] {
    return this.#endedSlotWaits;
  }

  get logLines(): Changes['logLines'] {
    return this.#logLines;
  }

  #collectSlots(changes: Changes): void {
    for (const request of changes.takenSlots) this.#takenSlots.set(request.execution, request);
    for (const wait of changes.waitingSlots) this.#slotWaits.set(wait.execution, wait);
    this.#begunSlots.push(...changes.begunSlots);
    for (const request of changes.freedSlots) {
      const wasTaken = this.#takenSlots.delete(request.execution);
      const wasUnsaved = this.#slotWaits.delete(request.execution) || wasTaken;
      if (!wasUnsaved || this.#attempted) this.#freedSlots.push(request);
    }
  }

  #offer(session: Session, offers: Changes['activities'], workers: WorkerReservations): void {
    const { fairness, id: instanceId, trace } = session.instance;
    const traced = trace === undefined ? {} : { trace };
    for (const { id, name, needs, ...work } of offers) {
      const parameters = writeWork({ ...work, ...traced });
      const claim = workers.reserve({
        id,
        name,
        length: parameters.length,
        needsSlots: needs !== undefined,
      });
      this.#activities.set(id, {
        id,
        instanceId,
        name,
        parameters,
        priority: session.instance.priority,
        ...(fairness !== null && { fairness }),
        createdAt: session.now,
        ...(needs !== undefined && { needs }),
        ...(claim === null ? {} : { claim }),
      });
    }
  }

  /** The priority may have changed since a commit that was lost. */
  #prioritize({ priority }: Instance): void {
    for (const [id, activity] of this.#activities) {
      if (activity.priority !== priority) this.#activities.set(id, { ...activity, priority });
    }
  }

  #spill(session: Session, records: readonly StepRecord[]): void {
    const { instance } = session;
    for (const [offset, record] of records.entries()) {
      this.#history.push({
        instanceId: instance.id,
        sequence: instance.spilled + offset,
        body: writeJson(record),
      });
    }
    instance.spilled += records.length;
    instance.recent = [];
  }
}

function withoutClaim(item: NewActivityRecord): NewActivityRecord {
  const unclaimed: { -readonly [Member in keyof NewActivityRecord]: NewActivityRecord[Member] } = {
    ...item,
  };
  delete unclaimed.claim;
  return unclaimed;
}
