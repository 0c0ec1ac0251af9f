import type { DocumentProblem } from '../model/definition.js';

/** Reasons for rejecting a document. */
export const DOCUMENT_ERROR_CODES = [
  'missing_id',
  'no_steps',
  'missing_step_id',
  'duplicate_step_id',
  'missing_step_type',
  'unknown_step_type',
  'unknown_next_step',
  'unknown_input',
  'missing_input',
  'wrong_type',
  'invalid_value',
  'expression_too_long',
  'duplicate_member',
  'name_too_long',
  'too_many_steps',
  'too_deep',
  'too_large',
  'too_many_entries',
  'foreign_reference',
  'invalid_schema',
  'missing_trigger_member',
  'duplicate_trigger',
  'invalid_cron',
  'endless_wait',
  'limits_not_possible',
  'duplicate_limit',
  'unknown_limit',
] as const;
export type DocumentErrorCode = (typeof DOCUMENT_ERROR_CODES)[number];

/** Questionable parts of a document, which is stored nevertheless. */
export const DOCUMENT_WARNING_CODES = [
  'unknown_member',
  'unreachable_step',
  'empty_do',
  'unused_do',
  'unknown_name',
  'unusable_input_name',
  'doubtful_value',
  'not_evaluated',
  'unquoted_text',
  'unquoted_number',
  'foreign_syntax',
  'unknown_field',
  'missing_at_sign',
  'change_without_effect',
  'constant_condition',
  'condition_on_time',
  'retry_without_effect',
  'loop_without_wait',
  'wait_without_timeout',
  'unknown_secret',
] as const;
export type DocumentWarningCode = (typeof DOCUMENT_WARNING_CODES)[number];

/** The last entry of a list that was cut. */
export const TOO_MANY_PROBLEMS = 'too_many_problems';

export const MAX_PROBLEMS = 100;

/** Problems in the order in which they were found, cut after the first hundred. */
export class ProblemList<TCode extends string> {
  readonly #problems: (DocumentProblem & { readonly code: TCode })[] = [];
  #leftOut = 0;

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** Whether the list is full: further problems are only counted. */
  get isCut(): boolean {
    return this.#leftOut > 0;
  }

  /** The message is a function if it is expensive to create: it is not called for problems that are only counted. */
  add(
    code: TCode,
    pointer: string,
    message: string | (() => string),
    suggestion: string | null = null,
  ): void {
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#leftOut += 1;
      return;
    }
    const text = typeof message === 'string' ? message : message();
    this.#problems.push({
      code,
      pointer,
      message: text,
      ...(suggestion === null ? {} : { suggestion }),
    });
  }

  toArray(): readonly DocumentProblem[] {
    if (this.#leftOut === 0) return [...this.#problems];
    return [...this.#problems, tooMany(`${this.#leftOut} more are not listed.`)];
  }
}

/** Merges lists that were cut one by one, and cuts the result. Stops iterating once the list is full. */
export function mergeProblems(
  first: readonly DocumentProblem[],
  others: Iterable<DocumentProblem>,
): readonly DocumentProblem[] {
  if (first.length > MAX_PROBLEMS) return first;
  const merged = [...first];
  for (const problem of others) {
    if (merged.length >= MAX_PROBLEMS) {
      merged.push(tooMany('More are not listed.'));
      break;
    }
    merged.push(problem);
  }
  return merged;
}

function tooMany(message: string): DocumentProblem {
  return { code: TOO_MANY_PROBLEMS, message, pointer: '' };
}
