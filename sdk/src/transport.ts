/**
 * Makes one call of the API: URL, token, attempts, response.
 *
 * Owns: the request and the options of a call. Must not know: how attempts are made (`attempts.ts`), nor the meaning of a call
 * (the resources).
 *
 * Invariants:
 *  TR1 The path, query, body and response of a call have the types of the generated schema.
 *  TR2 A call ends within its timeout: with a response, an error of the SDK, or the reason of the caller's signal.
 *  TR3 No error contains the token of the client or of a work item.
 *  TR4 A response counts only when its whole body has arrived. A truncated response is a failed attempt.
 */
import { Attempts, refusal, valueOf, type PreparedCall } from './attempts.js';
import { NetworkError, type CallSubject, type FailedCall } from './errors.js';
import { writeJson, type LargeIntegers } from './exact-json.js';
import type { CallOptions, ClientOptions, HeaderSource, TokenSource } from './options.js';
import { DEFAULT_RETRY, mergeRetry, type Repeatable, type RetrySettings } from './retry-policy.js';
import type { ApiMethod, ApiPath, CallAnswer, CallParts, MethodOf } from './schema-calls.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** Properties of a call that aren't in the schema. */
interface CallNature {
  readonly repeatable: Repeatable;
  readonly subject: CallSubject;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** How long the server may hold the request before it responds. */
  readonly longPollMs?: number;
}

export type Call<P extends ApiPath, M extends ApiMethod> = CallParts<P, M> & CallNature;

export class Transport {
  readonly #baseUrl: string;
  readonly #token: TokenSource | undefined;
  readonly #headers: HeaderSource | undefined;
  readonly #timeoutMs: number;
  readonly #retry: RetrySettings;
  readonly #fetch: NonNullable<ClientOptions['fetch']>;
  readonly #integers: LargeIntegers;

  constructor(options: ClientOptions) {
    this.#baseUrl = readBaseUrl(options.baseUrl);
    this.#token = options.token;
    this.#headers = options.headers;
    this.#timeoutMs = readTimeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.#retry = mergeRetry(DEFAULT_RETRY, options.retry);
    this.#integers = readIntegers(options.integers);
    // Looked up in each call, because a tracer or a test may replace the global `fetch` later.
    this.#fetch = options.fetch ?? ((request) => globalThis.fetch(request));
  }

  async call<P extends ApiPath, M extends MethodOf<P>>(
    method: M,
    path: P,
    call: Call<P, M>,
    options: CallOptions = {},
  ): Promise<CallAnswer<P, M>> {
    return (await this.callWithStatus(method, path, call, options)).value;
  }

