/**
 * A log line for every failed attempt of a step, written after the commit that contains it (R2): at level `error` if it needs
 * attention, because the definition doesn't handle the failure.
 *
 * A step that fails repeatedly would fill the log. So for each step of an instance, at most one line per minute is written at
 * each level, with the number of attempts that it represents. The newest attempt of a minute is never lost: its line is written
 * at the end of the minute.
 */
import type { Instance } from '../../engine/model/instance.js';
import type { FailedAttempt, NextAction } from '../../engine/session/session.js';
import type { LogFields, Logger } from '../../base/logger.js';
import type { Clock } from '../../base/clock.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { stepLogFields } from '../tracing/span-names.js';

const WINDOW_MS = 60_000;
/**
 * Maximum number of steps tracked; beyond it, the oldest entry is dropped, and the next failure of its step is logged
 * immediately.
 */
const STEPS_MAX = 10_000;
const MESSAGE_LENGTH_MAX = 1000;

type Level = 'warn' | 'error';

interface Window {
  readonly until: number;
  /** Number of unlogged attempts, and the newest of them. */
  suppressed: number;
  newest: LogFields;
  cancelTimer: () => void;
}

/** Distinguishes these lines from the server's own; it never changes. */
export const FAILED_ATTEMPT_CODE = 'step_attempt_failed';

export interface FailedAttemptsLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'attemptFailed'>;
}

export class FailedAttemptsLog {
  readonly #options: FailedAttemptsLogOptions;
  readonly #windows = new Map<string, Window>();

  constructor(options: FailedAttemptsLogOptions) {
    this.#options = options;
  }

  note(instance: Instance, attempts: readonly FailedAttempt[]): void {
    for (const attempt of attempts) {
      this.#options.metrics.attemptFailed(instance.definitionId, attempt.action.kind);
      const level = isHandled(instance, attempt.action) ? 'warn' : 'error';
      const key = JSON.stringify([instance.id, attempt.error.stepId, level]);
      this.#write(key, level, fieldsOf(instance, attempt));
    }
  }

  /** Writes the lines that were held back. */
  stop(): void {
    for (const [key, window] of [...this.#windows]) this.#close(key, window);
  }

  #write(key: string, level: Level, fields: LogFields): void {
    const window = this.#windows.get(key);
    if (window === undefined || window.until <= this.#options.clock.now()) {
      if (window !== undefined) this.#close(key, window);
      this.#log(level, fields, 0);
      this.#open(key, fields);
      return;
    }
    window.suppressed += 1;
    window.newest = fields;
    if (window.suppressed > 1) return;
    window.cancelTimer = this.#options.clock.at(window.until, () => {
      this.#log(level, window.newest, window.suppressed - 1);
      this.#windows.delete(key);
      this.#open(key, window.newest);
    });
  }

  #open(key: string, newest: LogFields): void {
    const until = this.#options.clock.now() + WINDOW_MS;
    this.#windows.set(key, { until, suppressed: 0, newest, cancelTimer: () => undefined });
    const [oldest] = this.#windows;
    if (this.#windows.size > STEPS_MAX && oldest !== undefined) this.#close(...oldest);
  }

  #close(key: string, window: Window): void {
    window.cancelTimer();
    this.#windows.delete(key);
    if (window.suppressed > 0) this.#log(levelOf(key), window.newest, window.suppressed - 1);
  }

  #log(level: Level, fields: LogFields, suppressed: number): void {
    const counted = suppressed === 0 ? fields : { ...fields, suppressed };
    this.#options.logger[level]({ code: FAILED_ATTEMPT_CODE, ...counted }, 'a step attempt failed');
  }
}

/** True if the definition handles the failure: with another attempt, a compensation, or a path that continues. */
function isHandled({ parent }: Instance, { kind }: NextAction): boolean {
  switch (kind) {
    case 'retry':
    case 'compensating':
    case 'goes-on':
      return true;
    case 'terminated':
      // The parent's step that waits for this run fails, with its own line, or accepts the outcome.
      return (parent?.waiting ?? 0) > 0;
    case 'suspended':
      return false;
  }
}

function levelOf(key: string): Level {
  return key.endsWith('"warn"]') ? 'warn' : 'error';
}

function fieldsOf(instance: Instance, { action, error }: FailedAttempt): LogFields {
  const { attempt, message, pointerId, stepId, type } = error;
  return {
    workflowId: instance.id,
    definitionId: instance.definitionId,
    version: instance.version,
    stepId,
    executionId: pointerId,
    attempt,
    errorType: type,
    errorMessage: message.slice(0, MESSAGE_LENGTH_MAX),
    next: wordsOf(action),
    ...stepLogFields(instance.trace, instance.id, pointerId),
  };
}

function wordsOf(action: NextAction): string {
  switch (action.kind) {
    case 'retry':
      return `retry at ${new Date(action.at).toISOString()}`;
    case 'goes-on':
      return 'goes on';
    case 'suspended':
    case 'terminated':
    case 'compensating':
      return action.kind;
  }
}
