/**
 * A schema that validates data.
 *
 *  IS1 Patterns match in linear time; equality is compared in linear time; numbers are exact.
 *  IS2 Keywords mean what draft 2020-12 says, `unevaluatedItems`, `unevaluatedProperties` and `$dynamicRef` included.
 *  IS3 Nothing here limits time or recursion: the caller does (time-limit.ts).
 *  IS4 No code is generated from schemas.
 */
import { schemaPositions } from '../../engine/definitions/schema-positions.js';
import { SchemaReferences } from '../../engine/definitions/schema-references.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { describeViolation } from './describe-violation.js';
import { Defaults } from './fill-defaults.js';
import { Place } from './place.js';
import { SchemaCompiler } from './schema-compiler.js';
import type { Validator } from './validator.js';
import { ValidationRun, VIOLATIONS_MAX } from './validation-run.js';

export interface ValidationResult {
  /** Whether defaults were filled in. */
  readonly isChanged: boolean;
  readonly problems: readonly DocumentProblem[];
}

export class CompiledSchema {
  readonly #defaults: Defaults | null;
  readonly #validator: Validator;

  /** @throws Error if the schema is invalid */
  constructor(schema: Json) {
    this.#defaults = hasDefaults(schema) ? new Defaults(schema) : null;
    const root = isJsonObject(schema) ? schema : {};
    const compiler = new SchemaCompiler(SchemaReferences.of(root));
    // All of them, so that the limit of the compilation is that of everything that can be compiled.
    for (const { schema: inner } of schemaPositions(schema)) compiler.validatorOf(inner);
    this.#validator = compiler.validatorOf(schema);
  }

  /** Changes the data where it fills in defaults. @throws TooManyDefaults */
  validate(data: JsonObject): ValidationResult {
    const isChanged = this.#defaults?.fillIn(data) ?? false;
    return { isChanged, problems: this.problemsOf(data) };
  }

  /** Without defaults. */
  problemsOf(value: Json): readonly DocumentProblem[] {
    const run = new ValidationRun();
    return this.#validator.validate(value, new Place(null, ''), run, null) ? [] : describeAll(run);
  }
}

function hasDefaults(schema: Json): boolean {
  for (const { schema: inner } of schemaPositions(schema)) {
    if (Object.hasOwn(inner, 'default')) return true;
  }
  return false;
}

function describeAll({ count, violations }: ValidationRun): readonly DocumentProblem[] {
  const isCut = count > VIOLATIONS_MAX;
  const shown = violations.slice(0, isCut ? VIOLATIONS_MAX - 1 : VIOLATIONS_MAX);
  const problems = shown.map(describeViolation);
  if (!isCut) return problems;
  const message = `${count - shown.length} more are not listed.`;
  return [...problems, { code: 'too_many_problems', message, pointer: '' }];
}
