/**
 * TypeScript types of a JSON Schema.
 *
 *  TT1 No text of the schema can escape from a comment or string of the module.
 *  TT2 The length is proportional to the schema's: each referenced schema becomes a named type.
 */
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';
import { resolveReference } from './schema-references.js';
import { schemaPositions } from './schema-positions.js';

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

export class TypesOfSchema {
  readonly #root: Json;
  /** The names of referenced schemas. */
  readonly #names = new Map<object, string>();

  /** @param rootName the type of the whole schema */
  constructor(root: Json, rootName: string, taken: readonly string[]) {
    this.#root = root;
    if (isJsonObject(root)) this.#names.set(root, rootName);
    const used = new Set([rootName, ...taken]);
    for (const { schema } of schemaPositions(root)) {
      for (const reference of referencesOf(schema)) {
        const target = resolveReference(root, schema, reference);
        if (!isJsonObject(target) || this.#names.has(target)) continue;
        this.#names.set(target, freeName(reference, used));
      }
    }
  }

  /** `export type …` for the root and all referenced schemas. */
  declarations(): readonly string[] {
    if (!isJsonObject(this.#root)) return [];
    return [...this.#names].map(([schema, name]) => {
      // Only objects have names here.
      const own = schema as JsonObject;
      const type = this.#isCircular(own) ? 'unknown' : this.#typeOf(own, '');
      return `${comment(getField(own, 'description'), '')}export type ${name} = ${type};\n`;
    });
  }

  typeOf(schema: Json, indent: string): string {
    const name = isJsonObject(schema) ? this.#names.get(schema) : undefined;
    return name ?? this.#typeOf(schema, indent);
  }

  #typeOf(schema: Json, indent: string): string {
    if (!isJsonObject(schema)) return schema === false ? 'never' : 'unknown';
    const parts = referencesOf(schema).map((reference) => {
      return this.typeOf(resolveReference(this.#root, schema, reference), indent);
    });
    const own = this.#ownType(schema, indent);
    if (own !== 'unknown') parts.push(own);
    for (const inner of listOf(schema, 'allOf')) parts.push(this.typeOf(inner, indent));
    for (const keyword of ['anyOf', 'oneOf']) {
      const alternatives = listOf(schema, keyword).map((inner) => this.typeOf(inner, indent));
      if (alternatives.length > 0) parts.push(united(alternatives));
    }
    const known = [...new Set(parts)].filter((part) => part !== 'unknown');
    if (known.length === 0) return 'unknown';
    return known.length === 1 ? (known[0] ?? 'unknown') : known.map(inParentheses).join(' & ');
  }

  /** The type without combined schemas. */
  #ownType(schema: JsonObject, indent: string): string {
    const constant = getField(schema, 'const');
    if (constant !== undefined) return literal(constant);
    const choices = getField(schema, 'enum');
    if (Array.isArray(choices)) return united((choices as readonly Json[]).map(literal));
    const types = getField(schema, 'type');
    const names = Array.isArray(types)
      ? (types as readonly Json[])
      : [types ?? impliedType(schema)];
    return united(names.map((name) => this.#typeNamed(name, schema, indent)));
  }

  #typeNamed(name: Json, schema: JsonObject, indent: string): string {
    if (name === 'object') return this.#objectType(schema, indent);
    return name === 'array'
      ? this.#listType(schema, indent)
      : ((typeof name === 'string' ? SCALARS[name] : undefined) ?? 'unknown');
  }

  #objectType(schema: JsonObject, indent: string): string {
    const properties = getField(schema, 'properties');
    const entries =
      properties !== undefined && isJsonObject(properties) ? Object.entries(properties) : [];
    const required = new Set(listOf(schema, 'required'));
    const inner = `${indent}  `;
    const members = entries.map(([name, member]) => {
      const mark = required.has(name) ? '' : '?';
      const description = isJsonObject(member) ? getField(member, 'description') : undefined;
      return `${comment(description, inner)}${inner}${memberName(name)}${mark}: ${this.typeOf(member, inner)};\n`;
    });
    for (const name of required) {
      if (typeof name !== 'string' || entries.some(([own]) => own === name)) continue;
      members.push(`${inner}${memberName(name)}: unknown;\n`);
    }
    if (members.length === 0 || hasOthers(schema))
      members.push(`${inner}[name: string]: unknown;\n`);
    return `{\n${members.join('')}${indent}}`;
  }

  #listType(schema: JsonObject, indent: string): string {
    const others = getField(schema, 'items');
    const first = listOf(schema, 'prefixItems');
    const rest = inParentheses(others === undefined ? 'unknown' : this.typeOf(others, indent));
    if (first.length === 0) return `${rest}[]`;
    // A list may be shorter than its prefix.
    const items = first.map((item) => `${inParentheses(this.typeOf(item, indent))}?`);
    return `[${items.join(', ')}${others === false ? '' : `, ...${rest}[]`}]`;
  }

  /** True if the type would refer to itself without an object or list in between. */
  #isCircular(schema: JsonObject): boolean {
    const seen = new Set<Json>();
    const open = this.#combinedBy(schema);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === schema) return true;
      if (!isJsonObject(next) || seen.has(next)) continue;
      seen.add(next);
      open.push(...this.#combinedBy(next));
    }
    return false;
  }

