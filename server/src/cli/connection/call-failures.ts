/** Explains a failed call to the user, and suggests a fix. */
import { readJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { EXIT_CODES } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';

const ELSEWHERE = 'select another server with --url, STEPWRIGHT_URL or --profile';

/** @param error thrown by `fetch` */
export function unreachable(url: string, error: unknown): CommandFailure {
  if (error instanceof Error && error.name === 'TimeoutError') {
    const message = `the server at ${url} did not respond in time`;
    return new CommandFailure(message, 'Try again later', EXIT_CODES.unreachable);
  }
  return new CommandFailure(
    `the server at ${url} cannot be reached: ${reasonOf(error)}`,
    `Start one with \`stepwright dev\`, or ${ELSEWHERE}`,
    EXIT_CODES.unreachable,
  );
}

/** Whether retrying the call shortly may succeed. */
export function isTemporary(error: unknown): boolean {
  return error instanceof CommandFailure && error.exitCode === EXIT_CODES.unreachable;
}

/** `fetch` only reports that it failed; the cause has the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}

export function refusal(url: string, status: number, text: string): CommandFailure {
  const problem = problemIn(text);
  if (problem === null) {
    return new CommandFailure(
      `${url} responded with ${status}, but it does not look like a Stepwright server`,
      `Check the address, or ${ELSEWHERE}`,
      EXIT_CODES.unreachable,
    );
  }
  const { exitCode, hint } = adviceOn(status, url);
  return new CommandFailure(explained(problem).join('\n'), hint, exitCode);
}

/** Formats a problem document on several lines. */
export function explained(problem: JsonObject): string[] {
  const errorId = textIn(problem, 'errorId');
  return [
    textIn(problem, 'detail') || textIn(problem, 'title'),
    ...itemsOf(problem),
    ...(errorId === '' ? [] : [`  errorId: ${errorId}`]),
  ];
}

function adviceOn(status: number, url: string): Pick<CommandFailure, 'exitCode' | 'hint'> {
  switch (status) {
    case 401:
      return {
        exitCode: EXIT_CODES.denied,
        hint: `Give a valid token for ${url}: --token, STEPWRIGHT_TOKEN, or stepwright profile set`,
      };
    case 403:
      return {
        exitCode: EXIT_CODES.denied,
        hint: `Use a token with that scope. docs/authentication.md lists the scopes`,
      };
    case 404:
      return { exitCode: EXIT_CODES.notFound, hint: `It may be on another server: this is ${url}` };
    case 429:
    case 503:
      return { exitCode: EXIT_CODES.unreachable, hint: 'Try again later' };
    default:
      return { exitCode: EXIT_CODES.failed, hint: '' };
  }
}

function problemIn(text: string): JsonObject | null {
  try {
    const content = readJson(text);
    return isJsonObject(content) && typeof content['code'] === 'string' ? content : null;
  } catch {
    return null;
  }
}

/** `  /order: must be a number`. */
function itemsOf({ errors }: JsonObject): string[] {
  if (!Array.isArray(errors)) return [];
  return (errors as readonly Json[]).filter(isJsonObject).map((item) => {
    const { column, line } = item;
    const place =
      typeof line === 'number' && typeof column === 'number'
        ? `${line}:${column}: `
        : prefixed(textIn(item, 'pointer') || textIn(item, 'parameter'));
    return `  ${place}${textIn(item, 'message')}`;
  });
}

function prefixed(place: string): string {
  return place === '' ? '' : `${place}: `;
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}
