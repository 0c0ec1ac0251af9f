/**
 * The log: one JSON object per line on standard output.
 *
 * All code logs through the small `Logger` interface, which pino implements, so that tests can read objects instead of
 * text. Secrets are kept out twice: callers do not log them, and fields that usually hold them are redacted here.
 */
import { pino, type DestinationStream } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes a line: a message, or fields and a message. An error goes into the field `err`. */
export interface LogMethod {
  (message: string): void;
  (fields: LogFields, message: string): void;
}

export interface Logger {
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** A logger that adds these fields to each of its lines. */
  child(bindings: LogFields): Logger;
}

export interface LoggerConfig {
  readonly level: LogLevel;
  /** Where lines are written; standard output by default. */
  readonly destination?: DestinationStream;
}

/** Field names that hold secrets, at the top level of a line and one level below (`headers.authorization`). */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'token',
  'password',
  'Authorization',
  'Cookie',
  '["set-cookie"]',
];

function redactedPaths(): string[] {
  return SECRET_FIELDS.flatMap((name) => {
    const below = name.startsWith('[') ? `*${name}` : `*.${name}`;
    const inRequest = name.startsWith('[') ? `req.headers${name}` : `req.headers.${name}`;
    return [name, below, inRequest];
  });
}

export function createLogger(config: LoggerConfig): Logger {
  const options = {
    level: config.level,
    // /api/info shows the process and the machine; on every line they would only be noise.
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redactedPaths(), censor: '[redacted]' },
  };
  return config.destination === undefined ? pino(options) : pino(options, config.destination);
}
