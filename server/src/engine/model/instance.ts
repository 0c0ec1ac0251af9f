/**
 * A workflow instance: one run of one version of a definition.
 *
 * The object is mutable and belongs to one pass at a time: a pass changes it and commits it, or discards it and reads the
 * stored one again. Instances share nothing. Values inside `data` are never changed in place, only replaced, so references
 * to them may be kept.
 */
import type { InstanceChange, AnnouncedStatus } from './instance-change.js';
import type { DebounceWindow } from './debounce.js';
import type { IndexFields } from '../values/index-fields.js';
import type { ModificationAnswer } from './modification.js';
import type { JsonObject } from '../values/json.js';
import type { InstanceTrace } from './instance-trace.js';
import type { CompensationEntry, Pointer } from './pointer.js';
import type { LimitKey } from './slots.js';
import type { TriggerStart } from './trigger.js';
import type { Fairness, Priority } from './start-options.js';
import type { Tags } from '../values/tags.js';
import type { StepError, StepRecord } from './step-record.js';

export type InstanceStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/** How an instance ended, which `status` alone doesn't tell. */
export const INSTANCE_OUTCOMES = ['Succeeded', 'Compensated', 'Failed', 'Terminated'] as const;
export type InstanceOutcome = (typeof INSTANCE_OUTCOMES)[number];

/** The events of one name and key that an instance has taken. */
export interface TakenEvents {
  /** Every event up to and including this position counts as taken. */
  floor: EventPosition | null;
  /** Taken events above the floor; they may arrive out of order if the nodes' clocks differ. */
  recent: EventPosition[];
}

/** Events are ordered by time, then id. */
export interface EventPosition {
  readonly publishedAt: number;
  readonly id: string;
}

/** The progress of the clean-up of an instance. */
export interface CleanUp {
  /** Null until everything that was in flight has ended. */
  readonly plan: readonly CompensationEntry[] | null;
  /** When the grace for work in flight ends. Null or omitted: it has ended. */
  readonly until?: number | null;
  /** `plan[next]` is the chain that starts once nothing is open. */
  readonly next: number;
  /** Number of completed steps dropped because there were too many: they aren't compensated. The name is stored. */
  readonly forgotten: number;
}

/** A message for another instance; sent after the commit that contains it, removed by a later one. */
export type OutboxMessage =
  | {
      readonly kind: 'child-ended';
      readonly parentId: string;
      readonly pointerId: number;
      readonly attempt: number;
      /** Set if the receiver joined this instance instead of starting it; `refused`: it could not join. */
      readonly joined?: 'ended' | 'refused';
      /** The receiver waits for its place, which doesn't depend on how this instance ended. */
      readonly queue?: true;
    }
  /** Asks for the place of a queued instance: it begins, joins the instance before it, or waits for a place of its key. */
  | {
      readonly kind: 'take-place';
      readonly pointerId: number;
      readonly attempt: number;
      /** Its position in the queue. */
      readonly at: number;
      /** It waits for those with the same reference first. */
      readonly reference?: true;
    }
  /** The place of an ended instance is free. */
  | { readonly kind: 'free-place' }
  /** Steps of this instance wait for slots of this key, which may have become free unnoticed. */
  | { readonly kind: 'ask-slots'; readonly on: LimitKey }
  /** Asks an open instance to also announce its end to a step of this one. */
  | {
      readonly kind: 'join';
      readonly workflowId: string;
      readonly pointerId: number;
      readonly attempt: number;
      /** The step no longer waits. A node of an earlier version reads it as a repeated request, which changes nothing. */
      readonly left?: true;
    }
  | {
      readonly kind: 'terminate-child';
      readonly workflowId: string;
      /** Terminate with clean-up, and wait for the end. */
      readonly compensate?: true;
      /** When the grace for the child's work in flight ends. */
      readonly graceUntil?: number;
    }
  /** Sends a change of this instance to these notifications. */
  | {
      readonly kind: 'notify';
      readonly change: InstanceChange;
      /** When it happened. */
      readonly time: number;
      readonly names: readonly string[];
    };

