/**
 * The unopened items of a parallel Foreach.
 *
 * All items run in parallel, but an item that can't run yet is cheapest as an entry in a list: thousands of open pointers would
 * be written with every commit until each has run. So a Foreach opens only as many items as can run soon, and opens more when
 * the queue runs low. Waiting steps leave the queue, so eventually all items wait at the same time.
 */
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import { insideOf, openPointer } from './pointers.js';
import { hasWaitingItems, stepOf, type Session } from './session.js';

/** A Foreach opens items until this many pointers are ready to run … */
const QUEUE_FULL = 256;
/** … and opens more when this many or fewer are left. */
const QUEUE_LOW = 64;

/** Opens more items when the queue runs low, so that the instance doesn't rest while any are unopened. */
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

/** Opens at least one item of this Foreach, and more until the queue is full or all are open. */
export function openWaitingItems(session: Session, container: Pointer): void {
  const { memo } = container;
  invariant(memo?.kind === 'items', 'a Foreach remembers the items that wait');
  const sequences = stepOf(session, container).do;
  const surroundings = insideOf(container);
  let { next } = memo;
  do {
    const item = memo.items[next] ?? null;
    for (const entry of sequences)
      openPointer(session, entry, { ...surroundings, item, index: next });
    next += 1;
  } while (next < memo.items.length && session.queue.size < QUEUE_FULL);
  session.dirty = true;
  if (next === memo.items.length) {
    container.memo = null;
    session.opening.delete(container.id);
    return;
  }
  // Each pointer has its item now. The entry here only preserves the positions of the items after it.
  const items = memo.items.map((item, index) => (index < next ? null : item));
  container.memo = { ...memo, items, next };
  session.opening.add(container.id);
}
