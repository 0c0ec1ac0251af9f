/** Checks and stores files on a server. */
import { isMap, isScalar, parseDocument } from 'yaml';
import { refusal, unreachable } from '../connection/call-failures.js';
import type { Limit } from '../../api/wire/models/limit.js';
import { limitDocument, readLimitFile } from '../../test-kit/files/limit-file.js';
import { limitFileText, limitText } from './limit-files.js';
import { stepNameOf, type WorkflowFile } from './workflow-files.js';

const TIMEOUT_MS = 60_000;
/** Statuses that concern the file; others concern the connection. */
const ABOUT_FILE: ReadonlySet<number> = new Set([400, 409, 413, 415]);

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  /** Counted from 1; absent if the problem concerns the whole file. */
  readonly line?: number;
  readonly column?: number;
}

/** The API response: a check result, a stored version or a problem document. */
interface Answer {
  readonly id?: string;
  readonly version?: number;
  readonly errors?: readonly Item[];
  readonly warnings?: readonly Item[];
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly line?: number;
  readonly column?: number;
}

type Item = Omit<Problem, 'severity'>;

export interface Stored {
  /** False if the server rejected the file. */
  readonly accepted: boolean;
  /** Null if the server rejected the file, and for a limit. */
  readonly version: number | null;
  readonly problems: readonly Problem[];
}

export interface ServerCalls {
  readonly url: string;
  readonly token: string | null;
}

/** Finds the problems of a definition without storing it. @throws Error if the server doesn't respond */
export async function checkDefinition(
  server: ServerCalls,
  file: WorkflowFile,
): Promise<readonly Problem[]> {
  if (file.unreadable !== null) return [unreadableProblem(file.unreadable)];
  return problemsOf(await post(server, '/api/definition/validate', file));
}

/**
 * Stores a definition or script, unless the server's latest version has exactly this text; or sets up a limit.
 * @param origin where a definition comes from
 * @returns null if nothing has changed
 * @throws Error if the server doesn't respond
 */
export async function storeFile(
  server: ServerCalls,
  file: WorkflowFile,
  origin: string | null = null,
): Promise<Stored | null> {
  if (file.unreadable !== null) {
    return rejected([unreadableProblem(file.unreadable)]);
  }
  if (isSameText(await storedText(server, file), comparedText(file))) return null;
  if (file.kind === 'limit') return storeLimit(server, file);
  const place =
    file.kind === 'script'
      ? `/api/step/${encodeURIComponent(stepNameOf(file.path))}`
      : '/api/definition';
  const isKept = file.kind === 'definition' && origin !== null;
  const query = isKept ? `?origin=${encodeURIComponent(origin)}` : '';
  const answer = await post(server, place + query, file);
  const { version = null } = answer;
  return { accepted: version !== null, version, problems: problemsOf(answer) };
}

