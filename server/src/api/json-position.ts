/** Where in a JSON text JSON pointers point to. The text is known to be JSON: it was parsed before. */
import { parseTree, type Node } from 'jsonc-parser';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition } from './request-context.js';
import { positionsIn } from './text-position.js';

/** Finds many places in one text, which is read again when the first is asked for. */
export function jsonLocator(text: string): (pointer: string) => TextPosition | null {
  let root: Node | undefined;
  let at: ((offset: number) => TextPosition) | undefined;
  return (pointer) => {
    root ??= parseTree(text);
    if (root === undefined) return null;
    at ??= positionsIn(text);
    return at(find(root, pointer));
  };
}

/** The offset of the nearest place that exists: for a member that is missing, that of its parent. */
function find(root: Node, pointer: string): number {
  let node = root;
  for (const segment of pointerSegments(pointer)) {
    const child = childOf(node, segment);
    if (child === undefined) break;
    node = child;
  }
  // People look for an object or list at its name.
  const member =
    node.children !== undefined && node.parent?.type === 'property' ? node.parent : node;
  return member.offset;
}

function childOf(node: Node, segment: string): Node | undefined {
  if (node.type === 'array') return node.children?.[Number(segment)];
  // Of members with the same name the last one counts.
  const member = node.children?.findLast(({ children }) => children?.[0]?.value === segment);
  return member?.children?.[1];
}
