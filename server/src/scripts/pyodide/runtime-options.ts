/** The options of a Pyodide runtime. The defaults of limits are in `config/settings.ts`. */

import type { CallMoment } from './frames.js';

/** The part of the server's logger that is used here. */
export interface RuntimeLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface PyodideRuntimeOptions {
  /** Maximum number of concurrent evaluations and scripts. Each costs a process of about 130 MB. */
  readonly interpreters: number;
  /**
   * Number of additional interpreters kept booted while scripts run, and for a minute afterwards, as replacements.
   */
  readonly spares: number;
  /** For all expressions of one call together. */
  readonly expressionTimeoutMs: number;
  /** For one script, or one check of syntax. */
  readonly scriptTimeoutMs: number;
  /** For the linear memory of an interpreter, 31 MiB of which are Python itself. */
  readonly memoryLimitBytes: number;
  /** For the whole result of one call, as JSON. */
  readonly resultLimitBytes: number;
  /** For what one script prints; the rest is dropped. */
  readonly outputLimitBytes: number;
  /** For nested calls of Python functions. */
  readonly recursionMax: number;
  /** Maximum number of waiting calls; more are rejected with `Overloaded`. */
  readonly queueLimit: number;
  /** The values of `environment["NAME"]`. Never the server's own environment unfiltered. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the memory of a booted interpreter is stored. @default a file beside the compiled server */
  readonly snapshotPath?: string;
  readonly logger: RuntimeLogger;
  /** The time and the random numbers of the next call. @default the machine's */
  readonly nextMoment?: () => CallMoment;
}

export type RuntimeSettings = Required<Omit<PyodideRuntimeOptions, 'nextMoment'>> &
  Pick<PyodideRuntimeOptions, 'nextMoment'>;
