/**
 * Expressions and scripts, as the rest of the server sees them: evaluated in batches, run, and checked. They are Python.
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

/** The variables that an expression can name. `environment` is baked into the runtime at start. */
export interface EvaluationVariables {
  readonly data: JsonObject;
  readonly context: JsonObject;
  /** Present while outputs are evaluated. */
  readonly step?: JsonObject;
}

/** An expression, or a constant of the definition that stands between expressions of a batch. */
export type EvaluationRequest = (
  | {
      /** At most 16 KiB (see engine/values/expression-length.ts). */
      readonly source: string;
    }
  | { readonly constant: Json }
) & {
  /** The value also becomes `data[assignTo]`, seen by the expressions that follow in the same batch. */
  readonly assignTo?: string;
};

export interface CallOptions {
  /**
   * The definition that the code belongs to. Definitions take turns, and one whose expressions took too long waits with
   * the scripts for a while, so that it holds up nobody else.
   */
  readonly definitionId?: string;
  /** Takes the call out of the queue, or ends its interpreter; the result is `Aborted`. */
  readonly signal?: AbortSignal;
}

export interface ScriptError {
  /**
   * The Python exception's class, e.g. `AttributeError`; or one of ours: `Timeout`, `MemoryLimit`, `ResultTooLarge` for
   * code that took too much; `SandboxViolation`, `InterpreterCrash` for code that did what it must not; `Overloaded`,
   * `Unavailable`, `Aborted` where the code is not to blame.
   */
  readonly type: string;
  readonly message: string;
  /** 1-based line in the source, where known. */
  readonly line?: number;
  /** At most 4 kB, user code frames only. */
  readonly traceback?: string;
}

/** Errors that say nothing about the code: it was not run, and the same call may succeed later. */
const REFUSALS: ReadonlySet<string> = new Set(['Unavailable', 'Overloaded', 'Aborted']);

export function isRefusal({ type }: { readonly type: string }): boolean {
  return REFUSALS.has(type);
}

export type EvaluationResult =
  | { readonly ok: true; readonly values: readonly Json[] }
  /** Evaluation stopped at the first expression that failed; `index` is its place in the batch. */
  | { readonly ok: false; readonly index: number; readonly error: ScriptError };

export type ScriptResult =
  | {
      readonly ok: true;
      /** Every variable that is left in the script's scope, apart from code and from names with a leading underscore. */
      readonly variables: JsonObject;
      /** What the script printed, capped. */
      readonly output: string;
    }
  | { readonly ok: false; readonly error: ScriptError; readonly output: string };

export interface SyntaxProblem {
  /** Place in the list that was checked. */
  readonly index: number;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

export interface ForbiddenImport {
  /** As the script writes it; begins with a dot where the import is relative. */
  readonly module: string;
  /** A module with nearly that name that can be imported. */
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

  /** Resolves when evaluations need not wait for an interpreter any more, or there will be none for a while. */
  waitUntilReady(): Promise<void>;

  /**
   * Evaluates the expressions one after another, in order, and stops at the first failure.
   * Answers synchronously where no Python is needed (see expressions/plain-expression.ts), which is most of the time.
   * Never rejects: every failure, also of the runtime itself, is a result.
   */
  evaluate(
    requests: readonly EvaluationRequest[],
    variables: EvaluationVariables,
    options?: CallOptions,
  ): EvaluationResult | Promise<EvaluationResult>;

  /** Runs a script on a pristine interpreter with `inputs` as its global variables. Never rejects. */
  runScript(source: string, inputs: JsonObject, options?: CallOptions): Promise<ScriptResult>;

  /**
   * Checks with CPython's own parser and answers one entry for each source that is not valid.
   * @throws AppError `python_unavailable` when no interpreter can be had
   */
  checkSyntax(
    kind: 'expression' | 'script',
    sources: readonly string[],
  ): Promise<readonly SyntaxProblem[]>;

  /** What the text of an expression tells without running it. A runtime without it warns of nothing. */
  readonly examine?: ExamineExpression;

  /** Imports of a script that the sandbox refuses. A runtime without it warns of nothing. */
  readonly findForbiddenImports?: (source: string) => Promise<readonly ForbiddenImport[]>;

  statistics(): ScriptRuntimeStatistics;
}
