/** The contents of the memory store. Records are never changed in place: a change puts a new record into the map. */
import type { ActivityRecord, ActivityResult } from '../records/activities.js';
import type { BulkJobRecord } from '../records/bulk-jobs.js';
import { type AuditEntry, AUDIT_ENTRIES_MAX } from '../records/control.js';
import type {
  DefinitionRecord,
  IdempotencyStamp,
  StepScriptRecord,
} from '../records/definitions.js';
import type { EventRecord, SubscriptionRecord } from '../records/events.js';
import type { HistoryRecord, InstanceRecord } from '../records/instances.js';
import type { NodeRecord } from '../records/nodes.js';
import type { DeliveryRecord, NotificationRecord } from '../records/notifications.js';
import type { ResourceRecord } from '../records/resources.js';
import type { LimitKey, NeededSlot, SlotWait } from '../records/slots.js';
import type { TriggerRecord } from '../records/triggers.js';
import type { TurnRecord } from '../records/turns.js';

export interface StoredActivity {
  readonly record: ActivityRecord;
  /** Skipped because its instance wasn't Runnable; resuming the instance makes it available again. */
  readonly deferred: boolean;
  readonly result: ActivityResult | null;
  readonly doneAt: number | null;
  /** Either a commit has applied the result, or none ever will; before it is done: withdrawn. */
  readonly settled: boolean;
}

/** A slot that an execution has taken; whether it holds it depends on its instance, and on the claim of its item. */
export interface HeldSlot extends NeededSlot {
  readonly execution: string;
  readonly instanceId: string;
  readonly isActivity: boolean;
}

export interface StoredWait extends Omit<SlotWait, 'on'> {
  readonly on: LimitKey;
  /** `offered`: its item can be claimed. `granted`: it has its slots, and hasn't begun. */
  readonly state: 'waiting' | 'offered' | 'granted';
  /** Null: it isn't an item of an activity. */
  readonly activityName: string | null;
  /** When it may begin, once it is granted. */
  readonly at: number;
}

export interface StoredEvent extends EventRecord {
  readonly takenBy: readonly string[];
}

/** See joined-starts.ts. */
interface KeptJoin {
  readonly requestHash: string;
  readonly joinedAt: number;
  /** As it was then. */
  readonly record: InstanceRecord;
  readonly byWindow?: true;
}

export interface MemoryData {
  /** By id; a version's number is its position plus one. */
  readonly definitions: Map<string, readonly DefinitionRecord[]>;
  /** By version and id. */
  readonly definitionSources: Map<string, string>;
  readonly definitionStamps: Map<
    string,
    { readonly stamp: IdempotencyStamp; readonly record: DefinitionRecord }
  >;
  /** Ids of definitions. */
  readonly disabled: Set<string>;
  readonly stepScripts: Map<string, readonly StepScriptRecord[]>;
  readonly instances: Map<string, InstanceRecord>;
  /** The inputs of instances, by id. */
  readonly inputs: Map<string, string>;
  /** Starts that joined an instance, by the id that they gave. */
  readonly joinedStarts: Map<string, KeptJoin>;
  /** By instance, then by sequence number. */
  readonly history: Map<string, Map<number, HistoryRecord>>;
  readonly subscriptions: Map<string, SubscriptionRecord>;
  readonly activities: Map<string, StoredActivity>;
  readonly events: Map<string, StoredEvent>;
  /** By instance, oldest first. */
  readonly actions: Map<string, readonly AuditEntry[]>;
  readonly bulkJobs: Map<string, BulkJobRecord>;
  /** By job, then by position. */
  readonly bulkIds: Map<string, Map<number, string>>;
  /** By name. */
  readonly notifications: Map<string, NotificationRecord>;
  readonly deliveries: Map<string, DeliveryRecord>;
  readonly triggers: Map<string, TriggerRecord>;
  /** By kind and name. */
  readonly resources: Map<string, ResourceRecord>;
  readonly nodes: Map<string, NodeRecord>;
  /** By execution and limit. */
  readonly slots: Map<string, HeldSlot>;
  /** By execution. */
  readonly slotWaits: Map<string, StoredWait>;
  /** By limit and key: until when the rate is spent, see rates.ts. */
  readonly rates: Map<string, number>;
  /** By queue, priority and fairness key. */
  readonly turns: Map<string, TurnRecord>;
}

export function emptyMemoryData(): MemoryData {
  return {
    definitions: new Map(),
    definitionSources: new Map(),
    definitionStamps: new Map(),
    disabled: new Set(),
    stepScripts: new Map(),
    instances: new Map(),
    inputs: new Map(),
    joinedStarts: new Map(),
    history: new Map(),
    subscriptions: new Map(),
    activities: new Map(),
    events: new Map(),
    actions: new Map(),
    bulkJobs: new Map(),
    bulkIds: new Map(),
    notifications: new Map(),
    deliveries: new Map(),
    triggers: new Map(),
    resources: new Map(),
    nodes: new Map(),
    slots: new Map(),
    slotWaits: new Map(),
    rates: new Map(),
    turns: new Map(),
  };
}

/** Records an action on an instance. */
export function noteAction(
  data: MemoryData,
  instanceId: string,
  entry: AuditEntry | undefined,
): void {
  if (entry === undefined) return;
  const { time, actor, action, detail } = entry;
  const entries = [...(data.actions.get(instanceId) ?? []), { time, actor, action, detail }];
  data.actions.set(instanceId, entries.slice(-AUDIT_ENTRIES_MAX));
}