  /** For calls whose status carries more information than their body. */
  async callWithStatus<P extends ApiPath, M extends MethodOf<P>>(
    method: M,
    path: P,
    call: Call<P, M>,
    options: CallOptions = {},
  ): Promise<{ readonly status: number; readonly value: CallAnswer<P, M> }> {
    const url = `${this.#baseUrl}${fillPath(path, call.path)}`;
    const prepared = prepare(method, url, { ...call, integers: this.#integers });
    const failed = { call: `${method.toUpperCase()} ${path}`, subject: call.subject };
    // The schema defines this type, and the server's tests check its responses against the schema.
    const { status, value } = await this.#attempts(prepared, failed, call, options);
    return { status, value: value as CallAnswer<P, M> };
  }

  async #attempts(
    prepared: PreparedCall,
    about: Omit<FailedCall, 'attempts'>,
    { longPollMs = 0, repeatable }: CallNature,
    { signal, ...options }: CallOptions,
  ): Promise<{ readonly status: number; readonly value: unknown }> {
    const timeoutMs = readTimeout(options.timeoutMs ?? this.#timeoutMs + longPollMs);
    const retry = mergeRetry(this.#retry, options.retry);
    const attempts = new Attempts({
      prepared,
      authorize: (request) => this.#authorize(request),
      fetch: this.#fetch,
      repeatable,
      retry: { ...retry, attemptTimeoutMs: retry.attemptTimeoutMs + longPollMs },
      timeoutMs,
      signal,
      about,
    });
    const answer = await attempts.run();
    return { status: answer.status, value: valueOf(answer, attempts.failed, this.#integers) };
  }

  /** Opens a response that is streamed until the signal is aborted. Makes one attempt. */
  async open(
    path: ApiPath,
    query: object,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const failed = { call: `GET ${path}`, subject: {}, attempts: 1 };
    const url = `${this.#baseUrl}${path}${queryText(query)}`;
    const headers = { accept: 'text/event-stream' };
    const request = new Request(url, { headers, signal });
    await this.#authorize(request);
    let response: Response;
    try {
      response = await this.#fetch(request);
    } catch (cause) {
      throw new NetworkError({ ...failed, cause });
    }
    if (response.ok && response.body !== null) return response.body;
    const { status } = response;
    throw refusal({ status, headers: response.headers, text: await response.text() }, failed);
  }

  async #authorize(request: Request): Promise<void> {
    const added = typeof this.#headers === 'function' ? await this.#headers() : this.#headers;
    for (const [name, value] of Object.entries(added ?? {})) request.headers.set(name, value);
    if (this.#token === undefined) return;
    const token = typeof this.#token === 'string' ? this.#token : await this.#token();
    request.headers.set('authorization', `Bearer ${token}`);
  }
}

function prepare(
  method: ApiMethod,
  url: string,
  call: CallNature & {
    readonly query?: object;
    readonly body?: unknown;
    readonly integers: LargeIntegers;
  },
): PreparedCall {
  const content = contentOf(call.body, call.integers);
  return {
    url: `${url}${queryText(call.query)}`,
    // `fetch` converts other methods to upper case, but not PATCH.
    method: method.toUpperCase(),
    headers: {
      accept: 'application/json, text/x-python;q=0.9',
      ...(content !== null && { 'content-type': content.mediaType }),
      ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
      ...headersOf(call.headers),
    },
    body: content?.text ?? null,
  };
}

/** Headers with information for operators. `fetch` would reject other characters, and servers longer values. */
function headersOf(headers: CallNature['headers'] = {}): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value.replaceAll(/[^ -~]/g, '?').slice(0, 200)]],
  );
  return Object.fromEntries(given);
}

/** @throws RangeError */
function readIntegers(integers: LargeIntegers = 'number'): LargeIntegers {
  if (['number', 'bigint'].includes(integers)) return integers;
  throw new RangeError(`integers must be 'number' or 'bigint', not '${integers}'`);
}

/** @throws RangeError */
function readTimeout(timeoutMs: number): number {
  if (timeoutMs >= 0) return timeoutMs;
  throw new RangeError(
    `timeoutMs must be 0 or a positive number of milliseconds, not ${timeoutMs}`,
  );
}

function readBaseUrl(baseUrl: string | URL): string {
  if (!URL.canParse(String(baseUrl))) {
    throw new TypeError(`baseUrl must be a URL such as http://host:5001, not '${String(baseUrl)}'`);
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`baseUrl must begin with http:// or https://, not '${url.protocol}'`);
  }
  return `${url.origin}${withoutTrailingSlashes(url.pathname)}`;
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Inserts the parameters into the path. Rejects dot segments: even when encoded, they would change the path. */
function fillPath(path: string, parameters: object | undefined): string {
  const values = new Map(Object.entries(parameters ?? {}));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name));
    if (value === '' || value === '.' || value === '..') {
      throw new TypeError(`${name} must not be '${value}': it is part of the path ${path}`);
    }
    return encodeURIComponent(value);
  });
}

/** The parameter values that resources accept; lists become repeated parameters. */
type QueryValue = string | number | boolean | undefined;

function queryText(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    const values = (Array.isArray(value) ? value : [value]) as readonly QueryValue[];
    for (const each of values) if (each !== undefined) search.append(name, String(each));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function contentOf(
  body: unknown,
  integers: LargeIntegers,
): { readonly text: string; readonly mediaType: string } | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('json' in body) {
    return { text: writeJson(body.json, integers), mediaType: 'application/json' };
  }
  // The other variant of CallBody.
  return body as { readonly text: string; readonly mediaType: string };
}
