/** Compiles schemas to the checks of their keywords. */
import type { SchemaReferences } from '../../engine/definitions/schema-references.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { COMBINING_KEYWORDS } from './combining-keywords.js';
import type { Compiler, KeywordCompiler } from './keyword.js';
import { LIST_KEYWORDS, UNEVALUATED_ITEMS } from './list-keywords.js';
import { linearPattern, type LinearPattern } from './linear-patterns.js';
import { OBJECT_KEYWORDS, UNEVALUATED_PROPERTIES } from './object-keywords.js';
import { EVERYTHING, NOTHING, SchemaValidator, type Check, type Validator } from './validator.js';
import { VALUE_KEYWORDS } from './value-keywords.js';

/** In the order in which they are checked: the unevaluated ones need to know what all others have evaluated. */
const KEYWORDS: readonly (readonly [string, KeywordCompiler])[] = [
  ...Object.entries(VALUE_KEYWORDS),
  ...Object.entries(LIST_KEYWORDS),
  ...Object.entries(OBJECT_KEYWORDS),
  ...Object.entries(COMBINING_KEYWORDS),
  ['unevaluatedItems', UNEVALUATED_ITEMS],
  ['unevaluatedProperties', UNEVALUATED_PROPERTIES],
];

export class SchemaCompiler implements Compiler {
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #validators = new Map<JsonObject, Validator>();
  readonly #references: SchemaReferences;

  constructor(references: SchemaReferences) {
    this.#references = references;
  }

  validatorOf(schema: Json): Validator {
    if (!isJsonObject(schema)) return schema === false ? NOTHING : EVERYTHING;
    const known = this.#validators.get(schema);
    if (known !== undefined) return known;
    const asksEvaluated =
      Object.hasOwn(schema, 'unevaluatedItems') || Object.hasOwn(schema, 'unevaluatedProperties');
    const validator = new SchemaValidator(this.#references.resourceOf(schema), asksEvaluated);
    this.#validators.set(schema, validator);
    const checks: Check[] = [];
    for (const [keyword, compile] of KEYWORDS) {
      const value = getField(schema, keyword);
      const check = value === undefined ? null : compile(value, schema, this);
      if (check !== null) checks.push(check);
    }
    validator.addChecks(checks);
    return validator;
  }

  /** @throws Error if there is no such schema */
  referredTo(from: JsonObject, reference: string): Validator {
    const target = this.#references.resolve(from, reference);
    if (isJsonObject(target) || typeof target === 'boolean') return this.validatorOf(target);
    throw new Error(`there is no schema at ${reference}`);
  }

  dynamicAnchor(from: JsonObject, reference: string): string | null {
    return this.#references.dynamicAnchor(from, reference);
  }

  pattern(source: string): LinearPattern {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      pattern = linearPattern(source);
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }

  validatorsOf(value: Json): readonly Validator[] {
    return Array.isArray(value) ? value.map((inner: Json) => this.validatorOf(inner)) : [];
  }

  validatorsByName(value: Json): readonly (readonly [string, Validator])[] {
    if (!isJsonObject(value)) return [];
    return Object.entries(value).map(([name, inner]) => [name, this.validatorOf(inner)] as const);
  }
}
