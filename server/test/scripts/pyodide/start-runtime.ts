/** Starts a Pyodide runtime for a test file, and records its log. */
import { createPyodideRuntime } from '../../../src/scripts/pyodide/pyodide-script-runtime.js';
import type {
  PyodideRuntimeOptions,
  RuntimeLogger,
} from '../../../src/scripts/pyodide/runtime-options.js';
import type { EvaluationResult, ScriptRuntime } from '../../../src/scripts/script-runtime.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { DEFAULT_PYTHON_LIMITS } from '../../support/default-limits.js';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function createLogCollector(): { logger: RuntimeLogger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const collect =
    (level: LogLine['level']) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void =>
      void lines.push({ level, fields, message });
  return {
    logger: { info: collect('info'), warn: collect('warn'), error: collect('error') },
    lines,
  };
}

export interface StartedRuntime {
  readonly runtime: ScriptRuntime;
  readonly lines: LogLine[];
  /** Evaluates one expression, with `data` only. */
  evaluate(source: string, data?: JsonObject): Promise<EvaluationResult>;
  /** The value of one expression; fails the test if there is none. */
  value(source: string, data?: JsonObject): Promise<Json>;
}

export async function startRuntime(
  options: Partial<PyodideRuntimeOptions> = {},
): Promise<StartedRuntime> {
  const { logger, lines } = createLogCollector();
  const runtime = createPyodideRuntime({
    ...DEFAULT_PYTHON_LIMITS,
    environment: {},
    spares: 0,
    logger,
    ...options,
  });
  await runtime.start();
  const evaluate = async (source: string, data: JsonObject = {}): Promise<EvaluationResult> =>
    runtime.evaluate([{ source }], { data, context: {} });
  // The tests of timeouts must not measure the boot.
  await evaluate('abs(1)');
  return {
    runtime,
    lines,
    evaluate,
    async value(source, data) {
      const result = await evaluate(source, data);
      if (!result.ok) throw new Error(`${source}: ${result.error.type}: ${result.error.message}`);
      return result.values[0]!;
    },
  };
}
