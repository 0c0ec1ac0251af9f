/**
 * Reads the fields of a form from a JSON Schema (draft 2020-12). The form only helps to enter the data; the server validates it.
 * Values that the form can't show get a JSON field. Pure.
 */
import { fromJson, type DataValue } from './data-value.js';

interface FieldBase {
  readonly title: string;
  /** Null if the schema has no description. */
  readonly description: string | null;
  /** The schema's constraints on the value, such as `1 to 10`; empty if there are none. */
  readonly limits: string;
  readonly isNullable: boolean;
  readonly defaultValue: DataValue | undefined;
}

export interface TextField extends FieldBase {
  readonly kind: 'text';
  readonly format: 'date' | 'date-time' | 'lines' | null;
}

export interface NumberField extends FieldBase {
  readonly kind: 'number';
  readonly isInteger: boolean;
}

export interface Choice {
  readonly label: string;
  readonly value: DataValue;
}

export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  readonly choices: readonly Choice[];
}

export interface ListField extends FieldBase {
  readonly kind: 'list';
  readonly item: Field;
}

export interface MemberField {
  readonly name: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly members: readonly MemberField[];
  /** Whether the schema allows members that it does not name. */
  readonly hasOthers: boolean;
}

/** A field for JSON. */
export interface JsonPart extends FieldBase {
  readonly kind: 'json';
}

export type Field = TextField | NumberField | ChoiceField | ListField | ObjectField | JsonPart;

const FIELDS_MAX = 300;
const DEPTH_MAX = 8;
const CHOICES_MAX = 300;
/** Longer texts get several lines. */
const LINE_CHARACTERS_MAX = 120;

const BRANCHES: readonly string[] = ['anyOf', 'oneOf', 'allOf'];

type Schema = Readonly<Record<string, unknown>>;

/** The form of a schema; null if it names no members. */
export function readForm(schema: unknown): ObjectField | null {
  const field = new FormReader(schema).read(schema, { name: 'Data', depth: 0, path: [] });
  return field.kind === 'object' ? field : null;
}

interface Place {
  readonly name: string;
  readonly depth: number;
  /** The references followed so far; a repeated one is a recursion. */
  readonly path: readonly string[];
}

class FormReader {
  readonly #root: unknown;
  #count = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  read(schema: unknown, place: Place): Field {
    this.#count += 1;
    const found = this.#resolve(schema, place.path);
    const base = baseOf(found?.schema ?? {}, place.name);
    const json: JsonPart = { ...base, kind: 'json' };
    if (found === null || this.#count > FIELDS_MAX || place.depth > DEPTH_MAX) return json;
    const { schema: resolved, path } = found;
    const choices = choicesOf(resolved);
    if (choices !== null) return this.#choice(base, choices);
    const types = typesOf(resolved).filter((type) => type !== 'null');
    switch (types.length === 1 ? types[0] : undefined) {
      case 'string':
        return { ...base, kind: 'text', format: formatOf(resolved) };
      case 'number':
        return { ...base, kind: 'number', isInteger: false };
      case 'integer':
        return { ...base, kind: 'number', isInteger: true };
      case 'boolean':
        return this.#choice(base, [true, false].map(choiceOf));
      case 'array': {
        const { items, prefixItems } = resolved;
        if (!isSchema(items) || prefixItems !== undefined) return json;
        const item = this.read(items, { name: 'Item', depth: place.depth + 1, path });
        return { ...base, kind: 'list', item };
      }
      case 'object': {
        const field = this.#object(resolved, base, { ...place, path });
        return field.members.length === 0 ? json : field;
      }
      default:
        return json;
    }
  }

  #choice(base: FieldBase, choices: readonly Choice[]): Field {
    if (choices.length > CHOICES_MAX) return { ...base, kind: 'json' };
    const values = choices.filter(({ value }) => value !== null);
    const isNullable = base.isNullable || values.length < choices.length;
    return { ...base, kind: 'choice', choices: values, isNullable };
  }

  #object(schema: Schema, base: FieldBase, { depth, path }: Place): ObjectField {
    const required: readonly unknown[] = Array.isArray(schema['required'])
      ? schema['required']
      : [];
    const members = entriesOf(schema['properties']).map(([name, member]) => ({
      name,
      field: this.read(member, { name, depth: depth + 1, path }),
      isRequired: required.includes(name),
    }));
    const { additionalProperties, unevaluatedProperties, patternProperties } = schema;
    const isClosed = additionalProperties === false || unevaluatedProperties === false;
    const hasOthers = !isClosed || entriesOf(patternProperties).length > 0;
    return { ...base, kind: 'object', members, hasOthers };
  }

  /** Follows references, and looks into the only possible branch. Null for a recursion, and for a schema that is missing. */
  #resolve(
    schema: unknown,
    path: readonly string[],
  ): { readonly schema: Schema; readonly path: readonly string[] } | null {
    if (!isSchema(schema)) return null;
    const { $ref, ...rest } = schema;
    if (typeof $ref === 'string') {
      if (path.includes($ref)) return null;
      const target = this.#resolve(targetOf(this.#root, $ref), [...path, $ref]);
      return target && { ...target, schema: { ...target.schema, ...rest } };
    }
    const branch = onlyBranch(schema);
    if (branch === null) return { schema, path };
    const others = Object.entries(schema).filter(([keyword]) => !BRANCHES.includes(keyword));
    const target = this.#resolve(branch.schema, path);
    if (target === null) return null;
    const type = branch.isNullable ? [...typesOf(target.schema), 'null'] : undefined;
    return {
      path: target.path,
      schema: {
        ...target.schema,
        ...Object.fromEntries(others),
        ...(type !== undefined && { type }),
      },
    };
  }
}

