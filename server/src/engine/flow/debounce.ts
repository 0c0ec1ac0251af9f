/**
 * The window of an instance: further starts join it, until its first step begins.
 *
 *   started --> open: a start joins, and moves the time --> open
 *           \-> open: the time has come, it is full, a modification has begun something --> closed for good
 *
 *  E16 A window is open while the first step waits for its time and no other step has been opened. Nothing joins a closed one,
 *      nor an instance that has ended in the store.
 *  E17 A start joins once: its id is known among the newest ones.
 */
import { COLLECTED_MAX, type DebounceWindow, type StartDebounce } from '../model/debounce.js';
import { isEnded, type Instance, type InstanceStatus } from '../model/instance.js';
import type { Pointer, PointerState } from '../model/pointer.js';
import { setState } from '../session/pointer-states.js';
import type { Session } from '../session/session.js';
import { jsonLength } from '../values/json-length.js';
import type { Json, JsonObject } from '../values/json.js';

/** A start joins the window of the instance. */
export interface DebounceMessage {
  readonly kind: 'debounce';
  /** The id that the start would have given to its own instance. */
  readonly id: string;
  readonly periodMs: number;
  readonly data: JsonObject;
  /** As given by the caller, if it differs from `data`. */
  readonly input?: JsonObject;
}

/** Maximum number of ids that are known. */
const JOINS_MAX = COLLECTED_MAX;

type Sleeping = Extract<PointerState, { kind: 'sleeping' }>;

/** When the first step of an instance with an open window begins; null: it has none. */
export function windowEnd(instance: WindowOf): number | null {
  return waitingStart(instance)?.state.until ?? null;
}

type WindowOf = Pick<Instance, 'debounce' | 'nextPointerId' | 'pointers'>;

/** The first step of an instance with an open window. */
function waitingStart({
  debounce,
  nextPointerId,
  pointers,
}: WindowOf): { readonly pointer: Pointer; readonly state: Sleeping } | null {
  const [pointer] = pointers.values();
  const hasOthers = nextPointerId > 2;
  if (debounce === null || debounce.isClosed === true || hasOthers || pointer === undefined)
    return null;
  const { state } = pointer;
  return state.kind === 'sleeping' && state.isStart === true ? { pointer, state } : null;
}

export function openWindow(
  { data, key, lengthMax, maxMs }: StartDebounce,
  {
    first,
    input,
    now,
  }: { readonly first: JsonObject; readonly input: JsonObject; readonly now: number },
): DebounceWindow {
  const window = { key, data, lengthMax, latest: now + maxMs, starts: 1, length: 0, joins: [] };
  if (data !== 'list') return window;
  return { ...window, length: jsonLength(first), input: { items: [input] } };
}

/** @param status the stored status, which may differ from the one in memory */
export function joinWindow(
  session: Session,
  message: DebounceMessage,
  status: InstanceStatus,
): void {
  const { instance } = session;
  const joined = hasJoined(instance, message) || (!isEnded({ status }) && join(session, message));
  session.changes.joins.push({ id: message.id, instanceId: instance.id, joined });
  session.dirty = true;
}

function hasJoined({ debounce }: Instance, { id }: DebounceMessage): boolean {
  return debounce?.joins.includes(id) === true;
}

/** Returns false if the window takes no further start. */
function join(session: Session, message: DebounceMessage): boolean {
  const { instance, now } = session;
  const { debounce } = instance;
  const waiting = waitingStart(instance);
  if (debounce === null || waiting === null) return false;
  const { pointer, state } = waiting;
  const length = debounce.data === 'list' ? jsonLength(message.data) : 0;
  if (debounce.length + length > debounce.lengthMax && debounce.data === 'list') {
    instance.debounce = { ...debounce, isClosed: true };
    setState(session, pointer, { ...state, until: Math.min(state.until, now) });
    return false;
  }
  const starts = debounce.starts + 1;
  const isFull = debounce.data === 'list' && starts >= COLLECTED_MAX;
  instance.debounce = {
    ...debounce,
    ...collect(session, debounce, message),
    starts,
    length: debounce.length + length,
    joins: [...debounce.joins, message.id].slice(-JOINS_MAX),
    ...(isFull && { isClosed: true }),
  };
  const until = isFull ? now : Math.min(now + message.periodMs, debounce.latest);
  setState(session, pointer, { ...state, until });
  return true;
}

/** Changes the data of the instance, and returns the input. */
function collect(
  session: Session,
  { data: mode, input = {} }: DebounceWindow,
  { data, input: given = data }: DebounceMessage,
): Pick<DebounceWindow, 'input'> {
  const { instance } = session;
  if (mode === 'first') return {};
  session.grown += jsonLength(data) + jsonLength(given);
  session.cancelCheckDue = true;
  if (mode === 'last') {
    // Outputs replace its members.
    instance.data = { ...data };
    return { input: given };
  }
  instance.data = { ...instance.data, items: [...itemsOf(instance.data), data] };
  return { input: { items: [...itemsOf(input), given] } };
}

/** A modification may have changed them. */
function itemsOf({ items }: JsonObject): readonly Json[] {
  return Array.isArray(items) ? (items as readonly Json[]) : [];
}
