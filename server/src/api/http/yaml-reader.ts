/**
 * Converts a composed YAML document to JSON values of limited size, with aliases expanded.
 *
 * A merge key (`<<: *base`) isn't part of YAML 1.2, but it is common, and almost never meant as a field name. The members of the
 * referenced maps are added unless the map already has them.
 */
import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  type Alias,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { exactInteger } from '../../engine/values/exact-json.js';
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';
import type { AppError } from '../../base/errors.js';
import type { ApiLimits } from './api-limits.js';
import { numberProblem, unreadable } from './json-format.js';

type Node = ParsedNode | null;

/** Decimal, octal and hexadecimal integers. Finite octal and hexadecimal integers are short enough. */
const INTEGER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-f]+)$/i;

const CORE_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

interface ReadTarget {
  readonly value: Json;
  readonly depth: number;
  readonly nodes: number;
}

export class YamlReader {
  readonly #text: string;
  readonly #limits: ApiLimits;
  readonly #anchors = new Map<string, ParsedNode>();
  /** The target of each alias, resolved when it is first read, because a later anchor may have the same name. */
  readonly #targets = new Map<Alias, ParsedNode>();
  /** Resolved alias values, and the depth at which they were within the limits. */
  readonly #readTargets = new Map<ParsedNode, ReadTarget>();
  #nodes = 0;
  #aliases = 0;

  constructor(text: string, limits: ApiLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /** @throws AppError `unreadable_body` */
  read(node: Node): Json {
    return this.#read(node, 0);
  }

  /** The target of an alias at the time it was read. */
  targetOf(alias: Alias): ParsedNode | undefined {
    return this.#targets.get(alias);
  }

  #read(node: Node, depth: number): Json {
    this.#count(1, node);
    // As in JSON, an empty map or list counts as a level.
    const levels = depth + (isCollection(node) ? 1 : 0);
    if (levels > this.#limits.bodyDepthMax) {
      throw this.#refused(
        node,
        `The body is nested deeper than ${this.#limits.bodyDepthMax} levels`,
      );
    }
    if (node === null) return null;
    if (isAlias(node)) return this.#readAlias(node, depth);
    this.#checkTag(node);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node);
    if (isMap(node)) return this.#map(node, depth);
    return node.items.map((item) => this.#read(item, depth + 1));
  }

  /** Reads each target only once, because a few aliases can reference the largest part of a document a hundred times. */
  #readAlias(alias: Alias.Parsed, depth: number): Json {
    const target = this.#targetOf(alias);
    const known = this.#readTargets.get(target);
    if (known === undefined || depth > known.depth) {
      const before = this.#nodes;
      const value = this.#read(target, depth);
      this.#readTargets.set(target, { value, depth, nodes: this.#nodes - before });
      return value;
    }
    this.#count(known.nodes, alias);
    return known.value;
  }

  #count(nodes: number, node: Node): void {
    this.#nodes += nodes;
    if (this.#nodes > this.#limits.bodyNodesMax) {
      throw this.#refused(node, `The body has more than ${this.#limits.bodyNodesMax} values`);
    }
  }

  #map(node: YAMLMap.Parsed, depth: number): JsonObject {
    const result: JsonObject = {};
    let merged: readonly JsonObject[] | null = null;
    for (const { key, value } of node.items) {
      const name = this.#name(key);
      const isMerge = isMergeKey(key);
      if (Object.hasOwn(result, name) || (isMerge && merged !== null)) {
        throw this.#refused(key, `The key ${JSON.stringify(name)} is given twice`);
      }
      const read = this.#read(value, depth + 1);
      const maps = isMerge ? mapsIn(read) : null;
      if (maps === null) setField(result, name, read);
      else merged = maps;
    }
    for (const map of merged ?? []) this.#merge(map, result, node);
    return result;
  }

  /** Each member is a value of the document once more. */
  #merge(map: JsonObject, target: JsonObject, node: Node): void {
    const members = Object.entries(map);
    this.#count(members.length, node);
    for (const [name, value] of members) {
      if (!Object.hasOwn(target, name)) setField(target, name, value);
    }
  }

  #name(key: Node): string {
    if (isAlias(key)) return this.#aliasedName(key);
    if (!isScalar(key) || typeof key.value !== 'string') {
      throw this.#refused(key, 'Map keys must be strings');
    }
    this.#checkTag(key);
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, key);
    return key.value;
  }

  /** A key is taken literally as text, even if it would be parsed as a number. */
  #aliasedName(alias: Alias.Parsed): string {
    const target = this.#targetOf(alias);
    if (!isScalar(target)) throw this.#refused(alias, 'Map keys must be strings');
    return typeof target.value === 'string' ? target.value : target.source;
  }

  #scalar(node: Scalar.Parsed): Json {
    const { value } = node;
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value !== 'number') {
      throw this.#refused(node, 'The value has a type that does not exist in JSON');
    }
    const { source } = node;
    const problem = numberProblem(source, value);
    if (problem !== null) throw this.#refused(node, problem);
    if (Number.isSafeInteger(value) || !INTEGER.test(source)) return value;
    // BigInt accepts a sign only before decimal digits, as YAML does.
    return exactInteger(BigInt(source));
  }

  #targetOf(alias: Alias.Parsed): ParsedNode {
    this.#aliases += 1;
    if (this.#aliases > this.#limits.yamlAliasesMax) {
      throw this.#refused(alias, `More than ${this.#limits.yamlAliasesMax} aliases are used`);
    }
    const target = this.#targets.get(alias) ?? this.#anchors.get(alias.source);
    if (target === undefined) {
      const name = alias.source.slice(0, 40);
      throw this.#refused(alias, `No anchor &${name} is defined before this alias`);
    }
    this.#targets.set(alias, target);
    return target;
  }

  #checkTag(node: ParsedNode): void {
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag)) {
      throw this.#refused(node, `The tag ${node.tag} is not part of the YAML core schema`);
    }
  }

  #refused(node: Node, message: string): AppError {
    return unreadable(this.#text, node?.range[0] ?? 0, message);
  }
}

/** `<<` without quotes. */
export function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

/** The maps that a merge key names; null if it names something else, so that it is the name of a field. */
function mapsIn(value: Json): readonly JsonObject[] | null {
  if (isJsonObject(value)) return [value];
  const isList = Array.isArray(value) && value.length > 0 && value.every(isJsonObject);
  return isList ? value : null;
}
