/**
 * Finds all errors and warnings of a posted definition: problems of its form (engine/definitions), and problems that only the
 * stored custom steps and Python reveal.
 *
 *  DC1 Checking takes linear time in the size of the document, however many problems it has: once the list is full, no further
 *      problems are searched for or created.
 *  DC2 The thread is never blocked for long: parsing is bounded by the number of values, and later work is done in batches.
 */
import { setImmediate } from 'node:timers/promises';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { checkLoops } from '../../engine/definitions/check-loops.js';
import type {
  ExamineExpression,
  ExpressionFacts,
} from '../../engine/definitions/expression-facts.js';
import {
  inputFieldsOf,
  warnAboutDataFields,
  warnAboutIndex,
} from '../../engine/definitions/input-fields.js';
import { notPython, unknownStepType } from '../../engine/definitions/late-problems.js';
import {
  warnAboutExpression,
  warnAboutLiteral,
  warnAboutTemplate,
} from '../../engine/definitions/late-warnings.js';
import {
  parseDefinition,
  type CronUse,
  type ExpressionSource,
  type ParsedDefinition,
  type ParseOptions,
} from '../../engine/definitions/parse-definition.js';
import { warnAboutSecrets } from '../../engine/definitions/secret-warnings.js';
import {
  MAX_PROBLEMS,
  mergeProblems,
  ProblemList,
  type DocumentWarningCode,
} from '../../engine/definitions/problem-list.js';
import type { ScriptRuntime, SyntaxProblem } from '../../scripts/script-runtime.js';
import { CronSchedule, parseCronSchedule } from '../../schedules/cron-schedule.js';
import type { InputSchemas } from '../../schemas/input-schemas.js';
import type { LimitList } from '../limits/limit-list.js';
import { limitErrors } from './limit-errors.js';
import type { StepScripts } from './step-scripts.js';

/** Maximum number of expressions that Python checks in one call, and their maximum total length. */
const BATCH_COUNT_MAX = 200;
const BATCH_LENGTH_MAX = 64 * 1024;

export interface DefinitionCheckerOptions {
  readonly scripts: Pick<ScriptRuntime, 'checkSyntax' | 'examine'>;
  readonly stepScripts: Pick<StepScripts, 'known'>;
  readonly limits: Pick<LimitList, 'get' | 'names'>;
  readonly inputSchemas: Pick<InputSchemas, 'check'>;
  /** Null: this server doesn't run instances, so it has no secrets. */
  readonly secretNames: (() => readonly string[]) | null;
}

export class DefinitionChecker {
  readonly #options: DefinitionCheckerOptions;

  constructor(options: DefinitionCheckerOptions) {
    this.#options = options;
  }

