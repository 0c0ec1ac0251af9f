/** Parts of JSON Schemas for documents whose member names are accepted in any casing. */
import type { JsonObject } from '../values/json.js';

/** Member names match in any case; editors complete the spelling that the server returns. */
export function objectOf<Member extends string>(
  schemas: Readonly<Record<Member, JsonObject>>,
  summaries: Readonly<Record<Member, string>>,
): JsonObject {
  const entries = Object.entries<JsonObject>(schemas);
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries<string>(summaries).map(([name, description]) => [name, { description }]),
    ),
    patternProperties: Object.fromEntries(
      entries.map(([name, schema]) => [caseless(name), schema]),
    ),
  };
}

/**
 * In JSON Schema, `required` matches one spelling only. "Not every name differs from this one" matches any spelling.
 */
export function hasMember(name: string): JsonObject {
  return { not: { propertyNames: { not: { pattern: caseless(name) } } } };
}

/** A pattern that matches the whole string in any case; JSON Schema has no flags. */
export function caseless(alternatives: string, around = ''): string {
  const letters = alternatives.replace(
    /[a-z]/gi,
    (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`,
  );
  return `^${around}(?:${letters})${around}$`;
}
