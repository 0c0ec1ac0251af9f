/** Checks and stores files on a server. */
import { isMap, isScalar, parseDocument } from 'yaml';
import { refusal, unreachable } from '../connection/call-failures.js';
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
  /** Null if the server rejected the file. */
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
 * Stores a definition or script, unless the server's latest version has exactly this text.
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
    return { version: null, problems: [unreadableProblem(file.unreadable)] };
  }
  if (isSameText(await storedText(server, file), file.text)) return null;
  const place =
    file.kind === 'script'
      ? `/api/step/${encodeURIComponent(stepNameOf(file.path))}`
      : '/api/definition';
  const isKept = file.kind === 'definition' && origin !== null;
  const query = isKept ? `?origin=${encodeURIComponent(origin)}` : '';
  const answer = await post(server, place + query, file);
  return { version: answer.version ?? null, problems: problemsOf(answer) };
}

/** Whether a file matches the server's version, ignoring the line endings of a Windows checkout. */
export function isSameText(stored: string | null, text: string): boolean {
  return stored?.replaceAll('\r\n', '\n') === text.replaceAll('\r\n', '\n');
}

export async function storedText(server: ServerCalls, file: WorkflowFile): Promise<string | null> {
  const id = nameIn(file);
  if (id === null || id === '') return null;
  const name = encodeURIComponent(id);
  const place =
    file.kind === 'script' ? `/api/step/${name}` : `/api/definition/${name}?source=true`;
  const response = await call(server, place);
  if (response.ok) return response.text();
  const answer = await response.text();
  if (response.status === 404) return null;
  throw refusal(server.url, response.status, answer);
}

/** The name of a file on a server. Null if it can't be determined; the server then reports the problem. */
export function nameIn(file: WorkflowFile): string | null {
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

async function post(server: ServerCalls, place: string, file: WorkflowFile): Promise<Answer> {
  const response = await call(server, place, {
    method: 'POST',
    headers: { 'content-type': mediaTypeOf(file) },
    body: file.text,
  });
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
