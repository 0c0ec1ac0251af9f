/**
 * An instance as text: the `state` that the store keeps.
 *
 * Values that have columns of their own in the store (id, definition, status, times) are not repeated in the text.
 */
import { readJson, writeJson } from '../values/exact-json.js';
import { isLight, writeJsonParts } from '../values/json-parts.js';
import { readJsonParts } from '../values/read-json-parts.js';
import type {
  CleanUp,
  InstanceOutcome,
  InstanceStatus,
  JoinedBy,
  OutboxMessage,
  ParentLink,
  TakenEvents,
  Instance,
} from './instance.js';
import type { DebounceWindow } from './debounce.js';
import type { AnnouncedStatus } from './instance-change.js';
import type { InstanceTrace } from './instance-trace.js';
import type { ModificationAnswer } from './modification.js';
import type { StepError, StepRecord } from './step-record.js';
import type { IndexFields } from '../values/index-fields.js';
import { isJsonObject, type Json, type JsonObject } from '../values/json.js';
import type { CompensationEntry, Pointer, PointerState } from './pointer.js';
import { DEFAULT_PRIORITY, type Fairness, type Priority } from './start-options.js';
import type { Tags } from '../values/tags.js';
import type { TriggerStart } from './trigger.js';

/** Incremented when nodes that know only the previous format could not continue a stored instance. */
export const STATE_VERSION = 5;

/**
 * The format that a node must know to continue this instance: 5 while starts may join it, 4 while it has or needs slots, 3 while it's in a queue, or will be,
 * 2 while something in it is stopped.
 */
export function stateVersionOf({ cleanUp, debounce, pointers }: Instance): number {
  let version = cleanUp !== null && cleanUp.plan === null ? 2 : 1;
  for (const { isEnding, slots, state } of pointers.values()) {
    if (debounce !== null && state.kind === 'sleeping' && state.isStart === true) return 5;
    if (slots !== undefined) return 4;
    if (isInQueue(state)) version = 3;
    else if (isEnding === true) version = Math.max(version, 2);
  }
  return version;
}

function isInQueue(state: PointerState): boolean {
  return state.kind === 'queued' || (state.kind === 'sleeping' && state.queues !== undefined);
}

/** The columns that the store keeps beside the state. */
export interface InstanceColumns {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly tags: Tags;
  readonly index: IndexFields;
  /** Omitted: the default. */
  readonly priority?: Priority;
  /** Omitted: none. */
  readonly fairness?: Fairness | null;
  readonly restartOf?: string | null;
  readonly restartedAs?: string | null;
  readonly concurrencyKey?: string | null;
  readonly status: InstanceStatus;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly outcome: InstanceOutcome | null;
}

export interface StateText {
  readonly data: JsonObject;
  readonly pointers: readonly Pointer[];
  readonly queue: readonly number[];
  readonly nextPointerId: number;
  readonly taken: readonly (readonly [string, TakenEvents])[];
  readonly lastError: StepError | null;
  /** Earlier versions of the server omit these two. */
  readonly lostError?: StepError | null;
  readonly isCompensated?: boolean;
  readonly spilled: number;
  readonly recent: readonly StepRecord[];
  readonly outbox: readonly OutboxMessage[];
  /** Omitted: running. */
  readonly told?: AnnouncedStatus;
  /** Omitted if no trigger started the instance. */
  readonly trigger?: TriggerStart;
  /** Omitted if starts don't join it. */
  readonly debounce?: DebounceWindow;
  /** Omitted if the instance has no trace. */
  readonly trace?: InstanceTrace;
  /** Omitted while there are none. */
  readonly joinedBy?: readonly JoinedBy[];
  /** Omitted while there are none. */
  readonly completed?: CompletedSteps;
  readonly cleanUp?: CleanUp;
  readonly answers?: readonly ModificationAnswer[];
  readonly parent: ParentLink | null;
  readonly stepsWithoutWait: number;
}

interface CompletedSteps {
  readonly entries: readonly CompensationEntry[];
  readonly itemsLength: number;
  readonly forgotten: number;
}

export function writeState(instance: Instance): string {
  return writeJson(stateOf(instance));
}

