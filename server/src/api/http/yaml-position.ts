/** Finds the positions of JSON pointers in a YAML text. */
import { isAlias, isMap, isScalar, isSeq, type Alias, type ParsedNode, type YAMLMap } from 'yaml';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition } from './request-context.js';
import { positionsIn } from './text-position.js';

export interface LocatedYaml {
  readonly text: string;
  readonly contents: ParsedNode | null;
  /** The target of an alias, which is known once the document has been read. */
  readonly targetOf: (alias: Alias) => ParsedNode | undefined;
}

/**
 * Finds many positions in one document. Indexes built for the first one (the starts of lines, the pairs of maps by name)
 * are reused for the others.
 */
export function yamlLocator(document: LocatedYaml): (pointer: string) => TextPosition | null {
  const pairs = new PairIndex(document.targetOf);
  let positionAt: ((offset: number) => TextPosition) | null = null;
  /** The nearest existing position: for a missing member, that of its parent. */
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

/** The pairs of maps by name; built when a map is first used. */
class PairIndex {
  readonly #byMap = new Map<YAMLMap.Parsed, ReadonlyMap<string, Pair>>();
  readonly #targetOf: LocatedYaml['targetOf'];

  constructor(targetOf: LocatedYaml['targetOf']) {
    this.#targetOf = targetOf;
  }

  find(map: YAMLMap.Parsed, name: string): Pair | undefined {
    let pairs = this.#byMap.get(map);
    if (pairs === undefined) {
      // The reader has rejected duplicate names and names that are not strings.
      pairs = new Map(map.items.map((pair) => [this.#nameOf(pair), pair]));
      this.#byMap.set(map, pairs);
    }
    return pairs.get(name);
  }

  #nameOf({ key }: Pair): string {
    const scalar = isAlias(key) ? this.#targetOf(key) : key;
    if (!isScalar(scalar)) return '';
    return typeof scalar.value === 'string' ? scalar.value : scalar.source;
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
  // A collection starts on the line after its name, but people look for it at its name.
  const place = isScalar(pair.value) ? pair.value : pair.key;
  return { value: pair.value, offset: place.range[0] };
}
