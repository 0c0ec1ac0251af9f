/** A definition as a test gives it: an object, or a text in YAML, of which JSON is a part. */
import { parseYaml } from '../api/http/yaml-format.js';
import { apiLimits } from '../config/limits.js';
import { readConfig } from '../config/read-config.js';
import type { Json } from '../engine/values/json.js';
import type { PostedDefinition } from '../runtime/definitions/definition-types.js';

export type DefinitionSource = string | Readonly<Record<string, unknown>>;

const LIMITS = apiLimits(readConfig({}));

/** @throws AppError `unreadable_body` with line and column */
export function readDocument(source: DefinitionSource): PostedDefinition {
  if (typeof source !== 'string') return { document: source, source: null };
  const parsed = parseYaml(source, LIMITS);
  if (parsed === null) return { document: null, source };
  return { document: parsed.value, source, writtenNumber: parsed.numbers() };
}

export interface LocatedDocument {
  readonly value: Json;
  /** Finds the position of a JSON pointer. */
  readonly locate: (pointer: string) => { readonly line: number; readonly column: number } | null;
  /** The original text of a number. */
  readonly writtenNumber: (pointer: string) => string | null;
}

/** @throws AppError `unreadable_body` with line and column */
export function parseDocument(text: string): LocatedDocument {
  const parsed = parseYaml(text, LIMITS);
  return {
    value: parsed?.value ?? null,
    locate: parsed?.locator() ?? (() => null),
    writtenNumber: parsed?.numbers() ?? (() => null),
  };
}
