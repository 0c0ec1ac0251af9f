/**
 * Expressions and scripts, as the rest of the server sees them: evaluated in batches, run, and checked. The language is
 * Python.
 *
 * Owns: everything about how Python is run and isolated from the host. Must not know: workflows, steps, stores.
 *
 * Guarantees of every implementation (see server/test/scripts/):
 *  P1 No evaluation can see or change another one, the server, its files, its network or its environment.
 *  P2 Every call ends within its time limit (plus a bounded grace period) and within the memory and size limits.
 *  P3 Results are plain JSON: finite numbers, integers of up to 1,000 digits, bounded depth and size.
 *  P4 A failing evaluation fails alone: others that are running or queued continue.
 */
import type { ExamineExpression } from '../engine/definitions/expression-facts.js';
import type { Json, JsonObject } from '../engine/values/json.js';
import type { Service } from '../base/service.js';

/** The variables available to an expression. `environment` is fixed in the runtime at its start. */
export interface EvaluationVariables {
  readonly data: JsonObject;
  readonly context: JsonObject;
  /** Present while outputs are evaluated. */
  readonly step?: JsonObject;
  /** Present while the expressions of a webhook are evaluated. */
  readonly hook?: JsonObject;
  /** Present while the inputs of calls are evaluated. */
  readonly secrets?: JsonObject;
}

/** An expression, or a constant of the definition between expressions of a batch. */
export type EvaluationRequest = (
  | {
      /** At most 16 KiB (see engine/values/expression-length.ts). */
      readonly source: string;
    }
  | { readonly constant: Json }
) & {
  /** The value also becomes `data[assignTo]`, visible to later expressions of the same batch. */
  readonly assignTo?: string;
};

export interface CallOptions {
  /**
   * The definition that the code belongs to. Definitions take turns. A definition whose expressions took too long queues
   * with the scripts for a while, so that it does not block others.
   */
  readonly definitionId?: string;
  /** Removes the call from the queue, or ends its interpreter; the result is `Aborted`. */
  readonly signal?: AbortSignal;
}

export interface ScriptError {
  /**
   * The class of the Python exception, for example `AttributeError`, or a type of the server: `Timeout`, `MemoryLimit`,
   * `ResultTooLarge` for code that exceeded a limit; `SandboxViolation`, `InterpreterCrash` for forbidden operations;
   * `Overloaded`, `Unavailable`, `Aborted` if the code is not the cause.
   */
  readonly type: string;
  readonly message: string;
  /** 1-based line in the source, if known. */
  readonly line?: number;
  /** At most 4 kB, user code frames only. */
  readonly traceback?: string;
}

/** Errors that say nothing about the code: it did not run, and the same call may succeed later. */
const REFUSALS: ReadonlySet<string> = new Set(['Unavailable', 'Overloaded', 'Aborted']);

export function isRefusal({ type }: { readonly type: string }): boolean {
  return REFUSALS.has(type);
}

export type EvaluationResult =
  | { readonly ok: true; readonly values: readonly Json[] }
  /** Evaluation stopped at the first failed expression; `index` is its position in the batch. */
  | { readonly ok: false; readonly index: number; readonly error: ScriptError };

export type ScriptResult =
  | {
      readonly ok: true;
      /** All variables remaining in the script's scope, except code and names with a leading underscore. */
      readonly variables: JsonObject;
      /** Estimated bytes of the variables in memory, except unchanged inputs. */
      readonly memoryBytes: number;
      /** What the script printed, up to a limit. */
      readonly output: string;
    }
  | { readonly ok: false; readonly error: ScriptError; readonly output: string };

export interface SyntaxProblem {
  /** Position in the list that was checked. */
  readonly index: number;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

export interface ForbiddenImport {
  /** As written in the script; starts with a dot if the import is relative. */
  readonly module: string;
  /** A module with a similar name that can be imported. */
  readonly near: string | null;
  readonly line: number;
  readonly column: number;
}

export interface ScriptRuntimeStatistics {
  readonly interpreters: number;
  readonly busy: number;
  readonly queued: number;
  readonly replaced: number;
  readonly timeouts: number;
}

export interface ScriptRuntime extends Service {
  /** True once an interpreter has booted; evaluations before that wait for it. */
  readonly ready: boolean;

  /** Resolves when evaluations no longer have to wait for an interpreter, or when there will be none for a while. */
  waitUntilReady(): Promise<void>;

  /**
   * Evaluates the expressions one after another, in order, and stops at the first failure.
   * Returns synchronously if no Python is needed (see expressions/plain-expression.ts), which is the usual case.
   * Never rejects: every failure is a result, including those of the runtime itself.
   */
  evaluate(
    requests: readonly EvaluationRequest[],
    variables: EvaluationVariables,
    options?: CallOptions,
  ): EvaluationResult | Promise<EvaluationResult>;

  /** Runs a script on a pristine interpreter with `inputs` as its global variables. Never rejects. */
  runScript(source: string, inputs: JsonObject, options?: CallOptions): Promise<ScriptResult>;

  /**
   * Checks with CPython's own parser and returns one entry for each invalid source.
   * @throws AppError `python_unavailable` if no interpreter is available
   */
  checkSyntax(
    kind: 'expression' | 'script',
    sources: readonly string[],
  ): Promise<readonly SyntaxProblem[]>;

  /** Analyses the text of an expression without running it. A runtime without it gives no warnings. */
  readonly examine?: ExamineExpression;

  /** Imports of a script that the sandbox rejects. A runtime without it gives no warnings. */
  readonly findForbiddenImports?: (source: string) => Promise<readonly ForbiddenImport[]>;

  statistics(): ScriptRuntimeStatistics;
}
