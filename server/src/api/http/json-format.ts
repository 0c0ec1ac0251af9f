/**
 * JSON bodies.
 *
 * A scan of the text rejects excessive depth, excessive size and numbers that cannot be represented, before the parser
 * builds anything. The parser is the platform's, which keeps `__proto__` as plain own data. If it reports an error,
 * `findSyntaxProblem` parses the text again, because the platform doesn't always report the position.
 */
import { INTEGER_DIGITS_MAX, isTooLong, readJson } from '../../engine/values/exact-json.js';
import { AppError } from '../../base/errors.js';
import type { Json } from '../../engine/values/json.js';
import { endOfString } from '../../engine/values/json-string.js';
import type { ApiLimits } from './api-limits.js';
import { findSyntaxProblem } from './json-syntax.js';
import { positionAt } from './text-position.js';

/** @throws AppError `unreadable_body` with line and column */
export function parseJson(text: string, limits: ApiLimits): Json {
  scan(text, limits);
  try {
    return readJson(text);
  } catch (cause) {
    const found = findSyntaxProblem(text) ?? { offset: 0, message: 'it cannot be parsed' };
    throw unreadable(text, found.offset, `Invalid JSON: ${found.message}`, cause);
  }
}

const QUOTE = 0x22;

/** Counts structural characters outside strings, and tolerates anything that the parser will reject. */
function scan(text: string, limits: ApiLimits): void {
  let depth = 0;
  let nodes = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(text, index);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      nodes += 1;
      if (depth > limits.bodyDepthMax) {
        throw unreadable(
          text,
          index,
          `The body is nested deeper than ${limits.bodyDepthMax} levels`,
        );
      }
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    } else if (code === 0x2c) {
      nodes += 1;
    } else if (code >= 0x30 && code <= 0x39) {
      index = checkNumber(text, index);
    }
  }
  if (nodes > limits.bodyNodesMax) {
    throw new AppError('unreadable_body', `The body has more than ${limits.bodyNodesMax} values`);
  }
}

/** Up to this many characters, a number without an exponent is finite and keeps its digits. */
const HARMLESS_LENGTH = 15;

/** @returns the offset of the number's last character */
function checkNumber(text: string, start: number): number {
  let end = start + 1;
  let hasExponent = false;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === 0x65 || code === 0x45) hasExponent = true;
    else if (!(code >= 0x30 && code <= 0x39) && !isNumberMark(code)) break;
  }
  if (hasExponent || end - start > HARMLESS_LENGTH) {
    const source = text.slice(start, end);
    const value = Number(source);
    // The parser rejects text that is not a number at all.
    const problem = Number.isNaN(value) ? null : numberProblem(source, value);
    if (problem !== null) throw unreadable(text, start, problem);
  }
  return end - 1;
}

function isNumberMark(code: number): boolean {
  return code === 0x2e || code === 0x2b || code === 0x2d;
}

/** Why a number is not accepted, or null. Also used for YAML, which has more ways to write one. */
export function numberProblem(source: string, value: number): string | null {
  const shown = source.length > 40 ? `${source.slice(0, 40)}…` : source;
  if (/^[-+]?\d+$/.test(source)) {
    if (!isTooLong(source)) return null;
    return `The integer ${shown} has more than ${INTEGER_DIGITS_MAX} digits; send it as text`;
  }
  return Number.isFinite(value) ? null : `The number ${shown} is not finite`;
}

export function unreadable(
  text: string,
  offset: number,
  message: string,
  cause?: unknown,
): AppError {
  const { line, column } = positionAt(text, offset);
  return new AppError('unreadable_body', `${message} (line ${line}, column ${column})`, {
    fields: { line, column },
    cause,
  });
}
