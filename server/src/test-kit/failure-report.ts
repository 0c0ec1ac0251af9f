/**
 * What a worker reports when an activity fails, as `@stepwright/worker-sdk` does (`failure-report.ts` and `report.ts` there). The
 * package is not a dependency of the server; `server/test/test-kit/failure-reports.test.ts` compares the two.
 */
import { readJson, writeJson } from '../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../engine/values/json.js';

export interface FailureReport {
  readonly succeeded: false;
  readonly data: Json;
  readonly retryable: boolean;
  /** The handler threw an `ActivityFailure`. */
  readonly isDeliberate?: true;
}

/** The `ActivityFailure` of the worker SDK, whichever copy of the package it is from. */
interface ActivityFailure extends Error {
  readonly type?: string;
  readonly data: unknown;
  readonly retryable: boolean;
}

const MARK = Symbol.for('stepwright.ActivityFailure');
const MESSAGE_LENGTH_MAX = 1000;
/** The members of a `Fail` that says what a handler throws. */
const THROWN_MEMBERS: ReadonlySet<string> = new Set(['name', 'type', 'message', 'data']);

/** The report of a handler that throws this. */
export function reportOfFailure(thrown: unknown): FailureReport {
  const data = describeFailure(thrown);
  if (!isActivityFailure(thrown)) return { succeeded: false, data, retryable: true };
  return { succeeded: false, data, retryable: thrown.retryable, isDeliberate: true };
}

/** The report of a handler whose result cannot be sent. */
export function reportOfResult(error: unknown): FailureReport {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `the result cannot be reported: ${reason}`.slice(0, MESSAGE_LENGTH_MAX);
  return {
    succeeded: false,
    data: { name: 'InvalidResult', message, data: null },
    retryable: true,
  };
}

/**
 * What a mocked worker reports: a text, or a map with a `message`, is the failure that a handler throws. Any other value is sent as
 * it is, as a worker without the SDK could.
 */
export function reportOfMock(fail: Json, retryable: boolean): FailureReport {
  return { succeeded: false, data: describeMock(fail), retryable };
}

function describeMock(fail: Json): Json {
  if (typeof fail === 'string') return thrownFailure(fail, {});
  if (!isJsonObject(fail) || Object.keys(fail).some((key) => !THROWN_MEMBERS.has(key))) return fail;
  return typeof fail['message'] === 'string' ? thrownFailure(fail['message'], fail) : fail;
}

function thrownFailure(message: string, { data = null, name, type }: JsonObject): JsonObject {
  return {
    name: name ?? 'ActivityFailure',
    ...(type !== undefined && { type }),
    message,
    data,
  };
}

function describeFailure(thrown: unknown): Json {
  if (!(thrown instanceof Error)) return describeValue(thrown);
  const { name, message } = thrown;
  const type = typeOf(thrown);
  return { name, ...(type !== null && { type }), message, data: dataOf(thrown) };
}

function describeValue(thrown: unknown): Json {
  const name = 'NonError';
  if (typeof thrown === 'string') return { name, message: thrown, data: null };
  return { name, message: 'the handler threw a value that is not an Error', data: sent(thrown) };
}

function dataOf(thrown: Error): Json {
  if (thrown.name === 'InvalidDataError' && 'issues' in thrown) return sent(thrown.issues);
  return isActivityFailure(thrown) ? sent(thrown.data) : null;
}

/** The SDK leaves out data that is not JSON. */
function sent(value: unknown): Json {
  try {
    return toJson(value);
  } catch {
    return null;
  }
}

function typeOf(thrown: Error): string | null {
  if (isActivityFailure(thrown) && thrown.type !== undefined) return thrown.type;
  const [own = '', ...bases] = classNames(thrown);
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

function isActivityFailure(thrown: unknown): thrown is ActivityFailure {
  return thrown instanceof Error && MARK in thrown;
}

/** @throws TypeError if the value is not JSON */
export function toJson(value: unknown): Json {
  // Undefined for a function or a symbol.
  const text = writeJson(value ?? null) as string | undefined;
  return readJson(text ?? 'null');
}
