/** Where in a YAML text a JSON pointer points to. */
import { isAlias, isMap, isScalar, isSeq, type Document, type ParsedNode } from 'yaml';
import type { TextPosition } from './request-context.js';
import { positionAt } from './text-position.js';

/** The nearest place that exists: a pointer to a member that is missing gives its parent's place. */
export function locateInYaml(
  document: Document.Parsed,
  text: string,
  pointer: string,
): TextPosition | null {
  let node: ParsedNode | null = document.contents;
  let offset = node?.range[0];
  for (const segment of pointerSegments(pointer)) {
    const found = childOf(document, node, segment);
    if (found === null) break;
    node = found.value;
    offset = found.offset;
  }
  return offset === undefined ? null : positionAt(text, offset);
}

function pointerSegments(pointer: string): string[] {
  const segments = pointer.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

interface Child {
  readonly value: ParsedNode | null;
  readonly offset: number;
}

function childOf(document: Document.Parsed, node: ParsedNode | null, name: string): Child | null {
  // The document was read without error before, so an alias resolves.
  const target = isAlias(node) ? (node.resolve(document) as ParsedNode | undefined) : node;
  if (isSeq(target)) {
    const item = /^\d+$/.test(name) ? target.items[Number(name)] : undefined;
    return item === undefined ? null : { value: item, offset: item.range[0] };
  }
  if (!isMap(target)) return null;
  const pair = target.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair === undefined) return null;
  // A collection begins on the line after its name, which is not where people look.
  const place = isScalar(pair.value) ? pair.value : pair.key;
  return { value: pair.value, offset: place.range[0] };
}
