/**
 * The open items of each Foreach that may open only some at once.
 *
 * An item is open while any execution of it is: the first steps of its sequences, and their successors. This is counted, not
 * stored: a session counts the pointers that it loads.
 */
import type { Pointer } from '../model/pointer.js';

export class OpenItems {
  /** By id of the container and index of the item, the number of open pointers. */
  readonly #paths = new Map<number, Map<number, number>>();

  /** The number of items with an open execution; 0 for a Foreach that opens all of them. */
  countIn(container: Pointer): number {
    return this.#paths.get(container.id)?.size ?? 0;
  }

  /** A pointer was opened inside `container`, or loaded. */
  add(container: Pointer, { index }: Pointer): void {
    const { id, memo } = container;
    if (index === undefined || memo?.kind !== 'items' || memo.parallel === true) return;
    let paths = this.#paths.get(id);
    if (paths === undefined) {
      paths = new Map();
      this.#paths.set(id, paths);
    }
    paths.set(index, (paths.get(index) ?? 0) + 1);
  }

  /** A pointer inside `container` has ended. Returns true if it was the last one of its item. */
  remove(container: Pointer, { index }: Pointer): boolean {
    const paths = this.#paths.get(container.id);
    const count = index === undefined ? undefined : paths?.get(index);
    if (index === undefined || paths === undefined || count === undefined) return false;
    if (count > 1) paths.set(index, count - 1);
    else paths.delete(index);
    return count === 1;
  }

  /** The container has ended. */
  forget(container: Pointer): void {
    this.#paths.delete(container.id);
  }
}
