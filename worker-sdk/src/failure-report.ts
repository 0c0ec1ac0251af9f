/**
 * Turns what a handler has thrown into a failure report. `stepwright/testing` reports in the same way; a test compares the two
 * (`server/test/test-kit/failure-reports.test.ts`).
 */
import { InvalidDataError, isActivityFailure } from './errors.js';

/** A failure as it is reported to the server. It becomes the `data` of the step error. */
export interface FailureReport {
  readonly name: string;
  /** The kind of failure, if `name` doesn't show it. `NonRetryable` matches both. */
  readonly type?: string;
  readonly message: string;
  readonly data: unknown;
}

/** Whether a retry may succeed: true unless the handler threw an ActivityFailure that says otherwise. */
export function isRetryable(thrown: unknown): boolean {
  return !isActivityFailure(thrown) || thrown.retryable;
}

export function describeFailure(thrown: unknown): FailureReport {
  if (typeof thrown === 'string') return { name: 'NonError', message: thrown, data: null };
  if (!(thrown instanceof Error)) {
    return {
      name: 'NonError',
      message: 'the handler threw a value that is not an Error',
      data: thrown ?? null,
    };
  }
  const { name, message } = thrown;
  const type = typeOf(thrown);
  return { name, ...(type !== null && { type }), message, data: dataOf(thrown) };
}

function dataOf(thrown: Error): unknown {
  if (thrown instanceof InvalidDataError) return thrown.issues;
  return isActivityFailure(thrown) ? (thrown.data ?? null) : null;
}

function typeOf(thrown: Error): string | null {
  if (isActivityFailure(thrown) && thrown.type !== undefined) return thrown.type;
  const [own = '', ...bases] = classNames(thrown);
  // An anonymous class inherits the name of its base class, such as Error.
  return own !== '' && own !== thrown.name && bases.includes(thrown.name) ? own : null;
}

function classNames(thrown: Error): readonly string[] {
  const names: string[] = [];
  let prototype: unknown = Object.getPrototypeOf(thrown);
  while (prototype instanceof Error || prototype === Error.prototype) {
    names.push((prototype as Error).constructor.name);
    prototype = Object.getPrototypeOf(prototype);
  }
  return names;
}