async function storeLimit(server: ServerCalls, { text }: WorkflowFile): Promise<Stored> {
  const { limit, name, problems } = readLimitFile(text);
  if (limit === null || name === null) {
    return rejected(problems.map((problem) => toProblem('error', problem)));
  }
  const answer = await send(server, `/api/limit/${encodeURIComponent(name)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(limitDocument(limit)),
  });
  const found = problemsOf(answer);
  return found.length > 0 ? rejected(found) : { accepted: true, version: null, problems: [] };
}

function rejected(problems: readonly Problem[]): Stored {
  return { accepted: false, version: null, problems };
}

/** Whether a file matches the server's version, ignoring the line endings of a Windows checkout. */
export function isSameText(stored: string | null, text: string): boolean {
  return stored?.replaceAll('\r\n', '\n') === text.replaceAll('\r\n', '\n');
}

/** The text of a file to compare with the server's: a limit has one form for all ways to write it. */
export function comparedText({ kind, text }: WorkflowFile): string {
  return kind === 'limit' ? limitFileText(text) : text;
}

/** In the form of `comparedText`; null if the server has none. */
export async function storedText(server: ServerCalls, file: WorkflowFile): Promise<string | null> {
  const id = nameIn(file);
  if (id === null || id === '') return null;
  const name = encodeURIComponent(id);
  const response = await call(server, PLACES[file.kind](name));
  const answer = await response.text();
  if (response.ok) {
    // The API returns limits as JSON.
    return file.kind === 'limit' ? limitText(id, JSON.parse(answer) as Limit) : answer;
  }
  if (response.status === 404) return null;
  throw refusal(server.url, response.status, answer);
}

/** Where a server shows them. */
const PLACES: Readonly<Record<WorkflowFile['kind'], (name: string) => string>> = {
  script: (name) => `/api/step/${name}`,
  limit: (name) => `/api/limit/${name}`,
  definition: (name) => `/api/definition/${name}?source=true`,
};

/** The name of a file on a server. Null if it can't be determined; the server then reports the problem. */
export function nameIn(file: WorkflowFile): string | null {
  if (file.kind === 'limit') return readLimitFile(file.text).name;
  return file.kind === 'script' ? stepNameOf(file.path) : idIn(file.text);
}

function idIn(text: string): string | null {
  try {
    const { contents } = parseDocument(text, { logLevel: 'silent', merge: true });
    if (!isMap(contents)) return null;
    const isId = (key: unknown): boolean =>
      isScalar(key) && String(key.value).toLowerCase() === 'id';
    const id = contents.items.find(({ key }) => isId(key))?.value;
    if (!isScalar(id)) return null;
    // The server accepts a number as a name, exactly as written.
    if (typeof id.value === 'number') return id.source;
    return typeof id.value === 'string' ? id.value : null;
  } catch {
    return null;
  }
}

function post(server: ServerCalls, place: string, file: WorkflowFile): Promise<Answer> {
  return send(server, place, {
    method: 'POST',
    headers: { 'content-type': mediaTypeOf(file) },
    body: file.text,
  });
}

async function send(
  server: ServerCalls,
  place: string,
  request: Parameters<typeof call>[2],
): Promise<Answer> {
  const response = await call(server, place, request);
  const text = await response.text();
  if (!response.ok && !ABOUT_FILE.has(response.status)) {
    throw refusal(server.url, response.status, text);
  }
  return JSON.parse(text) as Answer; // All of these API responses are JSON.
}

async function call(
  { token, url }: ServerCalls,
  place: string,
  {
    headers = {},
    ...request
  }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return fetch(url + place, {
    ...request,
    signal,
    headers: { ...headers, ...authorization },
  }).catch((error: unknown) => {
    throw unreachable(url, error);
  });
}

function mediaTypeOf({ kind, path }: WorkflowFile): string {
  if (kind === 'script') return 'text/x-python';
  return /\.json$/i.test(path) ? 'application/json' : 'application/yaml';
}

function unreadableProblem(reason: string): Problem {
  return toProblem('error', {
    code: 'unreadable_file',
    message: `The file cannot be read: ${reason}`,
  });
}

function problemsOf(answer: Answer): Problem[] {
  const { code, column, detail, errors = [], line, title = '', warnings = [] } = answer;
  const problems: Problem[] = [
    ...errors.map((item) => toProblem('error', item)),
    ...warnings.map((item) => toProblem('warning', item)),
  ];
  // From top to bottom of the file.
  problems.sort(
    (one, other) =>
      (one.line ?? Infinity) - (other.line ?? Infinity) || (one.column ?? 0) - (other.column ?? 0),
  );
  if (code === undefined || problems.length > 0) return problems;
  const place = line === undefined || column === undefined ? {} : { line, column };
  return [toProblem('error', { code, message: detail ?? title, ...place })];
}

function toProblem(severity: Problem['severity'], { code, column, line, message }: Item): Problem {
  const place = line === undefined || column === undefined ? {} : { line, column };
  return { severity, code, message, ...place };
}
