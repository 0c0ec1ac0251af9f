/**
 * The unopened items of a Foreach.
 *
 * A Foreach opens its items in order, as many at once as it may: one if they run one after another, `MaxParallel`, or all. An
 * item is open while any of its executions is.
 *
 * An item that may run but can't run yet is cheapest as an entry in a list: thousands of open pointers would be written with
 * every commit until each has run. So a Foreach opens only as many items as can run soon, and opens more when the queue runs
 * low. Waiting steps leave the queue, so eventually all items wait at the same time.
 */
import { invariant } from '../model/invariant.js';
import type { Memo, Pointer } from '../model/pointer.js';
import { insideOf, openPointer } from './pointers.js';
import { hasWaitingItems, stepOf, type Session } from './session.js';

/** A Foreach opens items until this many pointers are ready to run … */
const QUEUE_FULL = 256;
/** … and opens more when this many or fewer are left. */
const QUEUE_LOW = 64;

type Items = Extract<Memo, { kind: 'items' }>;

/** Opens more items when the queue runs low, so that the instance doesn't rest while any could be opened. */
export function refillQueue(session: Session): void {
  if (session.opening.size === 0 || session.queue.size > QUEUE_LOW) return;
  // In order of ids, which is the same after the instance was stored and loaded (E4).
  for (const id of [...session.opening].sort((a, b) => a - b)) {
    const container = session.instance.pointers.get(id);
    if (container === undefined || !hasWaitingItems(container)) session.opening.delete(id);
    else openWaitingItems(session, container);
    if (session.queue.size >= QUEUE_FULL) return;
  }
}

/** Opens at least one item of this Foreach if it may, and more until the queue is full or as many are open as may be. */
export function openWaitingItems(session: Session, container: Pointer): void {
  const { memo } = container;
  invariant(memo?.kind === 'items', 'a Foreach remembers the items that wait');
  const sequences = stepOf(session, container).do;
  const surroundings = insideOf(container);
  let { next } = memo;
  while (next < memo.items.length && mayOpen(session, container, memo)) {
    const item = memo.items[next] ?? null;
    for (const entry of sequences)
      openPointer(session, entry, { ...surroundings, item, index: next });
    next += 1;
    if (session.queue.size >= QUEUE_FULL) break;
  }
  if (next > memo.next) {
    container.memo = memoAfter(memo, next);
    session.dirty = true;
  }
  // At its limit, it continues when an item has ended; see `removePointer`.
  if (next < memo.items.length && mayOpen(session, container, memo))
    session.opening.add(container.id);
  else session.opening.delete(container.id);
  // A version without steps inside.
  if (container.children === 0) session.joins.add(container.id);
}

function mayOpen(session: Session, container: Pointer, memo: Items): boolean {
  return memo.parallel === true || session.openItems.countIn(container) < (memo.maxParallel ?? 1);
}

function memoAfter(memo: Items, next: number): Items | null {
  const isSequential = memo.parallel !== true && memo.maxParallel === undefined;
  // Repairs find the current item there.
  if (isSequential) return { ...memo, next };
  if (next === memo.items.length) return null;
  if (memo.parallel !== true) return { ...memo, next };
  // Each pointer has its item now. The entry here only preserves the positions of the items after it.
  return { ...memo, items: memo.items.map((item, index) => (index < next ? null : item)), next };
}
