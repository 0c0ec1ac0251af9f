/** A start, and the record that is created from it. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { rootOf } from '../../engine/model/child-id.js';
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { StartDebounce } from '../../engine/model/debounce.js';
import type { ParentLink, Instance } from '../../engine/model/instance.js';
import type { JsonObject } from '../../engine/values/json.js';
import { stateVersionOf } from '../../engine/model/snapshot.js';
import type { QueueReason } from '../../engine/model/pointer.js';
import type { Fairness, OnFull, Priority } from '../../engine/model/start-options.js';
import type { Tags } from '../../engine/values/tags.js';
import type { TriggerStart } from '../../engine/model/trigger.js';
import type { ConflictRule, InstanceRecord } from '../../store/records/instances.js';
import { failureOf } from './instance-failure.js';
import { debounceKeyOf } from './stored-window.js';
import { hasUnderWay } from './under-way.js';

export interface StartConcurrency {
  readonly key: string;
  readonly limit: number;
  readonly onFull: OnFull;
  readonly maxQueued: number | null;
}

export interface NewInstance {
  readonly id: string;
  readonly definition: WorkflowDefinition;
  readonly data: JsonObject;
  readonly reference: string | null;
  /** Default: none. */
  readonly tags?: Tags;
  readonly priority?: Priority;
  /** Default: none. */
  readonly fairness?: Fairness | null;
  /** Its parent's, which applies unless its definition has a Fairness. Default: none. */
  readonly inheritedFairness?: Fairness | null;
  /** The instance that this one restarts. Default: none. */
  readonly restartOf?: string;
  /** The trigger that starts it. Default: none. */
  readonly trigger?: TriggerStart;
  /** Default: none. */
  readonly trace?: InstanceTrace;
  readonly parent: ParentLink | null;
  readonly requestHash: string | null;
  readonly startTime: number;
  /** When the first step runs; null: immediately. */
  readonly startAt?: number | null;
  /** What it waits for, from `startAt` on. Default: nothing. */
  readonly queues?: QueueReason | undefined;
  /** How many instances run at a time. Omitted: any number. */
  readonly concurrency?: StartConcurrency;
  /** The data as given by the caller. */
  readonly input?: JsonObject;
  readonly conflict?: ConflictRule | undefined;
  /** Further starts join it until `startAt`. */
  readonly debounce?: StartDebounce;
}

/** The times in an instance's record (its end, its last change, which is this one, and its error's), and its failure. */
export function timesOf(
  instance: Instance,
  now: number,
): Pick<InstanceRecord, 'endTime' | 'lastChangeAt' | 'errorAt' | 'failingSince' | 'failure'> {
  const { endTime, lastError } = instance;
  const errorAt = lastError?.time ?? null;
  const failingSince = lastError?.since ?? null;
  return { endTime, lastChangeAt: now, errorAt, failingSince, failure: failureOf(instance) };
}

/** The record of an instance before its first step, or after its first pass. */
export function newRecord(
  start: NewInstance,
  instance: Instance,
  { now, ...place }: Pick<InstanceRecord, 'owner' | 'wakeAt' | 'state'> & { readonly now: number },
): InstanceRecord {
  return {
    id: start.id,
    definitionId: start.definition.id,
    version: start.definition.version,
    reference: start.reference,
    tags: instance.tags,
    index: instance.index,
    status: instance.status,
    outcome: instance.outcome,
    parentId: start.parent?.workflowId ?? null,
    rootId: start.parent === null ? null : rootOf(start),
    startTime: start.startTime,
    ...timesOf(instance, now),
    ...place,
    epoch: 1,
    inSeq: 0,
    inbox: [],
    revision: 0,
    underWay: hasUnderWay(instance),
    crashes: 0,
    schemaVersion: stateVersionOf(instance),
    requestHash: start.requestHash,
    priority: instance.priority,
    fairness: instance.fairness,
    queued: isQueued(instance),
    debounceKey: debounceKeyOf(instance),
    ...placeOf(start),
    restartOf: instance.restartOf,
    restartedAs: instance.restartedAs,
    startedBy: startedByText(instance.trigger),
    retentionMs: start.definition.retentionMs,
  };
}

/** Its place in the store, and from when on it counts. */
function placeOf(
  start: NewInstance,
): Pick<InstanceRecord, 'concurrencyKey' | 'place' | 'countsFrom'> {
  const { concurrency, queues, startTime } = start;
  const startAt = isLater(start) ? start.startAt : null;
  if (concurrency === undefined) {
    // Until it enters the queue of its reference.
    const place = startAt !== null && queues === 'reference' ? 'later' : null;
    return { concurrencyKey: null, place, countsFrom: startAt };
  }
  const asksLater = startAt !== null || queues === 'reference';
  const asked = queues === 'place' ? 'waiting' : 'held';
  return {
    concurrencyKey: concurrency.key,
    place: asksLater ? 'later' : asked,
    countsFrom: startAt ?? startTime,
  };
}

/** Whether its first step waits for its time. */
export function isLater(start: NewInstance): start is NewInstance & { readonly startAt: number } {
  const { startAt = null, startTime } = start;
  return startAt !== null && startAt > startTime;
}

/** Whether further starts join it until its time. */
export function isWindowed(
  start: NewInstance,
): start is NewInstance & { readonly debounce: StartDebounce } {
  return start.debounce !== undefined && isLater(start);
}

/** Whether its first step waits for the instances before it. */
export function isQueued({ pointers }: Pick<Instance, 'pointers'>): boolean {
  for (const { state } of pointers.values()) if (state.kind === 'queued') return true;
  return false;
}

/** The trigger as shown in lists. */
function startedByText(trigger: TriggerStart | null): string | null {
  return trigger === null ? null : JSON.stringify({ name: trigger.name, time: trigger.time });
}