/** The SubWorkflow step that started this instance. */
export interface ParentLink {
  readonly workflowId: string;
  readonly pointerId: number;
  readonly attempt: number;
  /** Omitted in instances that were started before it was recorded. */
  readonly stepId?: string;
  /**
   * Number of waits for sub-workflows that depend on the end of this instance: 0 if no step waits for it. Omitted in instances
   * that were started before it was recorded.
   */
  readonly waiting?: number;
  /** The root of all these instances, see `rootOf`. Omitted in instances that were started before it was recorded. */
  readonly rootId?: string;
}

/** A step of another instance that waits for the end of this one without having started it. */
export interface JoinedBy {
  readonly workflowId: string;
  readonly pointerId: number;
  readonly attempt: number;
  /** It waits for its place. */
  readonly queue?: true;
}

export interface Instance {
  readonly id: string;
  readonly definitionId: string;
  version: number;
  readonly reference: string | null;
  /** Of its place among those that may run at a time; null: any number may. */
  readonly concurrencyKey: string | null;
  /** As last read from the store, where clients change them. */
  tags: Tags;
  /** As last read from the store, where clients change it. */
  priority: Priority;
  /** Null: its work is in the group without a key. */
  readonly fairness: Fairness | null;
  /** As in the newest commit. */
  index: IndexFields;
  /** The instance that this one restarts. */
  readonly restartOf: string | null;
  /** The trigger that started it. */
  readonly trigger: TriggerStart | null;
  /** Null: starts don't join it. */
  debounce: DebounceWindow | null;
  /** Omitted if traces were not recorded when it was started. */
  readonly trace?: InstanceTrace;
  /** The newest restart of this instance, as last read from the store. */
  restartedAs: string | null;
  readonly startTime: number;
  readonly parent: ParentLink | null;
  status: InstanceStatus;
  endTime: number | null;
  /**
   * Null while the instance is open. `Compensated`: a step failed permanently, and everything that could be compensated was.
   * `Failed`: an error ended it. `Terminated`: a user or its parent ended it.
   */
  outcome: InstanceOutcome | null;
  /** True if a failure was compensated for good, and no enclosing container has been retried since. */
  isCompensated: boolean;
  data: JsonObject;
  /** The open pointers, by id, oldest first. The history has the ended ones. */
  readonly pointers: Map<number, Pointer>;
  /**
   * Pointers in `ready` or `finishing`, first in, first out (a Set keeps the order of insertion). Stored with the instance,
   * so that any node continues in the same order.
   */
  readonly queue: Set<number>;
  nextPointerId: number;
  /** By event name and key, see `taken-events.ts`. */
  readonly taken: Map<string, TakenEvents>;
  /**
   * The most recent step error while it is relevant: until its step succeeds, is canceled or is superseded. For an ended
   * instance, the most recent error that no later attempt of the same step has resolved.
   */
  lastError: StepError | null;
  /** The most recent error of an execution outside all containers that ended without succeeding later. */
  lostError: StepError | null;
  /**
   * Number of step records that have moved from `recent` to the store's history, which is also the position of the first
   * record of `recent` there. The name is stored.
   */
  spilled: number;
  /** The newest records, stored with the instance. */
  recent: StepRecord[];
  outbox: OutboxMessage[];
  /** The last status that notifications could announce, as in the newest commit; `new`: none yet. The name is stored. */
  told: AnnouncedStatus;
  /** Steps of other instances that have joined this one and are still waiting. */
  joinedBy: JoinedBy[];
  /** The newest completed steps outside sagas that can be compensated, in order of completion. */
  completed: CompensationEntry[];
  /** Size of their items in bytes of JSON. */
  completedItemsLength: number;
  /** Number of older steps that were dropped; see `CleanUp.forgotten`. */
  forgotten: number;
  /** Set while the instance compensates its completed steps, after which it is Terminated. */
  cleanUp: CleanUp | null;
  /** The results of the latest modifications. */
  answers: readonly ModificationAnswer[];
  /** Steps run since the instance last waited for something; bounds loops that never wait. */
  stepsWithoutWait: number;
}

export function isEnded(instance: Pick<Instance, 'status'>): boolean {
  return instance.status === 'Complete' || instance.status === 'Terminated';
}
