/** From the OpenAPI document: every body with every JSON type in each of its members, and every parameter with texts of all kinds. */
import { readFileSync } from 'node:fs';

type Schema = Readonly<Record<string, unknown>> & {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
};

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: Schema; readonly example?: unknown }>
    >;
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as Document;

/** Each as JSON text: some values have no other form. */
export const VALUES: readonly string[] = [
  'null', 'true', 'false', '0', '-1', '1', '1.5', '-0', '1e3', '2147483648', '9007199254740993', '-9223372036854775809',
  '123456789012345678901234567890', '1e999', '0.1e-400', '""', '"*"', '"text"', '"7"', '"\\u0000"', '"\\ud800"', '"\\u2028"',
  '"é😀"', '"../.."', '"9999-12-31T23:59:59.9999999"', '"2026-02-30T00:00:00Z"', `"${'x'.repeat(5000)}"`, '[]', '[null]',
  '[1, "a"]', '[[]]', '[{}]', '{}', '{"a": 1}', '{"": null}', '{"__proto__": {"a": 1}}', '{"constructor": 1}',
  '{"a": {"b": [123456789012345678901234567890]}}',
]; // prettier-ignore

const TEXTS = [
  '', '0', '-1', '1', '1.5', '2147483648', '9007199254740993', '123456789012345678901234567890', '1e999', 'true', 'NaN', '*',
  '\u0000', '\u2028', 'é😀', '../..', '{}', '[]', 'a:b', 'a=b', 'a>1', '2026-02-30', '2026-05-04T10:20:30.123Z',
  '+275760-09-13T00:00:00Z', 'PT5S', 'x'.repeat(5000), '%', '"', "'", '\\',
]; // prettier-ignore

/** A member is a list of names and positions; the empty list is the whole body. */
type Place = readonly (string | number)[];

export interface BodyCase {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const DEPTH_MAX = 5;
/** Stands for the value in the text of a body. */
const MARK = '\uE000value\uE000';

function resolve(schema: Schema): Schema {
  const name = /[^/]+$/.exec(schema.$ref ?? '')?.[0];
  return name === undefined ? schema : resolve(document.components.schemas[name]!);
}

function placesIn(schema: Schema, place: Place = []): Place[] {
  if (place.length > DEPTH_MAX) return [place];
  const { additionalProperties, anyOf = [], items, properties = {} } = resolve(schema);
  return [
    place,
    ...Object.entries(properties).flatMap(([name, member]) => placesIn(member, [...place, name])),
    ...(typeof additionalProperties === 'object'
      ? placesIn(additionalProperties, [...place, 'some'])
      : []),
    ...(items === undefined ? [] : placesIn(items, [...place, 0])),
    ...anyOf.flatMap((choice) => placesIn(choice, place).slice(1)),
  ];
}

/** The example, or as little as the schema requires. */
function sampleOf(schema: Schema): unknown {
  const { enum: choices, examples, items, properties = {}, required = [], type } = resolve(schema);
  if (examples !== undefined) return examples[0];
  if (choices !== undefined) return choices[0];
  if (required.length > 0) {
    return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name]!)]));
  }
  if (items !== undefined) return [sampleOf(items)];
  return type === 'string' ? 'text' : {};
}

function withValueAt(sample: unknown, schema: Schema, [first, ...rest]: Place): unknown {
  if (first === undefined) return MARK;
  const { additionalProperties, anyOf = [], items, properties = {} } = resolve(schema);
  if (typeof first === 'number') {
    const inner =
      items ?? anyOf.map(resolve).find((choice) => choice.items !== undefined)?.items ?? {};
    const list = Array.isArray(sample) ? (sample as unknown[]) : [];
    return [withValueAt(list[0] ?? sampleOf(inner), inner, rest), ...list.slice(1)];
  }
  const inner =
    properties[first] ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
  const map =
    typeof sample === 'object' && sample !== null ? (sample as Record<string, unknown>) : {};
  return { ...map, [first]: withValueAt(map[first] ?? sampleOf(inner), inner, rest) };
}

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([name, operation]) => ({
    method: name.toUpperCase(),
    path,
    operation,
  })),
);

/** Every value in every member of every body. */
export function bodyCases(values: readonly string[] = VALUES): BodyCase[] {
  return OPERATIONS.flatMap(({ method, path, operation: { requestBody } }) => {
    const media = requestBody?.content['application/json'];
    if (media === undefined) return [];
    const sample = media.example ?? sampleOf(media.schema);
    return placesIn(media.schema).flatMap((place) => {
      const text = JSON.stringify(withValueAt(sample, media.schema, place));
      return values.map((value) => ({
        method,
        path,
        body: text.replace(`"${MARK}"`, () => value),
      }));
    });
  });
}

export interface ParameterCase {
  readonly method: string;
  readonly path: string;
  readonly place: 'path' | 'query' | 'header';
  readonly name: string;
  readonly value: string;
}

/** Every text in every parameter. */
export function parameterCases(texts: readonly string[] = TEXTS): ParameterCase[] {
  return OPERATIONS.flatMap(({ method, path, operation: { parameters } }) =>
    parameters.flatMap(({ name, in: place }) =>
      texts.map((value) => ({ method, path, place: place as ParameterCase['place'], name, value })),
    ),
  );
}
