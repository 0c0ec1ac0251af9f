/** Finds out what is wrong with a posted schema, with pointers into it. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeValue, quoteText } from '../../engine/values/convert-input.js';
import { childPointer, valueAt } from '../../engine/definitions/json-pointer.js';
import { schemaPositions } from '../../engine/definitions/schema-positions.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { getField, isJsonObject, type Json } from '../../engine/values/json.js';
import { CompiledSchema } from './compiled-schema.js';
import { ExactNumbers } from './exact-numbers.js';
import { TooManyDefaults } from './fill-defaults.js';
import { patternProblem } from './linear-patterns.js';
import { resolveReference } from '../../engine/definitions/resolve-reference.js';

/** More problems than these do not help. */
const PROBLEMS_MAX = 20;

const CODE = 'invalid_schema';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
let draft: ValidateFunction | null = null;

/** The schema of schemas. Compiling it takes longer than checking a schema, so it is done outside of the time limit. */
export function draftSchema(): ValidateFunction {
  if (draft === null) {
    const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
    const found = ajv.getSchema(DRAFT);
    if (found === undefined) throw new Error('The schema compiler does not know the draft');
    draft = found;
  }
  return draft;
}

/** No problems: the schema can be compiled, and validates at least an empty object. */
export function checkSchema(schema: Json): readonly DocumentProblem[] {
  const problems = [...misusedKeywords(schema), ...badReferences(schema), ...badPatterns(schema)];
  if (problems.length > 0) return problems.slice(0, PROBLEMS_MAX);
  try {
    new CompiledSchema(schema).validate({});
    return [];
  } catch (error) {
    return [{ code: CODE, pointer: '', message: `The schema cannot be used: ${reasonOf(error)}.` }];
  }
}

/** The schema of schemas knows which values each keyword can have. */
function misusedKeywords(schema: Json): readonly DocumentProblem[] {
  const validate = draftSchema();
  if (validate(new ExactNumbers().rounded(schema))) return [];
  // Several alternatives may fail at one place: the first one says enough.
  const byPlace = new Map<string, DocumentProblem>();
  for (const error of validate.errors ?? []) {
    const { instancePath: pointer } = error;
    if (!byPlace.has(pointer))
      byPlace.set(pointer, misuse(error, valueAt(schema, pointer) ?? null));
  }
  return [...byPlace.values()];
}

function misuse(error: ErrorObject, value: Json): DocumentProblem {
  const { instancePath: pointer, keyword, params } = error;
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  const allowed: unknown = (params as Readonly<Record<string, unknown>>)['allowedValues'];
  const expected =
    keyword === 'enum' && Array.isArray(allowed)
      ? `must be one of ${allowed.join(', ')}`
      : (error.message ?? 'is invalid');
  const message = `${name === '' ? 'Input' : quoteText(name)} ${expected}, but is ${describeValue(value)}.`;
  return { code: CODE, pointer, message };
}

function badReferences(schema: Json): readonly DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  for (const { schema: inner, pointer } of schemaPositions(schema)) {
    if (pointer !== '' && Object.hasOwn(inner, '$id')) {
      const message =
        'Only the outermost schema can have an $id. To refer to this one, use $anchor.';
      problems.push({ code: CODE, pointer: childPointer(pointer, '$id'), message });
    }
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = getField(inner, keyword);
      if (typeof reference !== 'string') continue;
      const target = resolveReference(schema, reference);
      if (isJsonObject(target) || typeof target === 'boolean') continue;
      const message = `There is no schema at ${quoteText(reference)}.`;
      problems.push({ code: CODE, pointer: childPointer(pointer, keyword), message });
    }
  }
  return problems;
}

function badPatterns(schema: Json): readonly DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  const check = (pattern: string, pointer: string): void => {
    const message = problems.length < PROBLEMS_MAX ? patternProblem(pattern) : null;
    if (message !== null) problems.push({ code: CODE, pointer, message });
  };
  for (const { schema: inner, pointer } of schemaPositions(schema)) {
    const pattern = getField(inner, 'pattern');
    if (typeof pattern === 'string') check(pattern, childPointer(pointer, 'pattern'));
    const byPattern = getField(inner, 'patternProperties');
    if (byPattern === undefined || !isJsonObject(byPattern)) continue;
    const place = childPointer(pointer, 'patternProperties');
    for (const key of Object.keys(byPattern)) check(key, childPointer(place, key));
  }
  return problems;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'it refers to itself without end';
  if (error instanceof TooManyDefaults) return error.message;
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
