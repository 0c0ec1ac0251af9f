/** The pointers inside a container, at every depth. */
import type { Pointer } from '../model/pointer.js';

/** Containers come before what is inside them. Null: everything. */
export function pointersInside(
  run: { readonly instance: { readonly pointers: ReadonlyMap<number, Pointer> } },
  container: Pointer | null,
): readonly Pointer[] {
  const { pointers } = run.instance;
  if (container === null) return [...pointers.values()];
  if (container.children === 0) return [];
  const found = new Set([container.id]);
  const inside: Pointer[] = [];
  // A container has a lower id than the pointers inside it.
  for (const pointer of pointers.values()) {
    if (pointer.parentId === null || !found.has(pointer.parentId)) continue;
    found.add(pointer.id);
    inside.push(pointer);
  }
  return inside;
}
