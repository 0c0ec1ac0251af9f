/**
 * Evaluates batches of expressions: in the server if that is safe, otherwise with one message to an interpreter.
 *
 * See pyodide-script-runtime.ts for the guarantees PY1 to PY4.
 */
import { EXPRESSION_TOO_LONG, isExpressionTooLong } from '../../engine/values/expression-length.js';
import { remainingBytes } from '../../engine/values/json-length.js';
import { setField, type Json, type JsonObject } from '../../engine/values/json.js';
import type {
  CallOptions,
  EvaluationRequest,
  EvaluationResult,
  EvaluationVariables,
  ScriptError,
} from '../script-runtime.js';
import { ExpressionAnalyzer, type AnalyzedExpression } from '../expressions/analyze-expression.js';
import type { Classification, VariablePath } from '../expressions/classify-expression.js';
import { evaluatePlain } from '../expressions/evaluate-plain-expression.js';
import type { PlainExpression } from '../expressions/plain-expression.js';
import { placeInSource } from '../expressions/prepare-expression.js';
import { projectVariables } from '../expressions/project-variables.js';
import { pythonLiteral } from '../expressions/python-literal.js';
import {
  findStorageProblem,
  MAX_NESTING,
  readExpressionAnswer,
} from '../expressions/read-answer.js';
import { LongWork } from '../../base/slices.js';
import { queueOptions, type AskInterpreter } from './interpreter-call.js';
import type { RuntimeLogger } from './runtime-options.js';

export interface ExpressionEvaluatorOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly resultLimitBytes: number;
  readonly logger: RuntimeLogger;
  readonly ask: AskInterpreter;
}

/** Maximum number of characters in new expressions that are analyzed without yielding. */
const ANALYZED_AT_ONCE_MAX = 8_192;

/** An expression or a constant to evaluate, with the results of its analysis. */
interface Item {
  readonly request: EvaluationRequest;
  /** Set if the item can be evaluated without Python, depending on its values. */
  readonly plain: PlainExpression | null;
  /** Null for a constant. */
  readonly analyzed: AnalyzedExpression | null;
}

const CONSTANT: Classification = { pure: true, reads: [] };

export class ExpressionEvaluator {
  readonly #options: ExpressionEvaluatorOptions;

  readonly #analyzer = new ExpressionAnalyzer();
  readonly #environment: JsonObject;

  constructor(options: ExpressionEvaluatorOptions) {
    this.#options = options;

    this.#environment = { ...options.environment };
  }

