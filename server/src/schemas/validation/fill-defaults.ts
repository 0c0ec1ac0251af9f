/**
 * Fills in the `default`s of a schema: members of objects that are absent, at every level and in the elements of lists.
 *
 *  FD1 A given value stays, also null.
 *  FD2 Only schemas that always apply give defaults: `properties`, `patternProperties`, `additionalProperties`, `items`,
 *      `prefixItems`, `allOf` and `$ref`. Those of alternatives and conditions do not, because what applies is known only
 *      afterwards.
 *  FD3 The first schema that applies wins, in the order in which they are written.
 *  FD4 Each schema is applied to each object once, so that references in a circle end.
 */
import { jsonLength } from '../../engine/values/json-length.js';
import {
  getField,
  isJsonObject,
  setField,
  type Json,
  type JsonObject,
} from '../../engine/values/json.js';
import { linearPattern, type LinearPattern } from './linear-patterns.js';
import { resolveReference } from '../../engine/definitions/schema-references.js';

/** Bytes that the defaults can add to one object of data: a default in each element of a list can add up. */
const ADDED_BYTES_MAX = 4 * 1024 * 1024;
/** Data is never nested more deeply; only defaults that contain themselves are. */
const DEPTH_MAX = 128;
const REFERENCES_MAX = 100;

/** The defaults of a schema would make the data grow without end, or too large. */
export class TooManyDefaults extends Error {
  override readonly name = 'TooManyDefaults';
}

export class Defaults {
  readonly #schema: Json;
  readonly #patterns = new Map<string, LinearPattern>();
  #applied = new WeakMap<object, Set<object>>();
  #bytesLeft = ADDED_BYTES_MAX;

  constructor(schema: Json) {
    this.#schema = schema;
  }

  /** Changes the data. Returns whether anything was filled in. @throws TooManyDefaults */
  fillIn(data: JsonObject): boolean {
    this.#applied = new WeakMap();
    this.#bytesLeft = ADDED_BYTES_MAX;
    this.#apply(this.#schema, data, 0);
    return this.#bytesLeft < ADDED_BYTES_MAX;
  }

  #apply(schema: Json, value: Json, depth: number): void {
    if (!isJsonObject(schema) || typeof value !== 'object' || value === null) return;
    if (depth > DEPTH_MAX) throw new TooManyDefaults('its defaults contain themselves');
    if (!this.#isFirst(schema, value)) return;
    if (isJsonObject(value)) this.#applyToObject(schema, value, depth);
    else this.#applyToList(schema, value, depth);
    for (const target of this.#targetsOf(schema)) this.#apply(target, value, depth);
    const all = getField(schema, 'allOf');
    if (Array.isArray(all)) for (const inner of all as Json[]) this.#apply(inner, value, depth);
  }

  #isFirst(schema: object, value: object): boolean {
    const applied = this.#applied.get(value) ?? new Set();
    if (applied.has(schema)) return false;
    this.#applied.set(value, applied.add(schema));
    return true;
  }

  #applyToObject(schema: JsonObject, value: JsonObject, depth: number): void {
    const properties = mapOf(schema, 'properties');
    for (const [name, inner] of properties) {
      if (Object.hasOwn(value, name)) continue;
      const found = this.#defaultOf(inner, REFERENCES_MAX);
      if (found !== undefined) this.#add(value, name, found);
    }
    for (const [name, inner] of properties)
      this.#apply(inner, getField(value, name) ?? null, depth + 1);
    const patterns = mapOf(schema, 'patternProperties').map(
      ([pattern, inner]) => [this.#pattern(pattern), inner] as const,
    );
    const others = getField(schema, 'additionalProperties') ?? null;
    if (patterns.length === 0 && !isJsonObject(others)) return;
    const named = new Set(properties.map(([name]) => name));
    for (const [name, member] of Object.entries(value)) {
      const matching = patterns.filter(([pattern]) => pattern.test(name));
      for (const [, inner] of matching) this.#apply(inner, member, depth + 1);
      if (matching.length === 0 && !named.has(name)) this.#apply(others, member, depth + 1);
    }
  }

  #applyToList(schema: JsonObject, items: readonly Json[], depth: number): void {
    const prefix = getField(schema, 'prefixItems');
    const first: readonly Json[] = Array.isArray(prefix) ? prefix : [];
    const others = getField(schema, 'items') ?? null;
    if (first.length === 0 && !isJsonObject(others)) return;
    for (const [index, item] of items.entries())
      this.#apply(first[index] ?? others, item, depth + 1);
  }

  #add(target: JsonObject, name: string, value: Json): void {
    this.#bytesLeft -= jsonLength(name) + jsonLength(value) + 2;
    if (this.#bytesLeft < 0) throw new TooManyDefaults('its defaults make the data too large');
    setField(target, name, copyOf(value));
  }

  /** The default of a schema, or of one that it refers to. */
  #defaultOf(schema: Json, referencesLeft: number): Json | undefined {
    if (!isJsonObject(schema) || referencesLeft === 0) return undefined;
    if (Object.hasOwn(schema, 'default')) return schema['default'];
    for (const target of this.#targetsOf(schema)) {
      const found = this.#defaultOf(target, referencesLeft - 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #targetsOf(schema: JsonObject): readonly Json[] {
    const references = [getField(schema, '$ref'), getField(schema, '$dynamicRef')];
    return references.map((reference) => resolveReference(this.#schema, schema, reference));
  }

  #pattern(source: string): LinearPattern {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      pattern = linearPattern(source);
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }
}

function mapOf(schema: JsonObject, keyword: string): readonly (readonly [string, Json])[] {
  const map = getField(schema, keyword);
  return map !== undefined && isJsonObject(map) ? Object.entries(map) : [];
}

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) setField(copy, name, copyOf(member));
  return copy;
}