/** The branch of `anyOf: [<schema>, { type: null }]`, or of an `allOf` with one schema, unless there is a type beside it. */
function onlyBranch(
  schema: Schema,
): { readonly schema: unknown; readonly isNullable: boolean } | null {
  const { allOf, anyOf, oneOf, type, properties } = schema;
  if (type !== undefined || properties !== undefined) return null;
  const branches: unknown = anyOf ?? oneOf ?? allOf;
  if (!Array.isArray(branches)) return null;
  const known: readonly unknown[] = branches;
  const rest = known.filter((branch) => !(isSchema(branch) && branch['type'] === 'null'));
  if (rest.length !== 1) return null;
  return { schema: rest[0], isNullable: rest.length < known.length };
}

/** The target of `#`, or of `#/$defs/name`. Undefined for every other reference. */
function targetOf(root: unknown, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let parts: readonly string[];
  try {
    parts = reference.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  return parts.reduce<unknown>((inside, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    return entriesOf(inside).find(([key]) => key === name)?.[1];
  }, root);
}

function baseOf(schema: Schema, name: string): FieldBase {
  const { title, description } = schema;
  return {
    title: typeof title === 'string' && title !== '' ? title : name,
    description: typeof description === 'string' && description !== '' ? description : null,
    limits: limitsOf(schema),
    isNullable: typesOf(schema).includes('null'),
    defaultValue: 'default' in schema ? fromJson(schema['default']) : undefined,
  };
}

function typesOf(schema: Schema): readonly unknown[] {
  const { type, properties } = schema;
  if (Array.isArray(type)) return type;
  if (type !== undefined) return [type];
  return properties === undefined ? [] : ['object'];
}

/** The values of `enum`, of `const`, or of branches that are a `const` each. */
function choicesOf(schema: Schema): Choice[] | null {
  if ('const' in schema) return [choiceOf(schema['const'])];
  if (Array.isArray(schema['enum'])) return schema['enum'].map(choiceOf);
  const branches: unknown = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(branches) || branches.length === 0) return null;
  const known: readonly unknown[] = branches;
  if (!known.every((branch) => isSchema(branch) && 'const' in branch)) return null;
  return known.filter(isSchema).map((branch) => {
    const choice = choiceOf(branch['const']);
    return typeof branch['title'] === 'string' ? { ...choice, label: branch['title'] } : choice;
  });
}

function choiceOf(json: unknown): Choice {
  const value = fromJson(json);
  return { value, label: typeof json === 'string' ? json : labelOf(json) };
}

function labelOf(json: unknown): string {
  return JSON.stringify(json, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

function formatOf({ format, maxLength, contentMediaType }: Schema): TextField['format'] {
  if (format === 'date' || format === 'date-time') return format;
  const isLong = Number(maxLength ?? 0) > LINE_CHARACTERS_MAX;
  return isLong || String(contentMediaType).startsWith('text/') ? 'lines' : null;
}

/** In words, such as `1 to 10`, `at most 20 characters` or `matches ^[A-Z]+$`. */
function limitsOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, pattern } = schema;
  const parts = [
    rangeText(minimum, maximum, ''),
    exclusiveMinimum === undefined ? null : `more than ${shown(exclusiveMinimum)}`,
    exclusiveMaximum === undefined ? null : `less than ${shown(exclusiveMaximum)}`,
    multipleOf === undefined ? null : `a multiple of ${shown(multipleOf)}`,
    rangeText(schema['minLength'], schema['maxLength'], ' characters'),
    rangeText(schema['minItems'], schema['maxItems'], ' items'),
    typeof pattern === 'string' ? `matches ${pattern}` : null,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

function rangeText(minimum: unknown, maximum: unknown, unit: string): string | null {
  if (minimum !== undefined && maximum !== undefined) {
    return `${shown(minimum)} to ${shown(maximum)}${unit}`;
  }
  if (minimum !== undefined) return `at least ${shown(minimum)}${unit}`;
  return maximum === undefined ? null : `at most ${shown(maximum)}${unit}`;
}

function shown(limit: unknown): string {
  return typeof limit === 'number' || typeof limit === 'bigint' ? String(limit) : labelOf(limit);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
