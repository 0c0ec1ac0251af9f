/**
 * A schema that validates data.
 *
 *  IS1 Patterns match in linear time; equality is compared in linear time; numbers are exact.
 *  IS2 Only keywords of the draft reach the compiler (prune-schema.ts).
 *  IS3 Nothing here limits time or recursion: the caller does (time-limit.ts).
 */
import {
  _,
  Ajv2020,
  Name,
  type CodeKeywordDefinition,
  type ErrorObject,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { valueAt } from '../../engine/definitions/json-pointer.js';
import { schemaPositions } from '../../engine/definitions/schema-positions.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { describeViolation, REPEATING_KEYWORDS } from './describe-violation.js';
import { ExactNumbers } from './exact-numbers.js';
import { Defaults } from './fill-defaults.js';
import { limitViolations } from './limit-violations.js';
import { linearPattern } from './linear-patterns.js';
import { pruneSchema } from './prune-schema.js';

/** Keywords of which some alternatives, or some items, may fail. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains']);
/** The parameter of their errors that counts the errors of the alternatives. */
const INNER_ERRORS = 'innerErrors';

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

  /** @throws Error if the schema is invalid */
  constructor(schema: Json) {
    this.#defaults = hasDefaults(schema) ? new Defaults(schema) : null;
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
      code: {
        regExp: Object.assign(linearPattern, { code: 'linearPattern' }),
        process: limitViolations,
      },
    });
    this.#exact.addKeywords(ajv);
    countInnerErrors(ajv);
    this.#validator = ajv.compile(pruneSchema(schema));
  }

  /** Changes the data where it fills in defaults. @throws TooManyDefaults */
  validate(data: JsonObject): ValidationResult {
    const isChanged = this.#defaults?.fillIn(data) ?? false;
    if (this.#validator(this.#exact.rounded(data))) return { isChanged, problems: [] };
    const errors = withoutRepetitions(this.#validator.errors ?? []);
    this.#validator.errors = null;
    return { isChanged, problems: describeAll(errors, data) };
  }
}

/**
 * Lets each failed keyword of alternatives say how many errors the alternatives have left right before its own. Their places
 * do not tell: a schema that an alternative uses by reference can also apply by itself.
 */
function countInnerErrors(ajv: Ajv2020): void {
  const errors = new Name('errors');
  for (const keyword of ALTERNATIVES) {
    // Each compiler has copies of the definitions.
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    const { error } = definition;
    if (error === undefined) throw new Error(`The schema compiler has no errors of ${keyword}`);
    definition.error = {
      ...error,
      params: (context) => {
        const { params = _`{}` } = error;
        const others = typeof params === 'function' ? params(context) : params;
        return _`{...${others}, ${new Name(INNER_ERRORS)}: ${errors} - ${context.errsCount ?? errors}}`;
      },
    };
  }
}

/** Leaves out what the alternatives of a failed keyword found: the failure counts as one. */
function withoutRepetitions(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (let index = errors.length - 1; index >= 0; index -= 1) {
    const error = errors[index];
    if (error === undefined || REPEATING_KEYWORDS.has(error.keyword)) continue;
    kept.push(error);
    index -= innerErrors(error);
  }
  return kept.reverse();
}

function innerErrors({ params }: ErrorObject): number {
  const count = (params as Readonly<Record<string, unknown>>)[INNER_ERRORS];
  return typeof count === 'number' ? count : 0;
}

function hasDefaults(schema: Json): boolean {
  for (const { schema: inner } of schemaPositions(schema)) {
    if (Object.hasOwn(inner, 'default')) return true;
  }
  return false;
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
