/** A client that keeps what the server answers, and knows which operations of the OpenAPI document it has called. */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { Client, type Answer, type CallOptions } from '../../behavior/support/client.js';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const OPENAPI = new URL('../../../openapi/openapi.json', import.meta.url);

/** Such as `GET /api/workflow/{id}`. */
export const OPERATIONS: readonly string[] = Object.entries(
  (JSON.parse(readFileSync(OPENAPI, 'utf8')) as OpenApi).paths,
).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

export type Values = Readonly<Record<string, string>>;

export class Recorder extends Client {
  /** Except work items: workers get the values of secrets. */
  readonly answers: string[] = [];
  readonly called = new Set<string>();

  override async call<Body = unknown>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<Body>> {
    const answer = await super.call<Body>(method, path, options);
    if (method !== 'GET' || !/^\/api\/activity\/[^/]+(\?|$)/.test(path)) {
      const headers = JSON.stringify([...answer.headers]);
      this.answers.push(`${method} ${path} ${answer.status} ${headers}\n${answer.text}`);
    }
    return answer;
  }

  /** @param values of the parameters in the path */
  async operation<Body = JsonObject>(
    name: string,
    values: Values = {},
    { body, query = '' }: { readonly body?: unknown; readonly query?: string } = {},
  ): Promise<Answer<Body>> {
    this.called.add(name);
    const [method = '', path = ''] = name.split(' ');
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      encodeURIComponent(values[key] ?? ''),
    );
    if (body === undefined) return this.call<Body>(method, filled + query);
    const sent =
      typeof body === 'string'
        ? { body, type: 'text/x-python' }
        : { body: JSON.stringify(body), type: 'application/json' };
    return this.call<Body>(method, filled + query, sent);
  }
}
