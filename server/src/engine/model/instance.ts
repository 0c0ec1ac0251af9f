/**
 * A workflow instance: one run of one version of a definition.
 *
 * The object is mutable and belongs to one pass at a time: a pass changes it, commits it, or throws it away and reads
 * the stored one again. Nothing in it is shared between instances, and values inside `data` are never changed in
 * place, only replaced, so references to them may be kept.
 */
import type { JsonObject } from '../values/json.js';
import type { CompensationEntry, Pointer } from './pointer.js';
import type { StepError, StepRecord } from './step-record.js';

export type InstanceStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

/** How an ended instance ended; `status` alone does not tell. */
export const INSTANCE_OUTCOMES = ['Succeeded', 'Compensated', 'Failed', 'Terminated'] as const;
export type InstanceOutcome = (typeof INSTANCE_OUTCOMES)[number];

/** Which events of one name and key an instance has already taken. */
export interface TakenEvents {
  /** Every event up to and including this position counts as taken. */
  floor: EventPosition | null;
  /** Events above the floor that were taken; they may arrive out of order when clocks of nodes differ. */
  recent: EventPosition[];
}

/** Events are ordered by time, then id. */
export interface EventPosition {
  readonly publishedAt: number;
  readonly id: string;
}

/** How far the clean-up of an instance is. */
export interface CleanUp {
  readonly plan: readonly CompensationEntry[];
  /** `plan[next]` is the one that starts when nothing is open any more. */
  readonly next: number;
  /** Completed steps that were too many to be kept, and are not compensated. */
  readonly forgotten: number;
}

/** Something to tell another instance; sent after the commit that contains it, removed by a later one. */
export type OutboxMessage =
  | {
      readonly kind: 'child-ended';
      readonly parentId: string;
      readonly pointerId: number;
      readonly attempt: number;
    }
  | {
      readonly kind: 'terminate-child';
      readonly workflowId: string;
      /** With clean-up; its end is waited for. */
      readonly compensate?: true;
    };

/** The SubWorkflow step that started this instance. */
export interface ParentLink {
  readonly workflowId: string;
  readonly pointerId: number;
  readonly attempt: number;
  /** Left out of instances that were started before it was noted. */
  readonly stepId?: string;
  /**
   * How many waits for sub-workflows end only when this instance has ended: 0 where nobody waits for it. Left out of
   * instances that were started before it was noted.
   */
  readonly waiting?: number;
  /** The instance from which all descend, see `rootOf`. Left out of instances that were started before it was noted. */
  readonly rootId?: string;
}

export interface WorkflowInstance {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly startTime: number;
  readonly parent: ParentLink | null;
  status: InstanceStatus;
  endTime: number | null;
  /**
   * Null while it is open. `Compensated`: a step failed for good, what could be undone was undone. `Failed`: an error
   * ended it. `Terminated`: a person or its parent did.
   */
  outcome: InstanceOutcome | null;
  /** A failure was given up after its compensation, and no container around it was tried again since. */
  isCompensated: boolean;
  data: JsonObject;
  /** The open pointers, by id, oldest first. What has ended is in the history. */
  readonly pointers: Map<number, Pointer>;
  /**
   * Pointers in `ready` or `finishing`, first come first served (a Set keeps the order of insertion). Kept with the
   * instance, so that it goes on in the same order whoever runs it next.
   */
  readonly queue: Set<number>;
  nextPointerId: number;
  /** By event name and key, see `taken-events.ts`. */
  readonly taken: Map<string, TakenEvents>;
  /**
   * The newest step error while it matters: until its step succeeds, is cancelled or gives way. Of an ended instance the
   * newest one that no later attempt of the same step has made good.
   */
  lastError: StepError | null;
  /** The newest error of an execution outside of all containers that ended without having succeeded later. */
  lostError: StepError | null;
  /** Records that ended before the ones in `recent`, already in the store's history. */
  spilled: number;
  /** The newest records, stored with the instance. */
  recent: StepRecord[];
  outbox: OutboxMessage[];
  /** Steps outside of sagas that completed and can be compensated, in order of completion: the newest ones. */
  completed: CompensationEntry[];
  /** How many bytes of JSON their items have. */
  completedItemsLength: number;
  /** How many more there were. */
  forgotten: number;
  /** It compensates what it has done, and is Terminated then. */
  cleanUp: CleanUp | null;
  /** Steps run since the instance last waited for something; a bound on loops that never wait. */
  stepsWithoutWait: number;
}

export function isEnded(instance: WorkflowInstance): boolean {
  return instance.status === 'Complete' || instance.status === 'Terminated';
}
