/** Checks that a Foreach opens its items in order, never more at once than it may, and as many as it may. */
import type { Pointer } from '../../../src/engine/model/pointer.js';
import { toList } from '../../../src/engine/values/convert-input.js';
import { isJsonObject } from '../../../src/engine/values/json.js';
import { stepOf, type Session } from '../../../src/engine/session/session.js';
import { broken } from './check-invariants.js';

/** A Foreach doesn't open more items while more pointers than this are ready to run. */
const QUEUE_LOW = 64;

export class OpenItemsCheck {
  /** Of each attempt of a Foreach, the index of the item that opens next. */
  readonly #next = new Map<string, number>();

  check(session: Session): void {
    const { pointers } = session.instance;
    for (const pointer of pointers.values()) {
      const { isEnding, state } = pointer;
      if (state.kind !== 'open' || isEnding === true) continue;
      if (stepOf(session, pointer).type === 'Foreach') this.#checkForeach(session, pointer);
    }
  }

  #checkForeach(session: Session, foreach: Pointer): void {
    const { attempt, id, inputs, memo } = foreach;
    if (!isJsonObject(inputs)) broken('a Foreach that is open has its inputs', foreach);
    const items = toList(inputs['Collection'] ?? null);
    if (!items.ok) broken('a Foreach that is open has items', foreach);
    const { length } = items.value;
    const isParallel = Boolean(inputs['RunParallel'] ?? true);
    const max = isParallel ? Number(inputs['MaxParallel'] ?? Infinity) : 1;
    const key = `${id}/${attempt}/${foreach.undone ?? 0}`;
    const before = this.#next.get(key) ?? 0;
    const next = memo?.kind === 'items' ? memo.next : length;
    this.#next.set(key, next);
    const open = new Set<number>();
    for (const { index, parentId } of session.instance.pointers.values()) {
      if (parentId === id && index !== undefined) open.add(index);
    }
    const state = { max, before, next, length, open: [...open] };
    if (next < before) broken('items open in order', state);
    for (let index = before; index < next; index += 1) {
      if (!open.has(index)) broken('an item that opens is open', state);
    }
    // A modification may open more.
    if (next > before && open.size > max) broken('so many items are open at once', state);
    const isLow = session.queue.size <= QUEUE_LOW;
    if (next < length && open.size < max && isLow) broken('the next item opens', state);
  }
}
