/**
 * A client that does not give up: a call without a response is repeated on another node with the same idempotency key,
 * until its deadline. Everything that it returns was acknowledged by the server, and must never be lost.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const RETRY_PAUSE_MS = 25;
/** Far longer than any responsive node takes: a repeated call may find that the first one was executed. */
const CALL_MS_MAX = 30_000;
const DEADLINE_MS = 180_000;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string;
  /** Every status except these, 429 and 503 is an error. */
  readonly expected?: readonly number[];
  readonly deadlineMs?: number;
}

export class PersistentClient {
  readonly #urls: () => readonly string[];
  #turn = 0;
  /** The number of repeated calls. */
  retries = 0;

  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  async call(method: string, pathAndQuery: string, options: CallOptions = {}): Promise<Answer> {
    const { deadlineMs = DEADLINE_MS, expected = [200, 201, 202] } = options;
    // A call without a key gets its own, because its repetition would otherwise be another start, event or definition.
    const keyed = method === 'POST' ? { ...options, key: options.key ?? randomUUID() } : options;
    let last = 'never answered';
    for (const deadline = Date.now() + deadlineMs; Date.now() < deadline;) {
      const outcome = await this.#try(method, pathAndQuery, keyed);
      if (typeof outcome === 'string') {
        last = outcome;
      } else {
        if (expected.includes(outcome.status)) return outcome;
        last = `${outcome.status} ${JSON.stringify(outcome.body)}`;
        if (outcome.status !== 503 && outcome.status !== 429) {
          throw new Error(`${method} ${pathAndQuery}: ${last}`);
        }
      }
      this.retries += 1;
      await setTimeout(RETRY_PAUSE_MS);
    }
    throw new Error(`${method} ${pathAndQuery}: ${last}`);
  }

  /** A string contains the reason why there is no response. */
  async #try(method: string, pathAndQuery: string, options: CallOptions): Promise<Answer | string> {
    const urls = this.#urls();
    this.#turn += 1;
    const url = urls[this.#turn % urls.length];
    if (url === undefined) return 'no node is running';
    try {
      const response = await fetch(`${url}${pathAndQuery}`, {
        method,
        signal: AbortSignal.timeout(CALL_MS_MAX),
        headers: {
          'content-type': 'application/json',
          ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
        },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : JSON.parse(text) };
    } catch (error) {
      // Refused, broken or too late: the call may or may not have taken effect.
      return error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error);
    }
  }
}
