/**
 * Evaluates batches of expressions: here where that is certain, else with one message to an interpreter.
 *
 * See pyodide-script-runtime.ts for the promises PY1 to PY4.
 */
import { EXPRESSION_TOO_LONG, isExpressionTooLong } from '../../engine/values/expression-length.js';
import { jsonLength } from '../../engine/values/json-length.js';
import { setField, type Json, type JsonObject } from '../../engine/values/json.js';
import type {
  CallOptions,
  EvaluationResult,
  EvaluationVariables,
  ExpressionRequest,
  ScriptError,
} from '../script-runtime.js';
import { ExpressionAnalyser, type AnalysedExpression } from '../expressions/analyse-expression.js';
import type { VariablePath } from '../expressions/classify-expression.js';
import { evaluatePlain } from '../expressions/evaluate-plain-expression.js';
import { placeInSource } from '../expressions/prepare-expression.js';
import { projectVariables } from '../expressions/project-variables.js';
import { findStorageProblem, readExpressionAnswer } from '../expressions/read-answer.js';
import { LongWork } from '../../base/slices.js';
import { queueOptions, type AskInterpreter } from './interpreter-call.js';
import type { RuntimeLogger } from './runtime-options.js';

export interface ExpressionEvaluatorOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly resultLimitBytes: number;
  readonly logger: RuntimeLogger;
  readonly ask: AskInterpreter;
}

/** Characters of expressions that are seen for the first time. */
const MAX_ANALYSED_AT_ONCE = 8_192;

/** An expression to evaluate, with what is known about it. */
interface Item extends ExpressionRequest, AnalysedExpression {}

export class ExpressionEvaluator {
  readonly #options: ExpressionEvaluatorOptions;

  readonly #analyser = new ExpressionAnalyser();
  readonly #environment: JsonObject;

  constructor(options: ExpressionEvaluatorOptions) {
    this.#options = options;

    this.#environment = { ...options.environment };
  }

  evaluate(
    expressions: readonly ExpressionRequest[],
    variables: EvaluationVariables,
    options: CallOptions = {},
  ): EvaluationResult | Promise<EvaluationResult> {
    const tooLong = expressions.findIndex(
      ({ isConstant, source }) => isConstant !== true && isExpressionTooLong(source),
    );
    if (tooLong !== -1) return { ok: false, index: tooLong, error: TOO_LONG };
    if (this.#isMuchToAnalyse(expressions))
      return this.#evaluateInTurns(expressions, variables, options);
    return this.#evaluateItems(
      expressions.map((expression) => this.#toItem(expression)),
      variables,
      options,
    );
  }

  #evaluateItems(
    items: readonly Item[],
    variables: EvaluationVariables,
    options: CallOptions,
  ): EvaluationResult | Promise<EvaluationResult> {
    return (
      this.#evaluateHere(items, variables) ?? this.#evaluateInPython(items, variables, options)
    );
  }

  #toItem(expression: ExpressionRequest): Item {
    return { ...expression, ...this.#analyser.analyse(expression.source) };
  }

  /** The parser takes up to 2 ms for a kilobyte. */
  #isMuchToAnalyse(expressions: readonly ExpressionRequest[]): boolean {
    let length = 0;
    for (const { source } of expressions) length += source.length;
    if (length <= MAX_ANALYSED_AT_ONCE) return false;
    return expressions.some(({ source }) => !this.#analyser.knows(source));
  }