  evaluate(
    requests: readonly EvaluationRequest[],
    variables: EvaluationVariables,
    options: CallOptions = {},
  ): EvaluationResult | Promise<EvaluationResult> {
    const tooLong = requests.findIndex(
      (request) => 'source' in request && isExpressionTooLong(request.source),
    );
    if (tooLong !== -1) return { ok: false, index: tooLong, error: TOO_LONG };
    if (this.#isMuchToAnalyze(requests)) return this.#evaluateInTurns(requests, variables, options);
    return this.#evaluateItems(
      requests.map((request) => this.#toItem(request)),
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

  #toItem(request: EvaluationRequest): Item {
    if ('constant' in request) {
      return { request, plain: { kind: 'constant', value: request.constant }, analyzed: null };
    }
    const analyzed = this.#analyzer.analyze(request.source);
    return { request, plain: analyzed.plain, analyzed };
  }

  /** The parser takes up to 2 ms per kilobyte. */
  #isMuchToAnalyze(requests: readonly EvaluationRequest[]): boolean {
    let length = 0;
    for (const request of requests) if ('source' in request) length += request.source.length;
    if (length <= ANALYZED_AT_ONCE_MAX) return false;
    return requests.some((request) => 'source' in request && !this.#analyzer.knows(request.source));
  }

  async #evaluateInTurns(
    requests: readonly EvaluationRequest[],
    variables: EvaluationVariables,
    options: CallOptions,
  ): Promise<EvaluationResult> {
    const work = new LongWork();
    const items: Item[] = [];
    for (const request of requests) {
      items.push(this.#toItem(request));
      await work.giveWay();
    }
    return this.#evaluateItems(items, variables, options);
  }

  /** @returns null if Python is needed */
  #evaluateHere(items: readonly Item[], variables: EvaluationVariables): EvaluationResult | null {
    const values: Json[] = [];
    let current = { ...variables, environment: this.#environment };
    let ownsData = false;
    const { resultLimitBytes } = this.#options;
    let bytesLeft = resultLimitBytes;
    for (const [index, { plain, request }] of items.entries()) {
      const value = plain === null ? undefined : evaluatePlain(plain, current);
      if (value === undefined) return null;
      // Counted together, as Python does: thousands of outputs may be the same large value.
      bytesLeft = remainingBytes(value, bytesLeft, MAX_NESTING);
      if (bytesLeft < 0) {
        const problem = findStorageProblem(value, resultLimitBytes);
        return { ok: false, index, error: problem ?? tooLarge(resultLimitBytes) };
      }
      values.push(value);
      const { assignTo } = request;
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

  /** @returns null if the interpreter disagrees that the expressions are pure */
  async #ask(
    items: readonly Item[],
    variables: JsonObject,
    { pure, ...options }: CallOptions & { readonly pure: boolean },
  ): Promise<EvaluationResult | null> {
    const result = await this.#options.ask({
      request: {
        kind: 'expressions',
        sources: items.map(sourceOf),
        targets: items.map(({ request }) => request.assignTo ?? null),
        pure,
        ...(pure ? {} : { changing: items.map((item) => !classificationOf(item).pure) }),
      },
      variables,
      pure,
      ...queueOptions(options),
      read: (answer) => readExpressionAnswer(answer, items.length),
    });
    if (result.ok && (result.answer === null || result.answer.ok)) return result.answer;
    const failed = result.ok ? result.answer : { error: result.error, index: result.progress };
    if (failed === null || !('error' in failed)) return failed;
    // The progress comes from the interpreter's memory, which may contain any number.
    const index = Math.min(failed.index, items.length - 1);
    return { ok: false, index, error: placeError(failed.error, items[index]) };
  }

  #distrust(items: readonly Item[]): void {
    const sources = items.flatMap(({ request }) => ('source' in request ? [request.source] : []));
    this.#options.logger.warn(
      { sources },
      'Python rejected expressions that were classified as plain',
    );
    for (const source of sources) this.#analyzer.distrust(source);
  }
}

const TOO_LONG: ScriptError = { type: 'ValueError', message: EXPRESSION_TOO_LONG };

const UNPROVEN: ScriptError = {
  type: 'InterpreterCrash',
  message: 'the interpreter refused to evaluate the expression',
};

/** The source that CPython compiles. */
function sourceOf({ analyzed, request }: Item): string {
  if ('constant' in request) return pythonLiteral(request.constant);
  return analyzed?.prepared.text ?? request.source;
}

function classificationOf({ analyzed }: Item): Classification {
  return analyzed?.classification ?? CONSTANT;
}

/** The union of what the expressions read; null unless all of them are pure. */
function findReads(items: readonly Item[]): readonly VariablePath[] | null {
  const reads: VariablePath[] = [];
  for (const item of items) {
    const classification = classificationOf(item);
    if (!classification.pure) return null;
    reads.push(...classification.reads);
  }
  return reads;
}

function wholeVariables({ data, context, hook, secrets, step }: EvaluationVariables): JsonObject {
  return {
    data,
    context,
    ...(step !== undefined && { step }),
    ...(hook !== undefined && { hook }),
    ...(secrets !== undefined && { secrets }),
  };
}

function placeError(error: ScriptError, item: Item | undefined): ScriptError {
  const prepared = item?.analyzed?.prepared;
  if (error.line === undefined || prepared === undefined) return error;
  return { ...error, line: placeInSource(prepared, error.line, null).line };
}

function tooLarge(limitBytes: number): ScriptError {
  return { type: 'ResultTooLarge', message: `the results are larger than ${limitBytes} bytes` };
}
