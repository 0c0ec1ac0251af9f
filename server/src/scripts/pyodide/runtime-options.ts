/** The options of a Pyodide runtime, each with its meaning and default. */

/** The part of the server's logger that is used here. */
export interface RuntimeLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface PyodideRuntimeOptions {
  /** Maximum number of concurrent evaluations and scripts. Each costs a process of about 130 MB. @default 1 */
  readonly interpreters?: number;
  /**
   * Number of additional interpreters kept booted while scripts run, and for a minute afterwards, as replacements.
   * @default 1
   */
  readonly spares?: number;
  /** For all expressions of one call together. @default 1000 */
  readonly expressionTimeoutMs?: number;
  /** For one script, or one check of syntax. @default 5000 */
  readonly scriptTimeoutMs?: number;
  /** For the linear memory of an interpreter, 31 MiB of which are Python itself. @default 160 MiB */
  readonly memoryLimitBytes?: number;
  /** For the whole result of one call, as JSON. @default 2 MiB */
  readonly resultLimitBytes?: number;
  /** For what one script prints; the rest is dropped. @default 64 KiB */
  readonly outputLimitBytes?: number;
  /** For nested calls of Python functions. @default 1000 */
  readonly recursionMax?: number;
  /** Maximum number of waiting calls; more are rejected with `Overloaded`. @default 10000 */
  readonly queueLimit?: number;
  /** The values of `environment["NAME"]`. Never the server's own environment unfiltered. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the memory of a booted interpreter is stored. @default a file beside the compiled server */
  readonly snapshotPath?: string;
  readonly logger: RuntimeLogger;
}

export type RuntimeSettings = Required<PyodideRuntimeOptions>;

const MIB = 1 << 20;

export function completeOptions(
  options: PyodideRuntimeOptions,
  defaultSnapshotPath: () => string,
): RuntimeSettings {
  return {
    interpreters: Math.max(1, options.interpreters ?? 1),
    spares: Math.max(0, options.spares ?? 1),
    expressionTimeoutMs: options.expressionTimeoutMs ?? 1000,
    scriptTimeoutMs: options.scriptTimeoutMs ?? 5000,
    memoryLimitBytes: options.memoryLimitBytes ?? 160 * MIB,
    resultLimitBytes: options.resultLimitBytes ?? 2 * MIB,
    outputLimitBytes: options.outputLimitBytes ?? 64 * 1024,
    recursionMax: options.recursionMax ?? 1000,
    queueLimit: options.queueLimit ?? 10_000,
    environment: options.environment,
    snapshotPath: options.snapshotPath ?? defaultSnapshotPath(),
    logger: options.logger,
  };
}
