/** The known fields of the data, from `Input` and the steps' Outputs, for warnings about unknown fields. */
import { quoteText } from '../values/convert-input.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';
import type { InputSchema, WorkflowDefinition } from '../model/definition.js';
import type { ExpressionFacts } from './expression-facts.js';
import { childPointer } from './json-pointer.js';
import type { ExpressionSource } from './parse-state.js';
import type { DocumentWarningCode, ProblemList } from './problem-list.js';
import { resolveReference } from './schema-references.js';
import { suggestedName } from './suggest-name.js';

type Warnings = ProblemList<DocumentWarningCode>;

/** Schemas that apply or may apply to one value. */
type Schemas = readonly Json[];

interface MissingField {
  /** The keys up to the missing field. */
  readonly keys: readonly string[];
  readonly fields: readonly string[];
}

const DICT_METHODS: ReadonlySet<string> = new Set(
  'clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '),
);

export class InputFields {
  readonly #schema: InputSchema;
  readonly #root: Schemas;
  /** Keyed by the list of schemas: a large schema is walked once for all expressions. */
  readonly #known = new WeakMap<Schemas, ReadonlyMap<string, Schemas> | 'open'>();
  readonly #written: ReadonlySet<string>;

  /** @param written the fields that Outputs set, whose values are unknown */
  constructor(schema: InputSchema, written: ReadonlySet<string>) {
    this.#schema = schema;
    this.#root = [schema];
    this.#written = written;
  }

  /** Null if all fields may exist. */
  missing(keys: readonly string[]): MissingField | null {
    const [first] = keys;
    if (first === undefined || this.#written.has(first)) return null;
    let schemas = this.#root;
    for (const [depth, key] of keys.entries()) {
      if (DICT_METHODS.has(key) || key.startsWith('__')) return null;
      const members = this.#membersOf(schemas);
      if (members === null) return null;
      const found = members.get(key);
      if (found === undefined) {
        const others = depth === 0 ? this.#written : [];
        return { keys: keys.slice(0, depth + 1), fields: [...members.keys(), ...others] };
      }
      schemas = found;
    }
    return null;
  }

  /** The schemas of each member; null if members without a schema are allowed. */
  #membersOf(schemas: Schemas): ReadonlyMap<string, Schemas> | null {
    let members = this.#known.get(schemas);
    if (members === undefined) {
      members = this.#collectMembers(schemas) ?? 'open';
      this.#known.set(schemas, members);
    }
    return members === 'open' ? null : members;
  }

  #collectMembers(schemas: Schemas): ReadonlyMap<string, Schemas> | null {
    const members = new Map<string, Schemas>();
    for (const schema of this.#allOf(schemas)) {
      if (hasOtherMembers(schema)) return null;
      const properties = getField(schema, 'properties');
      if (properties === undefined || !isJsonObject(properties)) continue;
      for (const [name, inner] of Object.entries(properties)) {
        members.set(name, [...(members.get(name) ?? []), inner]);
      }
    }
    return members.size === 0 ? null : members;
  }

  /** These schemas, and the schemas that they reference or combine. */
  #allOf(schemas: Schemas): readonly JsonObject[] {
    const found = new Set<JsonObject>();
    const open = [...schemas];
    for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
      if (!isJsonObject(schema) || found.has(schema)) continue;
      found.add(schema);
      for (const keyword of ['$ref', '$dynamicRef']) {
        open.push(resolveReference(this.#schema, schema, getField(schema, keyword)));
      }
      for (const keyword of ['allOf', 'anyOf', 'oneOf', 'dependentSchemas']) {
        open.push(...Object.values<Json>((getField(schema, keyword) ?? {}) as JsonObject));
      }
      for (const keyword of ['if', 'then', 'else']) open.push(getField(schema, keyword) ?? null);
    }
    return [...found];
  }
}

function hasOtherMembers(schema: JsonObject): boolean {
  if (Object.hasOwn(schema, 'patternProperties')) return true;
  const others = ['additionalProperties', 'unevaluatedProperties'].map((keyword) =>
    getField(schema, keyword),
  );
  return others.some((other) => other !== undefined && other !== false);
}

/** Null if nothing is known about the data. */
export function inputFieldsOf(definition: WorkflowDefinition): InputFields | null {
  const { input, steps } = definition;
  if (input === null || typeof input === 'boolean') return null;
  const written = new Set<string>();
  for (const { outputs } of steps.values()) for (const { key } of outputs) written.add(key);
  return new InputFields(input, written);
}

export function warnAboutDataFields(
  { pointer, source }: ExpressionSource,
  { reads }: ExpressionFacts,
  fields: InputFields,
  warnings: Warnings,
): void {
  for (const { keys, variable } of reads) {
    const missing = variable === 'data' ? fields.missing(keys) : null;
    if (missing !== null) warnAbout(missing, { pointer, source }, warnings);
  }
}

/** Warns about index fields that the data can't have. */
export function warnAboutIndex(
  { index }: WorkflowDefinition,
  pointer: string,
  fields: InputFields,
  warnings: Warnings,
): void {
  for (const [name, path] of index) {
    const missing = fields.missing(path);
    const place = { pointer: childPointer(pointer, name), source: ['data', ...path].join('.') };
    if (missing !== null) warnAbout(missing, place, warnings);
  }
}

/** Longer lists don't help authors. */
const SHOWN_MAX = 10;
const COMPARED_MAX = 200;

function warnAbout(
  { fields, keys }: MissingField,
  { pointer, source }: Pick<ExpressionSource, 'pointer' | 'source'>,
  warnings: Warnings,
): void {
  const path = ['data', ...keys].join('.');
  const shown = fields.slice(0, SHOWN_MAX).join(', ');
  const more = fields.length > SHOWN_MAX ? ' …' : '';
  const last = keys.at(-1) ?? '';
  const near = suggestedName(last, fields.slice(0, COMPARED_MAX));
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  const message = `Neither Input nor the Outputs of a step give ${quoteText(path)}; the fields are ${shown}${more}.${hint}`;
  const better = near === null ? null : [...path.split('.').slice(0, -1), near].join('.');
  const isPlain = better !== null && source.includes(path) && !last.includes('.');
  const fixed = isPlain ? source.replaceAll(path, better) : null;
  warnings.add('unknown_field', pointer, message, fixed);
}
