/**
 * Makes one call of the API: URL, token, attempts, answer.
 *
 * Owns: `ky`, and the way from a failure to one of our errors. Must not know: what a call means; the resources do.
 *
 * Invariants:
 *  T1 Path, query, body and answer of a call have the types of the generated schema.
 *  T2 A call ends within its time: with an answer, one of our errors, or the reason of the caller's signal.
 *  T3 Neither the token of the client nor that of a work item shows in an error.
 *  T4 An answer counts when its whole body is there: one that breaks off is a failed attempt like any other.
 */
import ky, { isHTTPError, isTimeoutError, type Options } from 'ky';
import type { Problem } from './api-types.js';
import {
  ApiError,
  InvalidAnswerError,
  NetworkError,
  TimeoutError,
  type CallSubject,
  type FailedCall,
} from './errors.js';
import type { CallOptions, ClientOptions, TokenSource } from './options.js';
import {
  DEFAULT_RETRY,
  FetchFailure,
  kyRetry,
  mergeRetry,
  retryAfterMs,
  type Repeatable,
  type RetrySettings,
} from './retry-policy.js';
import type { ApiMethod, ApiPath, CallAnswer, CallParts, MethodOf } from './schema-calls.js';

const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest time that timers can measure. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** What a resource says about a call beside what the schema asks for. */
interface CallNature {
  readonly repeatable: Repeatable;
  readonly subject: CallSubject;
  readonly idempotencyKey?: string;
  /** The server may take so long on purpose. */
  readonly longPollMs?: number;
}

export type Call<P extends ApiPath, M extends ApiMethod> = CallParts<P, M> & CallNature;

/** A call in hand. */
interface Progress extends Omit<FailedCall, 'attempts'> {
  readonly began: number;
  attempts: number;
  lastFailure: unknown;
}

export class Transport {
  readonly #baseUrl: string;
  readonly #token: TokenSource | undefined;
  readonly #timeoutMs: number;
  readonly #retry: RetrySettings;
  readonly #fetch: NonNullable<ClientOptions['fetch']>;

  constructor(options: ClientOptions) {
    this.#baseUrl = readBaseUrl(options.baseUrl);
    this.#token = options.token;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#retry = mergeRetry(DEFAULT_RETRY, options.retry);
    // Looked up at each call, so that a global `fetch` that is replaced later (by a tracer, by a test) is used.
    this.#fetch = options.fetch ?? ((request, init) => globalThis.fetch(request, init));
  }

