/** Files that hold one limit each: `*.limit.yaml`. */
import { AppError } from '../../base/errors.js';
import { parseLimit } from '../../engine/definitions/parse-limit.js';
import type { LimitSettings } from '../../engine/model/limit.js';
import { parseDocument } from '../definition-source.js';

export interface LimitFile {
  /** Null if the file has none, or an invalid one. */
  readonly name: string | null;
  /** Null if there are problems. */
  readonly limit: LimitSettings | null;
  readonly problems: readonly LimitFileProblem[];
}

export interface LimitFileProblem {
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

const START = { line: 1, column: 1 };

/** Unlike in a call, where the path has the name, a Name is required. */
export function readLimitFile(text: string): LimitFile {
  try {
    const { locate, value, writtenNumber } = parseDocument(text);
    const { errors, limit, name } = parseLimit(value, { writtenNumber });
    const problems = errors.map(({ code, message, pointer }) => {
      return { code, message, ...(locate(pointer) ?? START) };
    });
    if (name === null && problems.length === 0) {
      const message = 'A limit in a file requires a Name.';
      problems.push({ code: 'invalid_value', message, ...START });
    }
    return { name, limit: problems.length > 0 ? null : limit, problems };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { column = 1, line = 1 } = error.fields;
    const place = { line: Number(line), column: Number(column) };
    return {
      name: null,
      limit: null,
      problems: [{ code: error.code, message: error.message, ...place }],
    };
  }
}

/** The body of the call that sets it up. */
export function limitDocument({ concurrency, description, rate }: LimitSettings) {
  return {
    ...(description !== null && { description }),
    ...(concurrency !== null && { concurrency }),
    ...(rate !== null && { rate: { count: rate.count, per: rate.per, burst: rate.burst } }),
  };
}
