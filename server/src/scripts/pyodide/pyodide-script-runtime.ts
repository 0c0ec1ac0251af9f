/**
 * Python for the server: expressions, scripts and syntax checks, run by Pyodide in processes of their own.
 *
 * Owns: what is evaluated without Python, what is sent to it, and how its responses are checked. Must not know: workflows,
 * steps, stores. The wall around Python is described in gates.ts (the WebAssembly instance), sealed-interpreter.ts (one
 * interpreter), child-command.ts (its process) and interpreter-pool.ts (all of them).
 *
 *  PY1 The server and Python give the same result for every expression that both can evaluate.
 *  PY2 The decision whether an expression may run on a used interpreter is made here, from its text alone, and never by
 *      Python.
 *  PY3 The caller's variables are never changed; returned values may share parts with them.
 *  PY4 Every failure is a result. Only `checkSyntax` rejects, if there is no interpreter.
 */
import type { JsonObject } from '../../engine/values/json.js';
import type {
  CallOptions,
  EvaluationRequest,
  EvaluationResult,
  EvaluationVariables,
  ScriptResult,
  ScriptRuntime,
  ScriptRuntimeStatistics,
  SyntaxProblem,
} from '../script-runtime.js';
import { examineExpression } from '../expressions/examine-expression.js';
import { findForbiddenImports } from '../expressions/find-imports.js';
import { readScriptAnswer } from '../expressions/read-answer.js';
import { InterpreterBooter } from './boot-interpreter.js';
import { ExpressionEvaluator } from './expression-evaluator.js';
import { createAskInterpreter, queueOptions, type AskInterpreter } from './interpreter-call.js';
import { InterpreterPool } from './interpreter-pool.js';
import { type PyodideRuntimeOptions, type RuntimeSettings } from './runtime-options.js';
import { defaultSnapshotPath } from './snapshot.js';
import { SyntaxChecker } from './syntax-checker.js';

export function createPyodideRuntime(options: PyodideRuntimeOptions): ScriptRuntime {
  return new PyodideScriptRuntime({ snapshotPath: defaultSnapshotPath(), ...options });
}

class PyodideScriptRuntime implements ScriptRuntime {
  readonly #pool: InterpreterPool;
  readonly #ask: AskInterpreter;
  readonly #evaluator: ExpressionEvaluator;
  readonly #syntaxChecker: SyntaxChecker;

  constructor(settings: RuntimeSettings) {
    const booter = new InterpreterBooter(settings);
    this.#pool = new InterpreterPool({ ...settings, boot: (signal) => booter.boot(signal) });
    this.#ask = createAskInterpreter(this.#pool, settings);
    this.#evaluator = new ExpressionEvaluator({ ...settings, ask: this.#ask });
    this.#syntaxChecker = new SyntaxChecker(this.#ask);
  }

  get ready(): boolean {
    return this.#pool.isReady;
  }

  readonly examine = examineExpression;
  readonly findForbiddenImports = findForbiddenImports;

  async waitUntilReady(): Promise<void> {
    if (this.ready) return;
    // This call waits for the first interpreter, and is rejected if there will be none.
    await this.checkSyntax('expression', ['None']).catch(() => undefined);
  }

  /** Returns before an interpreter is ready: the start of the server does not wait for Python. */
  async start(): Promise<void> {
    this.#pool.start();
  }

  stop(): Promise<void> {
    return this.#pool.stop();
  }

  statistics(): ScriptRuntimeStatistics {
    return this.#pool.statistics;
  }

  evaluate(
    requests: readonly EvaluationRequest[],
    variables: EvaluationVariables,
    options: CallOptions = {},
  ): EvaluationResult | Promise<EvaluationResult> {
    return this.#evaluator.evaluate(requests, variables, options);
  }

  async runScript(
    source: string,
    inputs: JsonObject,
    options: CallOptions = {},
  ): Promise<ScriptResult> {
    const result = await this.#ask({
      request: { kind: 'script', source },
      variables: inputs,
      pure: false,
      read: (answer) => readScriptAnswer(answer, inputs),
      ...queueOptions(options),
    });
    const { output } = result;
    if (!result.ok) return { ok: false, error: result.error, output };
    const { answer } = result;
    return answer.ok ? { ...answer, output } : { ok: false, error: answer.error, output };
  }

  async checkSyntax(
    kind: 'expression' | 'script',
    sources: readonly string[],
  ): Promise<readonly SyntaxProblem[]> {
    return this.#syntaxChecker.check(kind, sources);
  }
}
