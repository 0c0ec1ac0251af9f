/** Finds out what is wrong with a posted schema, with pointers into it. */
import { quoteText } from '../../engine/values/convert-input.js';
import { childPointer } from '../../engine/definitions/json-pointer.js';
import { schemaPositions } from '../../engine/definitions/schema-positions.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { getField, isJsonObject, type Json } from '../../engine/values/json.js';
import { CompiledSchema } from './compiled-schema.js';
import { draftSchema } from './draft-schema.js';
import { TooManyDefaults } from './fill-defaults.js';
import { patternProblem } from './linear-patterns.js';
import { resolveReference } from '../../engine/definitions/schema-references.js';

/** More problems than these do not help. */
const PROBLEMS_MAX = 20;

const CODE = 'invalid_schema';

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
  // Several keywords may fail at one place: the first one says enough.
  const byPlace = new Map<string, DocumentProblem>();
  for (const { message, pointer, suggestion } of draftSchema().problemsOf(schema)) {
    if (byPlace.has(pointer)) continue;
    const sentence = pointer === '' ? message.replace(/^The data/, 'Input') : message;
    const hint = suggestion === undefined ? {} : { suggestion };
    byPlace.set(pointer, { code: CODE, pointer, message: sentence, ...hint });
  }
  return [...byPlace.values()];
}

function badReferences(schema: Json): readonly DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  for (const { schema: inner, pointer } of schemaPositions(schema)) {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = getField(inner, keyword);
      if (typeof reference !== 'string') continue;
      const target = resolveReference(schema, inner, reference);
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
