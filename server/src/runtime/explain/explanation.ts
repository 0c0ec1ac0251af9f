/** Types of explanations: the facts about a waiting instance, and the explanation derived from them. */
import type { AuditAction, AuditEntry } from '../../store/records/control.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { Instance } from '../../engine/model/instance.js';
import type { StepError } from '../../engine/model/step-record.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { LimitRule } from '../../store/records/rates.js';
import type { SlotPosition } from '../../store/records/slots.js';
import type { ActivityRecord } from '../../store/records/activities.js';
import type { InstanceOutcome, InstanceStatus } from '../../store/records/instances.js';
import type { Polling } from '../fleet/node-types.js';

export type ReasonKind =
  /** By an operator, or by a failed step. */
  | 'suspended'
  /** Quarantined: nodes crashed while they ran it, or it cannot be read. */
  | 'set-aside'
  /** It is being terminated with compensation. */
  | 'compensating'
  | 'timer'
  /** It collects starts until its time. */
  | 'debounce'
  /** It waits for other runs to end. */
  | 'queue'
  /** It waits for a slot. */
  | 'limit'
  | 'retry'
  | 'event'
  | 'activity'
  | 'workflow'
  /** An HTTP call or a script is running. */
  | 'running'
  /** It is due and waiting for its turn. */
  | 'scheduled'
  | 'ended';

/** Times are milliseconds since 1970. */
export interface WaitReason {
  readonly kind: ReasonKind;
  readonly text: string;
  readonly since: number | null;
  readonly until: number | null;
  readonly executionId: number | null;
  readonly stepId: string | null;
  readonly stepType: string | null;
  readonly stepName: string | null;
  readonly attempt: number | null;
  readonly item: Json;
  readonly index: number | null;
  readonly eventName?: string;
  readonly eventKey?: string;
  readonly activityName?: string;
  /** The name of the limit that it waits for. */
  readonly limit?: string;
  readonly limitKey?: string;
  /** The id of the child. */
  readonly workflowId?: string;
  readonly nodeId?: string;
  /** The worker that holds the activity. */
  readonly worker?: { readonly workerId: string; readonly leaseUntil: number | null };
  /** The polls that could claim an activity that no worker holds. */
  readonly queue?: Polling;
  /** The ids of the first instances that it waits for, in their order. */
  readonly holders?: readonly string[];
  readonly error: StepError | null;
  /** The actions that would resolve it. */
  readonly actions: readonly AuditAction[];
}

/** The body of a request that repairs an instance, without its reason. */
export interface RepairHint {
  readonly action: 'modify' | 'rerun' | 'restart';
  /** The effect of the repair. */
  readonly text: string;
  readonly body: JsonObject;
}

export interface Explanation {
  readonly workflowId: string;
  readonly status: InstanceStatus;
  /** Null while the instance is open. */
  readonly outcome: InstanceOutcome | null;
  /** The time of the explanation. */
  readonly time: number;
  /** The most important reason in one sentence. */
  readonly summary: string;
  readonly reasons: readonly WaitReason[];
  /** Number of omitted reasons. */
  readonly moreReasons: number;
  /** The newest repair in its audit. */
  readonly lastRepair: AuditEntry | null;
  readonly repairs: readonly RepairHint[];
}

/** The places of the key of an instance. */
export interface PlaceFacts {
  readonly key: string;
  readonly held: number;
  /** Null: any number. */
  readonly limit: number | null;
  /** How many wait before it. */
  readonly ahead: number;
  /** The instance above this one that holds a place; null: none is known. */
  readonly ancestor: string | null;
}

/** The facts about the wait of one pointer that the pointer itself does not contain. */
export type PointerFacts =
  | {
      readonly kind: 'event';
      /** The newest event published before the wait's effective date. */
      readonly before: number | null;
      /** The first event published since then that the instance has not taken. */
      readonly since: number | null;
    }
  | {
      readonly kind: 'activity';
      /** Null: not offered yet, or its result was already applied. */
      readonly record: ActivityRecord | null;
      readonly polling: Polling;
    }
  | {
      readonly kind: 'queue';
      /** The ids of the first instances before it, in their order. */
      readonly holders: readonly string[];
      /** How many are before it: at least so many, unless it is exact. */
      readonly count: number;
      readonly isExact: boolean;
      /** Set if it waits for a place; `holders` have one. */
      readonly places?: PlaceFacts;
    }
  | LimitFacts
  /** Null: there is no such instance. */
  | { readonly kind: 'child'; readonly child: Explanation | null };

/** A step waits for a slot. */
export interface LimitFacts {
  readonly kind: 'limit';
  /** Null: it has got its slots, and is about to begin. */
  readonly position: SlotPosition | null;
  /** Null: there is no such limit. */
  readonly rule: LimitRule | null;
}

export interface InstanceFacts {
  readonly now: number;
  readonly workflowId: string;
  readonly status: InstanceStatus;
  readonly outcome: InstanceOutcome | null;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly lastChangeAt: number;
  readonly inbox: { readonly messages: number; readonly bytes: number; readonly isFull: boolean };
  /** Null: its state cannot be read. */
  readonly instance: Instance | null;
  /** Null: it no longer exists or cannot be read. */
  readonly definition: WorkflowDefinition | null;
  /** Written by a newer server than this. */
  readonly isNewer: boolean;
  readonly owner: { readonly id: string; readonly isAlive: boolean } | null;
  /** The actor who last suspended or terminated it, if known. */
  readonly actor: {
    readonly name: string;
    readonly time: number;
    /** The cause, in words. */
    readonly detail: string | null;
  } | null;
  readonly lastRepair: AuditEntry | null;
  /** The explained leaves, and the number of others. */
  readonly leaves: readonly Pointer[];
  readonly moreLeaves: number;
  readonly of: ReadonlyMap<number, PointerFacts>;
}