  #combinedBy(schema: JsonObject): Json[] {
    const targets = referencesOf(schema).map((reference) =>
      resolveReference(this.#root, schema, reference),
    );
    const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema, keyword));
    return [...targets, ...parts];
  }
}

function referencesOf(schema: JsonObject): readonly string[] {
  const references = [getField(schema, '$ref'), getField(schema, '$dynamicRef')];
  return references.filter((reference) => typeof reference === 'string');
}

function listOf(schema: JsonObject, keyword: string): readonly Json[] {
  const list = getField(schema, keyword);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

function impliedType(schema: JsonObject): string {
  const has = (keywords: readonly string[]): boolean =>
    keywords.some((keyword) => Object.hasOwn(schema, keyword));
  if (has(['properties', 'required', 'additionalProperties', 'patternProperties'])) return 'object';
  return has(['items', 'prefixItems']) ? 'array' : 'unknown';
}

/** Additional members must be allowed explicitly, so that the compiler finds misspelled ones. */
function hasOthers(schema: JsonObject): boolean {
  const others = getField(schema, 'additionalProperties');
  const isAllowed = others !== undefined && others !== false;
  return isAllowed || Object.hasOwn(schema, 'patternProperties');
}

/** The type of a constant. */
export function literal(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return textLiteral(value);
  // Large integers and floats have no exact literal.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : 'number';
  return typeof value === 'bigint' ? 'number' : 'unknown';
}

export function united(types: readonly string[]): string {
  const different = [...new Set(types)];
  if (different.length === 0) return 'never';
  if (different.includes('unknown')) return 'unknown';
  return different.length === 1
    ? (different[0] ?? 'unknown')
    : different.map(inParentheses).join(' | ');
}

function inParentheses(type: string): string {
  return / [|&] /.test(type) && !type.startsWith('{') ? `(${type})` : type;
}

export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : textLiteral(name);
}

function textLiteral(text: string): string {
  // Everything but plain ASCII is escaped, so that no character ends the line or string, or looks like another one.
  return JSON.stringify(text).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const COMMENT_LENGTH_MAX = 500;

/** A comment on its own line; empty if there is no text. */
export function comment(text: Json | undefined, indent: string): string {
  if (typeof text !== 'string' || text.trim() === '') return '';
  const line = text
    .slice(0, COMMENT_LENGTH_MAX)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim();
  return `${indent}/** ${line} */\n`;
}

/** A free type name for a reference, derived from its last part. */
function freeName(reference: string, used: Set<string>): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1).replace('#', '');
  const words = last.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const name = /^[A-Z]/.test(joined) ? joined : `Type${joined}`;
  let free = name;
  for (let number = 2; used.has(free); number += 1) free = `${name}${number}`;
  used.add(free);
  return free;
}
