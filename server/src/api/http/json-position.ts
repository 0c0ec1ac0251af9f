/** Where in a JSON text JSON pointers point to. The text is known to be JSON: it was parsed before. */
import { parseTree, type Node } from 'jsonc-parser';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition } from './request-context.js';
import { positionsIn } from './text-position.js';

/** Finds many places in one text, which is read again when the first is asked for. */
export function jsonLocator(text: string): (pointer: string) => TextPosition | null {
  let root: Node | undefined;
  let at: ((offset: number) => TextPosition) | undefined;
  const members = new Members();
  return (pointer) => {
    root ??= parseTree(text);
    if (root === undefined) return null;
    at ??= positionsIn(text);
    return at(find(root, pointer, members));
  };
}

/** The offset of the nearest place that exists: for a member that is missing, that of its parent. */
function find(root: Node, pointer: string, members: Members): number {
  let node = root;
  for (const segment of pointerSegments(pointer)) {
    const child = members.childOf(node, segment);
    if (child === undefined) break;
    node = child;
  }
  // People look for an object or list at its name.
  const member =
    node.children !== undefined && node.parent?.type === 'property' ? node.parent : node;
  return member.offset;
}

/** The members of each object that was asked about: a hundred problems may lie in one with tens of thousands. */
class Members {
  readonly #values = new Map<Node, ReadonlyMap<unknown, Node | undefined>>();

  childOf(node: Node, segment: string): Node | undefined {
    if (node.type === 'array') return node.children?.[Number(segment)];
    let values = this.#values.get(node);
    if (values === undefined) {
      // Of members with the same name the last one counts.
      values = new Map(
        (node.children ?? []).map(({ children }) => [children?.[0]?.value, children?.[1]]),
      );
      this.#values.set(node, values);
    }
    return values.get(segment);
  }
}
