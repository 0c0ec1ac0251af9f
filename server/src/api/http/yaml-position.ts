/** Finds the positions of JSON pointers in a YAML text. */
import { isAlias, isMap, isScalar, isSeq, type Alias, type ParsedNode, type YAMLMap } from 'yaml';
import { pointerSegments } from './pointer-segments.js';
import type { TextPosition, WrittenNumbers } from './request-context.js';
import { positionsIn } from './text-position.js';
import { isMergeKey } from './yaml-reader.js';

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
  /** The nearest existing position: for a missing member, its parent's position. */
  return (pointer) => {
    let node = document.contents;
    let offset = node?.range[0];
    for (const segment of pointerSegments(pointer)) {
      const found = childOf(node, segment, { document, pairs });
      if (found === null) break;
      node = found.value;
      offset = found.offset;
    }
    if (offset === undefined) return null;
    positionAt ??= positionsIn(document.text);
    return positionAt(offset);
  };
}

/** The original notation of the numbers in a document. */
export function yamlNumbers(document: LocatedYaml): WrittenNumbers {
  const pairs = new PairIndex(document.targetOf);
  return (pointer) => {
    let node = document.contents;
    for (const segment of pointerSegments(pointer)) {
      const found = childOf(node, segment, { document, pairs });
      if (found === null) return null;
      node = found.value;
    }
    const target = isAlias(node) ? document.targetOf(node) : node;
    const isNumber = isScalar(target) && ['number', 'bigint'].includes(typeof target.value);
    return isNumber ? target.source : null;
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

interface Surroundings {
  readonly document: LocatedYaml;
  readonly pairs: PairIndex;
}

/** Chains of merge keys aren't followed further; the map's own position is used instead. */
const MERGES_MAX = 10;

function childOf(
  node: ParsedNode | null,
  name: string,
  around: Surroundings,
  merges = 0,
): Child | null {
  const { document, pairs } = around;
  const target = isAlias(node) ? document.targetOf(node) : node;
  if (isSeq(target)) {
    const item = /^\d+$/.test(name) ? target.items[Number(name)] : undefined;
    return item === undefined ? null : { value: item, offset: item.range[0] };
  }
  if (!isMap(target)) return null;
  const pair = pairs.find(target, name);
  if (pair === undefined) return mergedChildOf(target, name, around, merges);
  // A collection starts on the line after its name, but users look for it at its name.
  const place = isScalar(pair.value) ? pair.value : pair.key;
  return { value: pair.value, offset: place.range[0] };
}

/** Finds a member that was added by a merge key, in its original map. */
function mergedChildOf(
  map: YAMLMap.Parsed,
  name: string,
  around: Surroundings,
  merges: number,
): Child | null {
  const merge = around.pairs.find(map, '<<');
  if (merge === undefined || !isMergeKey(merge.key) || merges >= MERGES_MAX) return null;
  const value = isAlias(merge.value) ? around.document.targetOf(merge.value) : merge.value;
  const sources = isSeq(value) ? value.items : [value ?? null];
  for (const source of sources) {
    const child = childOf(source, name, around, merges + 1);
    if (child !== null) return child;
  }
  return null;
}