  async check(
    document: unknown,
    writtenNumber?: ParseOptions['writtenNumber'],
  ): Promise<ParsedDefinition> {
    // Reading a large document took time on this thread: let others run first.
    await setImmediate();
    const parsed = parseDefinition(document, { ...(writtenNumber && { writtenNumber }) });
    const withSchema = mergeProblems(parsed.errors, await this.#schemaErrors(parsed));
    const withSteps = mergeProblems(withSchema, await this.#unknownSteps(parsed));
    const withLimits = mergeProblems(
      withSteps,
      await limitErrors(parsed.limits, this.#options.limits),
    );
    const withCrons = mergeProblems(withLimits, cronErrors(parsed.crons));
    const room = MAX_PROBLEMS - withCrons.length;
    const errors = mergeProblems(withCrons, await this.#syntaxErrors(parsed.expressions, room));
    const warnings = mergeProblems(parsed.warnings, await this.#oddities(parsed));
    return { ...parsed, errors, warnings };
  }

  /** Checked in batches, so that a megabyte of expressions doesn't block other work. */
  async #oddities(parsed: ParsedDefinition): Promise<readonly DocumentProblem[]> {
    const warnings = new ProblemList<DocumentWarningCode>();
    const { scripts } = this.#options;
    const examiner = new Examiner((source) => scripts.examine?.(source) ?? null);
    const fields = parsed.definition === null ? null : inputFieldsOf(parsed.definition);
    const secrets = this.#options.secretNames?.() ?? null;
    for (const expression of parsed.expressions) {
      if (warnings.isCut) break;
      const facts = examiner.examine(expression.source);
      if (facts !== null) {
        warnAboutExpression(expression, facts, warnings, (text) => examiner.examine(text));
        warnAboutSecrets(expression, facts, secrets, warnings);
      }
      if (facts !== null && fields !== null) {
        warnAboutDataFields(expression, facts, fields, warnings);
      }
      if (examiner.isTired) await examiner.rest();
    }
    for (const literal of parsed.literalTexts) {
      if (warnings.isCut) break;
      if (warnAboutTemplate(literal, warnings)) continue;
      const facts = examiner.examine(literal.text);
      if (facts !== null) warnAboutLiteral(literal, facts, warnings);
      if (examiner.isTired) await examiner.rest();
    }
    const { definition, indexPointer, stepPointers } = parsed;
    if (definition !== null) {
      if (fields !== null) warnAboutIndex(definition, indexPointer, fields, warnings);
      checkLoops({ definition, stepPointers, warnings, examine: (text) => examiner.examine(text) });
    }
    return warnings.toArray();
  }

  async #schemaErrors({ errors, input }: ParsedDefinition): Promise<readonly DocumentProblem[]> {
    if (input === null) return [];
    // A schema that refers to other documents can't be compiled, which has already been reported.
    if (errors.some(({ pointer }) => pointer.startsWith(`${input.pointer}/`))) return [];
    const problems = await this.#options.inputSchemas.check(input.schema);
    return problems.map((problem) => ({ ...problem, pointer: input.pointer + problem.pointer }));
  }

  async #unknownSteps({ customSteps }: ParsedDefinition): Promise<readonly DocumentProblem[]> {
    const names = [...new Set(customSteps.map(({ name }) => name))];
    const known = await this.#options.stepScripts.known(names);
    const unknown = customSteps.filter(({ name }) => !known.has(name));
    return unknown.slice(0, MAX_PROBLEMS + 1).map(unknownStepType);
  }

  /**
   * CPython itself decides what is valid, so that no accepted definition has expressions that can only fail. Each text is
   * checked once. One problem beyond the limit is enough to report that there are more.
   */
  async #syntaxErrors(
    expressions: readonly ExpressionSource[],
    room: number,
  ): Promise<readonly DocumentProblem[]> {
    if (room < 0) return [];
    const wrong = new Map<string, SyntaxProblem>();
    for (const batch of batchesOf(new Set(expressions.map(({ source }) => source)))) {
      const problems = await this.#options.scripts.checkSyntax('expression', batch);
      for (const problem of problems) wrong.set(batch[problem.index] ?? '', problem);
      if (wrong.size > room) break;
    }
    const found: DocumentProblem[] = [];
    if (wrong.size === 0) return found;
    const isPython = (source: string): boolean =>
      (this.#options.scripts.examine?.(source) ?? null) !== null;
    for (const expression of expressions) {
      const syntaxError = wrong.get(expression.source);
      if (syntaxError !== undefined) found.push(notPython(expression, syntaxError, isPython));
      if (found.length > room) break;
    }
    return found;
  }
}

function* cronErrors(crons: readonly CronUse[]): Generator<DocumentProblem> {
  for (const { cron, pointer, timeZone, timeZonePointer } of crons) {
    const parsed = parseCronSchedule(cron, timeZone);
    if (parsed instanceof CronSchedule) continue;
    const isZone = parsed.what === 'timeZone';
    yield {
      code: isZone ? 'invalid_value' : 'invalid_cron',
      message: parsed.message,
      pointer: isZone ? timeZonePointer : pointer,
    };
  }
}

/** Maximum length parsed before yielding the thread: about ten milliseconds. */
const TURN_LENGTH = 16 * 1024;
/** Fixed cost of an expression in addition to its length. */
const EXPRESSION_LENGTH_MIN = 20;

/** Caches the facts about the expressions of one definition. */
class Examiner {
  readonly #known = new Map<string, ExpressionFacts | null>();
  readonly #examine: ExamineExpression;
  #lengthInTurn = 0;

  constructor(examine: ExamineExpression) {
    this.#examine = examine;
  }

  get isTired(): boolean {
    return this.#lengthInTurn >= TURN_LENGTH;
  }

  async rest(): Promise<void> {
    this.#lengthInTurn = 0;
    await setImmediate();
  }

  examine(source: string): ExpressionFacts | null {
    this.#lengthInTurn += 1;
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    this.#lengthInTurn += source.length + EXPRESSION_LENGTH_MIN;
    const facts = this.#examine(source);
    this.#known.set(source, facts);
    return facts;
  }
}

function* batchesOf(sources: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = [];
  let length = 0;
  for (const source of sources) {
    const isFull = batch.length >= BATCH_COUNT_MAX || length + source.length > BATCH_LENGTH_MAX;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(source);
    length += source.length;
  }
  if (batch.length > 0) yield batch;
}
