/** Where in a YAML text JSON pointers point to. */
import { isAlias, isMap, isScalar, isSeq, type Alias, type ParsedNode, type YAMLMap } from 'yaml';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition } from './request-context.js';
import { positionsIn } from './text-position.js';

export interface LocatedYaml {
  readonly text: string;
  readonly contents: ParsedNode | null;
  /** What an alias stands for; known since the document was read. */
  readonly targetOf: (alias: Alias) => ParsedNode | undefined;
}

/**
 * Finds many places in one document: what is found out for the first (where lines begin, which pair of a map has which
 * name) serves the others.
 */
export function yamlLocator(document: LocatedYaml): (pointer: string) => TextPosition | null {
  const pairs = new PairIndex();
  let positionAt: ((offset: number) => TextPosition) | null = null;
  /** The nearest place that exists: a pointer to a member that is missing gives its parent's place. */
  return (pointer) => {
    let node = document.contents;
    let offset = node?.range[0];
    for (const segment of pointerSegments(pointer)) {
      const target = isAlias(node) ? document.targetOf(node) : node;
      const found = childOf(target, segment, pairs);
      if (found === null) break;
      node = found.value;
      offset = found.offset;
    }
    if (offset === undefined) return null;
    positionAt ??= positionsIn(document.text);
    return positionAt(offset);
  };
}

interface Child {
  readonly value: ParsedNode | null;
  readonly offset: number;
}

type Pair = YAMLMap.Parsed['items'][number];

/** The pairs of maps by name; made when a map is first asked. */
class PairIndex {
  readonly #byMap = new Map<YAMLMap.Parsed, ReadonlyMap<string, Pair>>();

  find(map: YAMLMap.Parsed, name: string): Pair | undefined {
    let pairs = this.#byMap.get(map);
    if (pairs === undefined) {
      // The reader refused names that are no text or are there twice.
      pairs = new Map(
        map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]),
      );
      this.#byMap.set(map, pairs);
    }
    return pairs.get(name);
  }
}

function childOf(
  target: ParsedNode | null | undefined,
  name: string,
  pairs: PairIndex,
): Child | null {
  if (isSeq(target)) {
    const item = /^\d+$/.test(name) ? target.items[Number(name)] : undefined;
    return item === undefined ? null : { value: item, offset: item.range[0] };
  }
  if (!isMap(target)) return null;
  const pair = pairs.find(target, name);
  if (pair === undefined) return null;
  // A collection begins on the line after its name, which is not where people look.
  const place = isScalar(pair.value) ? pair.value : pair.key;
  return { value: pair.value, offset: place.range[0] };
}
