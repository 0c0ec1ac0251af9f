/**
 * Calls the API for the commands.
 *
 * The SDK isn't used because the server package must be self-contained, and because `--json` prints responses unchanged, with
 * exact numbers. Response types come from `api/wire/models`.
 */
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import { misused } from '../failure.js';
import { checkedToken, type Address } from './address.js';
import { refusal, unreachable } from './call-failures.js';

type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface Content {
  readonly text: string;
  readonly mediaType: string;
}

interface Call {
  readonly query?: Query;
  readonly body?: Content;
  readonly idempotencyKey?: string | undefined;
  /** How long a call may take. */
  readonly timeoutMs?: number;
}

interface Answer<Value> {
  readonly status: number;
  readonly value: Value;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const TIMEOUT_MS = 30_000;

export class ServerClient {
  readonly url: string;
  readonly #token: string | null;

  /** @throws CommandFailure if the token cannot be sent */
  constructor({ token, url }: Address) {
    this.url = url;
    this.#token = token === null ? null : checkedToken(token);
  }

  /** @throws CommandFailure */
  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.send('GET', path, { query });
  }

  /** @throws CommandFailure */
  async send<T>(method: Method, path: string, call: Call = {}): Promise<T> {
    return (await this.sendForStatus<T>(method, path, call)).value;
  }

  /** For calls whose status carries more information than their body. @throws CommandFailure */
  async sendForStatus<T>(method: Method, path: string, call: Call = {}): Promise<Answer<T>> {
    const { status, value } = await this.#answer(method, path, call);
    // The server's tests check responses against the OpenAPI document. Only a 204 has an empty body.
    return { status, value: (value === '' ? null : readJson(value)) as T };
  }

  /** Reads a response that isn't JSON. @throws CommandFailure */
  async text(method: Method, path: string, call: Call = {}): Promise<string> {
    return (await this.#answer(method, path, call)).value;
  }

  async #answer(method: Method, path: string, call: Call): Promise<Answer<string>> {
    const signal = AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS);
    const response = await this.#fetch(method, path, call, signal);
    const text = await response.text().catch((error: unknown) => {
      throw unreachable(this.url, error);
    });
    if (!response.ok) throw refusal(this.url, response.status, text);
    return { status: response.status, value: text };
  }

  /** Opens a streaming response. @throws CommandFailure */
  async open(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#fetch('GET', path, { query }, signal);
    if (response.ok && response.body !== null) return response.body;
    throw refusal(this.url, response.status, await response.text());
  }

  async #fetch(
    method: Method,
    path: string,
    { body, idempotencyKey, query = {} }: Call,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers = {
      ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }),
      ...(body !== undefined && { 'content-type': body.mediaType }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const url = `${this.url}${path}${queryText(query)}`;
    const request = { method, headers, signal, ...(body !== undefined && { body: body.text }) };
    return fetch(url, request).catch((error: unknown) => {
      throw unreachable(this.url, error);
    });
  }
}

export function jsonContent(value: object | Json): Content {
  return { text: writeJson(value), mediaType: 'application/json' };
}

/** A path with its parameters: pathTo`/api/workflow/${id}`. */
export function pathTo(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map(asSegment));
}

/** Dot segments would change the path, even when they are encoded. */
function asSegment(value: string): string {
  if (!/^\.{0,2}$/.test(value)) return encodeURIComponent(value);
  throw misused(`'${value}' is not a valid name or id`);
}

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === 'object' ? value : [value];
    for (const each of values) if (each !== undefined) search.append(name, String(each));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
