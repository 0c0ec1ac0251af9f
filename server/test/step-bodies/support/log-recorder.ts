/** A logger whose lines a test can read; the fields of child loggers are on each of their lines. */
import type { LogFields, Logger, LogMethod } from '../../../src/base/logger.js';

export interface LogLine {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

export function createLogRecorder(): {
  readonly lines: readonly LogLine[];
  readonly logger: Logger;
} {
  const lines: LogLine[] = [];
  return { lines, logger: loggerInto(lines, {}) };
}

function loggerInto(lines: LogLine[], bindings: LogFields): Logger {
  const at =
    (level: string): LogMethod =>
    (first: string | LogFields, second?: string) => {
      const fields = typeof first === 'string' ? {} : first;
      const message = typeof first === 'string' ? first : (second ?? '');
      lines.push({ level, fields: { ...bindings, ...fields }, message });
    };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (further) => loggerInto(lines, { ...bindings, ...further }),
  };
}
