/**
 * The log lines of EmitLog steps. Workflow authors write them, so they are bounded: no line is longer than 64 kB, and if a
 * definition exceeds its rate of lines or text, further lines are only counted.
 */
import { writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../engine/values/json.js';
import type { EmitLevel } from '../../engine/values/input-choices.js';
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/clock.js';
import { stepLogFields } from '../tracing/span-names.js';

const MESSAGE_LENGTH_MAX = 64 * 1024;
/** Maximum text per second of a definition, in characters, besides the maximum number of lines. */
const LENGTH_PER_SECOND_MAX = 1024 * 1024;
/** A burst may contain this many seconds' worth. */
const BURST_SECONDS = 10;
/** Interval of the reports about omitted lines. */
const REPORT_MS = 10_000;
/** Maximum number of definitions tracked; beyond it, the oldest entry is dropped and starts over. */
const DEFINITIONS_MAX = 10_000;

export interface EmittedLine {
  readonly workflowId: string;
  readonly definitionId: string;
  readonly stepId: string;
  readonly pointerId: number;
  readonly level: EmitLevel;
  readonly message: Json;
}

export interface EmittedLinesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly linesPerSecondMax: number;
}

/** The remaining allowance of a definition. */
interface Allowance {
  lines: number;
  length: number;
  countedAt: number;
  suppressed: number;
  cancelReport: () => void;
}

export class EmittedLines {
  readonly #options: EmittedLinesOptions;
  readonly #allowances = new Map<string, Allowance>();

  constructor(options: EmittedLinesOptions) {
    this.#options = options;
  }

  write(line: EmittedLine, trace?: InstanceTrace): void {
    const method = LOG_METHODS[line.level];
    if (method === null) return;
    const { definitionId, message, pointerId, stepId, workflowId } = line;
    const traceIds = stepLogFields(trace, workflowId, pointerId);
    const ids = { workflowId, definitionId, stepId, pointerId, ...traceIds };
    const text = typeof message === 'string' ? message : writeJson(message);
    const shown = text.slice(0, MESSAGE_LENGTH_MAX);
    if (!this.#admits(definitionId, shown.length)) return;
    if (text.length > MESSAGE_LENGTH_MAX) {
      this.#options.logger[method]({ ...ids, cutFrom: text.length }, shown);
      return;
    }
    // A message that is not a string is also logged as a value, so that it can be searched for.
    const isValue = isJsonObject(message) || Array.isArray(message);
    this.#options.logger[method](isValue ? { ...ids, value: message } : ids, text);
  }

  /** Reports the omitted lines that haven't been reported. */
  stop(): void {
    for (const [definitionId, allowance] of this.#allowances) {
      allowance.cancelReport();
      if (allowance.suppressed > 0) this.#report(definitionId, allowance);
    }
  }

  #admits(definitionId: string, length: number): boolean {
    const allowance = this.#allowanceOf(definitionId);
    if (allowance.lines >= 1 && allowance.length >= length) {
      allowance.lines -= 1;
      allowance.length -= length;
      return true;
    }
    allowance.suppressed += 1;
    if (allowance.suppressed === 1) this.#reportLater(definitionId, allowance);
    return false;
  }

  #allowanceOf(definitionId: string): Allowance {
    const { clock, linesPerSecondMax } = this.#options;
    const now = clock.now();
    const linesMax = linesPerSecondMax * BURST_SECONDS;
    const lengthMax = LENGTH_PER_SECOND_MAX * BURST_SECONDS;
    let allowance = this.#allowances.get(definitionId);
    if (allowance === undefined) {
      allowance = {
        lines: linesMax,
        length: lengthMax,
        countedAt: now,
        suppressed: 0,
        cancelReport: noTimer,
      };
      this.#allowances.set(definitionId, allowance);
      const [oldest] = this.#allowances.keys();
      if (this.#allowances.size > DEFINITIONS_MAX && oldest !== undefined) {
        this.#allowances.delete(oldest);
      }
    }
    const seconds = Math.max(0, now - allowance.countedAt) / 1000;
    allowance.countedAt = now;
    allowance.lines = Math.min(linesMax, allowance.lines + seconds * linesPerSecondMax);
    allowance.length = Math.min(lengthMax, allowance.length + seconds * LENGTH_PER_SECOND_MAX);
    return allowance;
  }

  #reportLater(definitionId: string, allowance: Allowance): void {
    const { clock } = this.#options;
    allowance.cancelReport = clock.at(clock.now() + REPORT_MS, () => {
      this.#report(definitionId, allowance);
    });
  }

  #report(definitionId: string, allowance: Allowance): void {
    const { suppressed } = allowance;
    allowance.suppressed = 0;
    const message = 'dropped log lines of EmitLog steps, because the definition writes too many';
    this.#options.logger.warn({ definitionId, suppressed }, message);
  }
}

const noTimer = (): void => undefined;

/** The log method for each level of EmitLog. */
const LOG_METHODS: Readonly<Record<EmitLevel, Exclude<keyof Logger, 'child'> | null>> = {
  Trace: 'trace',
  Debug: 'debug',
  Information: 'info',
  Warning: 'warn',
  Error: 'error',
  Critical: 'fatal',
  None: null,
};