  async #evaluateInTurns(
    expressions: readonly ExpressionRequest[],
    variables: EvaluationVariables,
    options: CallOptions,
  ): Promise<EvaluationResult> {
    const work = new LongWork();
    const items: Item[] = [];
    for (const expression of expressions) {
      items.push(this.#toItem(expression));
      await work.giveWay();
    }
    return this.#evaluateItems(items, variables, options);
  }

  /** @returns null where Python is needed */
  #evaluateHere(items: readonly Item[], variables: EvaluationVariables): EvaluationResult | null {
    const values: Json[] = [];
    let current = { ...variables, environment: this.#environment };
    let ownsData = false;
    const { resultLimitBytes } = this.#options;
    let bytesLeft = resultLimitBytes;
    for (const [index, { plain, assignTo }] of items.entries()) {
      const value = plain === null ? undefined : evaluatePlain(plain, current);
      if (value === undefined) return null;
      const problem = findStorageProblem(value, resultLimitBytes);
      if (problem !== null) return { ok: false, index, error: problem };
      // Together, as Python measures them: thousands of outputs may be the same large value.
      bytesLeft -= jsonLength(value);
      if (bytesLeft < 0) return { ok: false, index, error: tooLarge(resultLimitBytes) };
      values.push(value);
      if (assignTo === undefined) continue;
      if (!ownsData) current = { ...current, data: { ...current.data } };
      ownsData = true;
      setField(current.data, assignTo, value);
    }
    return { ok: true, values };
  }

  async #evaluateInPython(
    items: readonly Item[],
    variables: EvaluationVariables,
    options: CallOptions,
  ): Promise<EvaluationResult> {
    const reads = findReads(items);
    if (reads !== null) {
      const answer = await this.#ask(items, projectVariables(wholeVariables(variables), reads), {
        pure: true,
        ...options,
      });
      if (answer !== null) return answer;
      this.#distrust(items);
    }
    const answer = await this.#ask(items, wholeVariables(variables), { pure: false, ...options });
    return answer ?? { ok: false, index: 0, error: UNPROVEN };
  }

  /** @returns null when the interpreter does not agree that the expressions are pure */
  async #ask(
    items: readonly Item[],
    variables: JsonObject,
    { pure, ...options }: CallOptions & { readonly pure: boolean },
  ): Promise<EvaluationResult | null> {
    const result = await this.#options.ask({
      request: {
        kind: 'expressions',
        sources: items.map(({ prepared }) => prepared.text),
        targets: items.map(({ assignTo }) => assignTo ?? null),
        pure,
        ...(pure ? {} : { changing: items.map(({ classification }) => !classification.pure) }),
      },
      variables,
      pure,
      ...queueOptions(options),
      read: (answer) => readExpressionAnswer(answer, items.length),
    });
    if (result.ok && (result.answer === null || result.answer.ok)) return result.answer;
    const failed = result.ok ? result.answer : { error: result.error, index: result.progress };
    if (failed === null || !('error' in failed)) return failed;
    // The progress comes from the interpreter's memory, where any number could be.
    const index = Math.min(failed.index, items.length - 1);
    return { ok: false, index, error: placeError(failed.error, items[index]) };
  }

  #distrust(items: readonly Item[]): void {
    const sources = items.map(({ source }) => source);
    this.#options.logger.warn({ sources }, 'Python does not agree that these expressions are pure');
    for (const source of sources) this.#analyser.distrust(source);
  }
}

const TOO_LONG: ScriptError = { type: 'ValueError', message: EXPRESSION_TOO_LONG };

const UNPROVEN: ScriptError = {
  type: 'InterpreterCrash',
  message: 'the interpreter refused to evaluate the expression',
};

/** What all of them read together; null unless all of them are pure. */
function findReads(items: readonly Item[]): readonly VariablePath[] | null {
  const reads: VariablePath[] = [];
  for (const { classification } of items) {
    if (!classification.pure) return null;
    reads.push(...classification.reads);
  }
  return reads;
}

function wholeVariables({ data, context, step }: EvaluationVariables): JsonObject {
  return step === undefined ? { data, context } : { data, context, step };
}

function placeError(error: ScriptError, item: Item | undefined): ScriptError {
  if (error.line === undefined || item === undefined) return error;
  return { ...error, line: placeInSource(item.prepared, error.line, null).line };
}

function tooLarge(limitBytes: number): ScriptError {
  return { type: 'ResultTooLarge', message: `the results are larger than ${limitBytes} bytes` };
}