  async call<P extends ApiPath, M extends MethodOf<P>>(
    method: M,
    path: P,
    call: Call<P, M>,
    options: CallOptions = {},
  ): Promise<CallAnswer<P, M>> {
    const progress: Progress = {
      call: `${method.toUpperCase()} ${path}`,
      subject: call.subject,
      began: performance.now(),
      attempts: 0,
      lastFailure: undefined,
    };
    const url = `${this.#baseUrl}${fillPath(path, call.path)}${queryText(call.query)}`;
    try {
      const response = await ky(url, this.#kyOptions(method, call, options, progress));
      // The schema says so, and the server's own tests hold it to the schema.
      return (await readAnswer(response, progress)) as CallAnswer<P, M>;
    } catch (error) {
      throw translateFailure(error, progress, options.signal);
    }
  }

  /** One attempt of a call whose answer goes on for as long as the signal lets it. */
  async open(
    path: ApiPath,
    query: object,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const failed = { call: `GET ${path}`, subject: {}, attempts: 1 };
    const url = `${this.#baseUrl}${path}${queryText(query)}`;
    const request = new Request(url, { headers: { accept: 'text/event-stream' }, signal });
    await this.#authorize(request);
    let response: Response;
    try {
      response = await this.#fetch(request);
    } catch (cause) {
      throw new NetworkError({ ...failed, cause });
    }
    if (response.ok && response.body !== null) return response.body;
    const text = await response.text();
    const problem = problemOf(response, jsonOf(text));
    throw new ApiError({ ...failed, problem, retryAfterMs: retryAfterMs(response) });
  }

  async #authorize(request: Request): Promise<void> {
    if (this.#token === undefined) return;
    const token = typeof this.#token === 'string' ? this.#token : await this.#token();
    request.headers.set('authorization', `Bearer ${token}`);
  }

  #kyOptions(
    method: string,
    call: CallNature & { readonly body?: unknown },
    options: CallOptions,
    progress: Progress,
  ): Options {
    const { longPollMs = 0 } = call;
    const retry = mergeRetry(this.#retry, options.retry);
    const timeoutMs = Math.min(options.timeoutMs ?? this.#timeoutMs + longPollMs, TIMEOUT_MS_MAX);
    const remainingMs = (): number => timeoutMs - (performance.now() - progress.began);
    const content = contentOf(call.body);
    return {
      method,
      headers: {
        accept: 'application/json, text/x-python;q=0.9',
        ...(content !== null && { 'content-type': content.mediaType }),
        ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
      },
      ...(content !== null && { body: content.text }),
      ...(options.signal !== undefined && { signal: options.signal }),
      timeout: Math.min(retry.attemptTimeoutMs + longPollMs, timeoutMs),
      totalTimeout: timeoutMs,
      retry: kyRetry(retry, call.repeatable, remainingMs),
      fetch: (request, init) => this.#attempt(request as Request, init, progress), // ky always gives a Request.
    };
  }

  /** One attempt, up to the end of the answer's body (T4). */
  async #attempt(
    request: Request,
    init: RequestInit | undefined,
    progress: Progress,
  ): Promise<Response> {
    progress.attempts += 1;
    await this.#authorize(request);
    try {
      const { status, statusText, headers, body } = await wholeAnswer(this.#fetch(request, init));
      const response = new Response(body, { status, statusText, headers });
      if (!response.ok) progress.lastFailure = `${status} ${statusText}`.trim();
      return response;
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      progress.lastFailure = cause;
      throw new FetchFailure('fetch failed', { cause });
    }
  }
}

async function wholeAnswer(
  answer: Promise<Response>,
): Promise<Pick<Response, 'status' | 'statusText' | 'headers'> & { body: ArrayBuffer | null }> {
  const response = await answer;
  const bytes = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return { status, statusText, headers, body: bytes.byteLength === 0 ? null : bytes };
}

function readBaseUrl(baseUrl: string | URL): string {
  if (!URL.canParse(String(baseUrl))) {
    throw new TypeError(
      `baseUrl must be an address such as http://host:5001, not '${String(baseUrl)}'`,
    );
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`baseUrl must begin with http:// or https://, not '${url.protocol}'`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Puts the parameters into the path. A dot segment would name another path, however it is encoded. */
function fillPath(path: string, parameters: object | undefined): string {
  const values = new Map(Object.entries(parameters ?? {}));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name));
    if (value === '' || value === '.' || value === '..') {
      throw new TypeError(`'${value}' cannot be part of a path: ${path}`);
    }
    return encodeURIComponent(value);
  });
}

function queryText(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function contentOf(body: unknown): { readonly text: string; readonly mediaType: string } | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('json' in body) return { text: jsonText(body.json), mediaType: 'application/json' };
  // The other form that CallBody has.
  return body as { readonly text: string; readonly mediaType: string };
}

/** In a list, what JSON does not know (undefined, a function) becomes null rather than nothing. */
function jsonText(value: unknown): string {
  return JSON.stringify([value]).slice(1, -1);
}

/** What is no JSON stays a text. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function readAnswer(response: Response, progress: Progress): Promise<unknown> {
  const text = await response.text();
  const mediaType = response.headers.get('content-type') ?? '';
  if (text === '') return undefined;
  if (mediaType.startsWith('text/x-python')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidAnswerError(
      `expected JSON, and got ${mediaType === '' ? 'something else' : mediaType} with status ${response.status}`,
      { ...progress, cause },
    );
  }
}

function translateFailure(
  error: unknown,
  progress: Progress,
  signal: AbortSignal | undefined,
): unknown {
  // First: the reason of AbortSignal.timeout() looks like a time-out of ky.
  if (signal?.aborted === true) return signal.reason;
  if (isHTTPError(error)) {
    const { response, data } = error;
    return new ApiError({
      ...progress,
      problem: problemOf(response, data),
      retryAfterMs: retryAfterMs(response),
    });
  }
  if (isTimeoutError(error)) {
    const elapsedMs = Math.round(performance.now() - progress.began);
    return new TimeoutError({ ...progress, elapsedMs, cause: progress.lastFailure });
  }
  if (error instanceof FetchFailure) {
    return new NetworkError({ ...progress, cause: error.cause });
  }
  return error;
}

/** The server's own description, or what can be said about an answer of something in between. */
function problemOf({ status, statusText }: Response, data: unknown): Problem {
  if (typeof data === 'object' && data !== null && 'code' in data && 'detail' in data) {
    return { ...(data as Problem), status }; // It has the marks of a problem document.
  }
  const title = statusText === '' ? `HTTP ${status}` : statusText;
  return {
    type: 'about:blank',
    title,
    status,
    code: `http_${status}`,
    detail: typeof data === 'string' && data.length <= 200 ? data : title,
  };
}
