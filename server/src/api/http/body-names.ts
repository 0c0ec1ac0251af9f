/**
 * Member names in request bodies: accepted in any casing, such as `{"Reason": …}`, like query parameters and the members of
 * definitions.
 *
 * The known names come from the OpenAPI document, which is generated from the controllers. Free-form members, such as data and
 * tags, belong to the caller and stay unchanged. So do definitions and limits, which have their own parsers. Unknown names are kept for the
 * call to validate.
 */
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';
import { callKey, readApiDocument, type Schema } from './api-document.js';

/** The members of a value, and of the values inside it. */
interface Names {
  /** By lower-case name. */
  readonly members: Map<string, { readonly name: string; readonly value: Names }>;
  /** The members of the elements, if the value is a list. */
  items: Names | null;
}

const PREFIX = '#/components/schemas/';
const PARSED_BY_THEMSELVES: ReadonlySet<string> = new Set([
  `${PREFIX}DefinitionDocument`,
  `${PREFIX}LimitRequest`,
]);

const NAMES_BY_CALL: ReadonlyMap<string, Names> = readNames();

/** The same value with its member names in the call's own casing. */
export function withKnownNames(method: string, path: string, value: Json): Json {
  const names = NAMES_BY_CALL.get(callKey(method, path));
  return names === undefined ? value : rename(value, names);
}

function rename(value: Json, names: Names): Json {
  if (Array.isArray(value)) {
    const { items } = names;
    const list: readonly Json[] = value;
    return items === null || isEmpty(items) ? list : list.map((item) => rename(item, items));
  }
  if (names.members.size === 0 || !isJsonObject(value)) return value;
  const renamed: JsonObject = {};
  for (const [given, inner] of Object.entries(value)) {
    const known = names.members.get(given.toLowerCase());
    const isTaken =
      known !== undefined &&
      known.name !== given &&
      (Object.hasOwn(value, known.name) || Object.hasOwn(renamed, known.name));
    // If a name occurs in two spellings, one of them counts as unknown.
    if (known === undefined || isTaken) setField(renamed, given, inner);
    else setField(renamed, known.name, rename(inner, known.value));
  }
  return renamed;
}

function isEmpty({ items, members }: Names): boolean {
  return members.size === 0 && items === null;
}

function readNames(): ReadonlyMap<string, Names> {
  const { operations, schemas } = readApiDocument();
  const byReference = new Map<string, Names>();

  const collect = (schema: Schema, into: Names): void => {
    if (schema.$ref !== undefined) {
      const referred = schemas[schema.$ref.slice(PREFIX.length)];
      if (referred !== undefined) collect(referred, into);
      return;
    }
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      into.members.set(name.toLowerCase(), { name, value: namesOf(member) });
    }
    if (schema.items !== undefined) into.items = namesOf(schema.items);
    const { allOf = [], anyOf = [], oneOf = [] } = schema;
    for (const part of [...allOf, ...anyOf, ...oneOf]) collect(part, into);
  };
  const namesOf = (schema: Schema): Names => {
    const known = schema.$ref === undefined ? undefined : byReference.get(schema.$ref);
    if (known !== undefined) return known;
    const names: Names = { members: new Map(), items: null };
    // A schema may contain itself.
    if (schema.$ref !== undefined) byReference.set(schema.$ref, names);
    collect(schema, names);
    return names;
  };

  const byCall = new Map<string, Names>();
  for (const [key, { requestBody }] of operations) {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema === undefined || PARSED_BY_THEMSELVES.has(schema.$ref ?? '')) continue;
    const names = namesOf(schema);
    if (!isEmpty(names)) byCall.set(key, names);
  }
  return byCall;
}
