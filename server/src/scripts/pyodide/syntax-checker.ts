/**
 * Asks CPython whether code is valid. Compiling has separate limits: the time for nested code grows with the square of
 * its length, and the check of a posted definition must not keep an interpreter from running other code.
 */
import { EXPRESSION_TOO_LONG, isExpressionTooLong } from '../../engine/values/expression-length.js';
import { AppError } from '../../base/errors.js';
import {
  placeInSource,
  prepareExpression,
  type PreparedExpression,
} from '../expressions/prepare-expression.js';
import { readSyntaxAnswer } from '../expressions/read-answer.js';
import { isRefusal, type SyntaxProblem } from '../script-runtime.js';
import { LongWork } from '../../base/slices.js';
import type { AskInterpreter } from './interpreter-call.js';

type SourceKind = 'expression' | 'script';

/** Limit for the expressions that are sent together. Ordinary code of this length takes a tenth of a second. */
const EXPRESSIONS_TIMEOUT_MS = 1_000;
const MAX_CHARACTERS_AT_ONCE = 65_536;
/** Limit for all expressions of a definition, in case some of them have to be checked individually. */
const WHOLE_CHECK_MS = 10_000;

const NOT_CHECKED =
  'was not checked, because earlier expressions take too long to compile: nest them less deeply';

interface Text {
  /** Position in the list that is checked. */
  readonly index: number;
  readonly prepared: PreparedExpression;
}

export class SyntaxChecker {
  readonly #ask: AskInterpreter;

  constructor(ask: AskInterpreter) {
    this.#ask = ask;
  }

  /** @throws AppError `python_unavailable` */
  async check(kind: SourceKind, sources: readonly string[]): Promise<readonly SyntaxProblem[]> {
    if (kind === 'expression') return this.#checkExpressions(sources);
    const problems: SyntaxProblem[] = [];
    for (const [index, source] of sources.entries()) {
      const found = await this.#compile('script', [source]);
      if (typeof found === 'string') problems.push(problemAt(index, found));
      else problems.push(...found.map((problem) => ({ ...problem, index })));
    }
    return problems;
  }

  async #checkExpressions(sources: readonly string[]): Promise<readonly SyntaxProblem[]> {
    const problems: SyntaxProblem[] = [];
    const texts: Text[] = [];
    const work = new LongWork();
    for (const [index, source] of sources.entries()) {
      if (isExpressionTooLong(source)) problems.push(problemAt(index, EXPRESSION_TOO_LONG));
      else texts.push({ index, prepared: prepareExpression(source) });
      await work.giveWay();
    }
    const until = performance.now() + WHOLE_CHECK_MS;
    for (const some of inParts(texts)) problems.push(...(await this.#checkTexts(some, until)));
    return problems.sort((one, other) => one.index - other.index);
  }

  async #checkTexts(texts: readonly Text[], until: number): Promise<readonly SyntaxProblem[]> {
    const [first] = texts;
    if (first === undefined) return [];
    if (performance.now() > until) return [problemAt(first.index, NOT_CHECKED)];
    const found = await this.#compile(
      'expression',
      texts.map(({ prepared }) => prepared.text),
    );
    if (typeof found !== 'string') return found.map((problem) => inSource(problem, texts));
    if (texts.length === 1) return [problemAt(first.index, found)];
    // One of them was too much for the interpreter.
    const middle = texts.length >> 1;
    return [
      ...(await this.#checkTexts(texts.slice(0, middle), until)),
      ...(await this.#checkTexts(texts.slice(middle), until)),
    ];
  }

  /** @returns the problems, or why the interpreter could not find them */
  async #compile(
    mode: SourceKind,
    sources: readonly string[],
  ): Promise<readonly SyntaxProblem[] | string> {
    const result = await this.#ask({
      request: { kind: 'syntax', mode, sources },
      variables: {},
      pure: false,
      ...(mode === 'expression' ? { timeoutMs: EXPRESSIONS_TIMEOUT_MS } : {}),
      read: (answer) => readSyntaxAnswer(answer, sources.length),
    });
    if (result.ok) return result.answer;
    const { type, message } = result.error;
    if (isRefusal(result.error)) throw new AppError('python_unavailable', message);
    return type === 'Timeout' ? `takes too long to compile: ${message}` : message;
  }
}

/** Groups small enough to be compiled quickly. */
function* inParts(texts: readonly Text[]): Generator<readonly Text[]> {
  let part: Text[] = [];
  let length = 0;
  for (const text of texts) {
    part.push(text);
    length += text.prepared.text.length;
    if (length < MAX_CHARACTERS_AT_ONCE) continue;
    yield part;
    part = [];
    length = 0;
  }
  yield part;
}

function inSource({ index, ...problem }: SyntaxProblem, texts: readonly Text[]): SyntaxProblem {
  const text = texts[index];
  // The response was validated with the number of texts, so the text exists.
  if (text === undefined) return { index, ...problem };
  if (problem.line === null) return { ...problem, index: text.index };
  const place = placeInSource(text.prepared, problem.line, problem.column);
  return { ...problem, ...place, index: text.index };
}

function problemAt(index: number, message: string): SyntaxProblem {
  return { index, message, line: null, column: null };
}