/** Like `writeState`, in parts. The instance must not change in between. Null if it is short enough to be written at once. */
export function writeStateParts(instance: Instance): Generator<undefined, string> | null {
  const state = stateOf(instance);
  return isLight(state) ? null : writeJsonParts(state);
}

/** The stored members of an instance, as a value. */
export function stateOf(instance: Instance): StateText {
  return {
    data: instance.data,
    pointers: [...instance.pointers.values()],
    queue: [...instance.queue],
    nextPointerId: instance.nextPointerId,
    taken: [...instance.taken],
    lastError: instance.lastError,
    lostError: instance.lostError,
    isCompensated: instance.isCompensated,
    spilled: instance.spilled,
    recent: instance.recent,
    outbox: instance.outbox,
    ...(instance.told !== 'running' && { told: instance.told }),
    ...(instance.trigger !== null && { trigger: instance.trigger }),
    ...(instance.debounce !== null && { debounce: instance.debounce }),
    ...(instance.trace !== undefined && { trace: instance.trace }),
    ...(instance.joinedBy.length > 0 && { joinedBy: instance.joinedBy }),
    ...(instance.completed.length > 0 && { completed: completedOf(instance) }),
    ...(instance.cleanUp !== null && { cleanUp: instance.cleanUp }),
    ...(instance.answers.length > 0 && { answers: instance.answers }),
    parent: instance.parent,
    stepsWithoutWait: instance.stepsWithoutWait,
  };
}

function completedOf({ completed, completedItemsLength, forgotten }: Instance): CompletedSteps {
  return { entries: completed, itemsLength: completedItemsLength, forgotten };
}

/** @throws Error if the text is not a valid state; the caller quarantines the instance */
export function readState(columns: InstanceColumns, text: string): Instance {
  return instanceOf(columns, checkedState(readJson(text)));
}

/** Like `readState`, in parts. */
export function* readStateParts(
  columns: InstanceColumns,
  text: string,
): Generator<undefined, Instance> {
  return instanceOf(columns, checkedState(yield* readJsonParts(text)));
}

function instanceOf(columns: InstanceColumns, state: StateText): Instance {
  return {
    id: columns.id,
    definitionId: columns.definitionId,
    version: columns.version,
    reference: columns.reference,
    concurrencyKey: columns.concurrencyKey ?? null,
    tags: columns.tags,
    priority: columns.priority ?? DEFAULT_PRIORITY,
    fairness: columns.fairness ?? null,
    index: columns.index,
    restartOf: columns.restartOf ?? null,
    restartedAs: columns.restartedAs ?? null,
    status: columns.status,
    startTime: columns.startTime,
    endTime: columns.endTime,
    outcome: columns.outcome,
    parent: state.parent,
    data: state.data,
    pointers: new Map(state.pointers.map((pointer) => [pointer.id, pointer])),
    queue: new Set(state.queue),
    nextPointerId: state.nextPointerId,
    taken: new Map(state.taken),
    lastError: state.lastError,
    lostError: state.lostError ?? null,
    isCompensated: state.isCompensated ?? false,
    spilled: state.spilled,
    recent: [...state.recent],
    outbox: [...state.outbox],
    told: state.told ?? 'running',
    trigger: state.trigger ?? null,
    debounce: state.debounce ?? null,
    ...(state.trace !== undefined && { trace: state.trace }),
    joinedBy: [...(state.joinedBy ?? [])],
    completed: [...(state.completed?.entries ?? [])],
    completedItemsLength: state.completed?.itemsLength ?? 0,
    forgotten: state.completed?.forgotten ?? 0,
    cleanUp: state.cleanUp ?? null,
    answers: state.answers ?? [],
    stepsWithoutWait: state.stepsWithoutWait,
  };
}

function checkedState(value: Json): StateText {
  if (!isJsonObject(value) || !isJsonObject(value['data']) || !Array.isArray(value['pointers'])) {
    throw new Error('the stored state was not written by this server');
  }
  for (const member of ['queue', 'taken', 'recent', 'outbox']) {
    if (!Array.isArray(value[member])) throw new Error(`the stored state has no ${member}`);
  }
  if (typeof value['nextPointerId'] !== 'number')
    throw new Error('the stored state has no counter');
  // The shape of the outer members was checked; the inner ones were written by `writeState` of this version.
  return value as unknown as StateText;
}
