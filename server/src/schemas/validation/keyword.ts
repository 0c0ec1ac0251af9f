/** What keywords are compiled to, and from. */
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { LinearPattern } from './linear-patterns.js';
import type { Check, Validator } from './validator.js';

/** Compiles what is inside a keyword. */
export interface Compiler {
  validatorOf(schema: Json): Validator;
  validatorsOf(schemas: Json): readonly Validator[];
  validatorsByName(schemas: Json): readonly (readonly [string, Validator])[];
  /** @throws Error if there is no such schema */
  referredTo(from: JsonObject, reference: string): Validator;
  dynamicAnchor(from: JsonObject, reference: string): string | null;
  pattern(source: string): LinearPattern;
}

/** The check of a keyword with this value, in this schema; null if it checks nothing. */
export type KeywordCompiler = (value: Json, schema: JsonObject, compiler: Compiler) => Check | null;

export type KeywordTable = Readonly<Record<string, KeywordCompiler>>;
