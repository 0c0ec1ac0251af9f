/** Waits for slots: of executions that are about to begin, and again after a suspension. */
import type { BegunState, Pointer } from '../model/pointer.js';
import type { LimitKey, SlotRequest } from '../model/slots.js';
import { setState } from './pointer-states.js';
import type { Session } from './session.js';
import { freeSlots, removeWhere } from './slots.js';

/** An execution whose slots the next commit takes, or that has got them and hasn't begun. */
interface Requested {
  readonly pointer: Pointer;
  readonly slots: SlotRequest;
  readonly state: BegunState;
}

/** Null if the pointer holds no slots, or its work may have begun. */
export function requestedWith(session: Session, pointer: Pointer): Requested | null {
  const { id, slots, state } = pointer;
  if (slots === undefined || (state.kind !== 'effect' && state.kind !== 'child')) return null;
  const isRequested = session.changes.effects.includes(id) && !session.interrupted.has(id);
  return isRequested ? { pointer, slots, state } : null;
}

/** The execution waits until it may begin. It has nothing of what it needs. */
export function waitForSlots(
  session: Session,
  { pointer, slots, state }: Requested,
  { key, limit }: LimitKey,
): void {
  const { changes, now } = session;
  const on = { limit, key };
  takeBack(session, pointer);
  changes.waitingSlots.push({ ...slots, since: now, on });
  setState(session, pointer, { kind: 'limited', since: now, on, next: state });
}

/** Its work doesn't begin. */
export function takeBack({ changes }: Session, pointer: Pointer): void {
  removeWhere(changes.effects, (id) => id === pointer.id);
}

/** Suspends the instance. It holds no slots for work that hasn't begun, and asks for them when it is resumed. */
export function suspend(session: Session): void {
  const { changes, instance } = session;
  instance.status = 'Suspended';
  for (const id of [...changes.effects]) {
    const pointer = instance.pointers.get(id);
    const requested = pointer === undefined ? null : requestedWith(session, pointer);
    if (requested === null) continue;
    const slots = requestAgain(session, requested.pointer, requested.slots);
    waitForSlots(session, { ...requested, slots }, slots.needs[0]);
  }
}

/**
 * Frees the slots of an execution that hasn't begun, and returns the request that takes its place. It has another name: a grant
 * of the first one may be told once more, and must not count for this one.
 */
export function requestAgain(session: Session, pointer: Pointer, slots: SlotRequest): SlotRequest {
  freeSlots(session, slots);
  const [instanceId, pointerId, attempt, again = 0] = slots.execution.split('/');
  const execution = `${instanceId}/${pointerId}/${attempt}/${Number(again) + 1}`;
  pointer.slots = { ...slots, execution };
  return pointer.slots;
}

/** Asks for the slots that steps wait for, once for each key: what was free meanwhile has passed them by. */
export function askForSlots(session: Session): void {
  const keys: LimitKey[] = [];
  for (const { state } of session.instance.pointers.values()) {
    if (state.kind === 'limited') keys.push(state.on);
  }
  askForKeys(session, keys);
}

export function askForKeys(session: Session, keys: readonly LimitKey[]): void {
  if (keys.length === 0) return;
  const { outbox } = session.instance;
  const asked = new Set<string>();
  for (const message of outbox) if (message.kind === 'ask-slots') asked.add(textOf(message.on));
  for (const on of keys) {
    const text = textOf(on);
    if (asked.has(text)) continue;
    asked.add(text);
    outbox.push({ kind: 'ask-slots', on });
    session.dirty = true;
  }
}

/** Takes back what was asked, unless other steps wait for the same key. */
export function takeBackAsked({ instance }: Session, on: LimitKey): void {
  const { outbox, pointers } = instance;
  const text = textOf(on);
  const isAsked = outbox.some((asked) => asked.kind === 'ask-slots' && textOf(asked.on) === text);
  if (!isAsked) return;
  for (const { state } of pointers.values()) {
    if (state.kind === 'limited' && textOf(state.on) === text) return;
  }
  removeWhere(outbox, (asked) => asked.kind === 'ask-slots' && textOf(asked.on) === text);
}

/** Neither contains a control character. */
function textOf({ key, limit }: LimitKey): string {
  return `${limit}\n${key}`;
}
