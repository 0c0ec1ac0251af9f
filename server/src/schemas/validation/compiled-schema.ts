/**
 * A schema that validates data.
 *
 *  IS1 Patterns match in linear time; equality is compared in linear time; numbers are exact.
 *  IS2 Only keywords of the draft reach the compiler (prune-schema.ts).
 *  IS3 Nothing here limits time or recursion: the caller does (time-limit.ts).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { valueAt } from '../../engine/definitions/json-pointer.js';
import { schemaPositions } from '../../engine/definitions/schema-positions.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { getField, type Json, type JsonObject } from '../../engine/values/json.js';
import { describeViolation, REPEATING_KEYWORDS } from './describe-violation.js';
import { ExactNumbers } from './exact-numbers.js';
import { Defaults } from './fill-defaults.js';
import { linearPattern } from './linear-patterns.js';
import { pruneSchema } from './prune-schema.js';
import { resolveReference } from '../../engine/definitions/resolve-reference.js';

/** Keywords of which some alternatives, or some items, may fail. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains']);

/** Entries of the list of violations, with the note that there are more. */
const VIOLATIONS_MAX = 100;

export interface ValidationResult {
  /** Whether defaults were filled in. */
  readonly isChanged: boolean;
  readonly problems: readonly DocumentProblem[];
}

export class CompiledSchema {
  readonly #defaults: Defaults | null;
  readonly #exact = new ExactNumbers();
  readonly #validator: ValidateFunction;
  readonly #root: JsonObject | boolean;
  /** The schemas inside the alternatives of a keyword. */
  readonly #alternatives = new WeakMap<object, ReadonlySet<unknown>>();

  /** @throws Error if the schema is invalid */
  constructor(schema: Json) {
    this.#defaults = hasDefaults(schema) ? new Defaults(schema) : null;
    this.#root = pruneSchema(schema);
    const ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      strict: false,
      meta: false,
      validateSchema: false,
      inlineRefs: false,
      ownProperties: true,
      validateFormats: false,
      logger: false,
      messages: false,
      code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
    });
    this.#exact.addKeywords(ajv);
    this.#validator = ajv.compile(this.#root);
  }

  /** Changes the data where it fills in defaults. @throws TooManyDefaults */
  validate(data: JsonObject): ValidationResult {
    const isChanged = this.#defaults?.fillIn(data) ?? false;
    if (this.#validator(this.#exact.rounded(data))) return { isChanged, problems: [] };
    const errors = this.#withoutRepetitions(this.#validator.errors ?? []);
    this.#validator.errors = null;
    return { isChanged, problems: describeAll(errors, data) };
  }

  /** Leaves out what the alternatives of a failed keyword found: the failure counts as one. */
  #withoutRepetitions(errors: readonly ErrorObject[]): readonly ErrorObject[] {
    const kept: ErrorObject[] = [];
    for (const error of errors) {
      if (REPEATING_KEYWORDS.has(error.keyword)) continue;
      if (ALTERNATIVES.has(error.keyword)) {
        const inner = this.#schemasIn(error.schema as object);
        while (isInside(kept.at(-1), error, inner)) kept.pop();
      }
      kept.push(error);
    }
    return kept;
  }

  #schemasIn(alternatives: object): ReadonlySet<unknown> {
    let schemas = this.#alternatives.get(alternatives);
    if (schemas === undefined) {
      schemas = reachable(alternatives, this.#root);
      this.#alternatives.set(alternatives, schemas);
    }
    return schemas;
  }
}

function hasDefaults(schema: Json): boolean {
  for (const { schema: inner } of schemaPositions(schema)) {
    if (Object.hasOwn(inner, 'default')) return true;
  }
  return false;
}

function isInside(
  error: ErrorObject | undefined,
  outer: ErrorObject,
  schemas: ReadonlySet<unknown>,
): boolean {
  if (error === undefined || !error.instancePath.startsWith(outer.instancePath)) return false;
  return schemas.has(error.parentSchema) || schemas.has(error.schema);
}

function reachable(alternatives: object, root: Json): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const open: Json[] = Array.isArray(alternatives)
    ? [...(alternatives as readonly Json[])]
    : [alternatives as JsonObject];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    for (const { schema: inner } of schemaPositions(schema)) {
      if (found.has(inner)) continue;
      found.add(inner);
      for (const keyword of ['$ref', '$dynamicRef']) {
        open.push(resolveReference(root, getField(inner, keyword) ?? null));
      }
    }
  }
  return found;
}

function describeAll(errors: readonly ErrorObject[], data: Json): readonly DocumentProblem[] {
  const isCut = errors.length > VIOLATIONS_MAX;
  const shown = errors.slice(0, isCut ? VIOLATIONS_MAX - 1 : VIOLATIONS_MAX);
  const problems = shown.map((error) => {
    const value = error.propertyName ?? valueAt(data, error.instancePath) ?? null;
    return describeViolation({ error, value });
  });
  if (!isCut) return problems;
  const message = `${errors.length - shown.length} more are not listed.`;
  return [...problems, { code: 'too_many_problems', message, pointer: '' }];
}
