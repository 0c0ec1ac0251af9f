/** Limits, which steps of any definition share: how many work at a time, and how often they begin. */
import type { Limit, LimitRequest } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Sets up limits, and shows what steps hold of them: `client.limits`. */
export class LimitsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a limit, or replaces it as a whole. Steps name it in `limits`.
   *
   * @example
   * ```ts
   * const rate = { count: 100, per: '1m', burst: 10 };
   * const limit = await client.limits.put('pay-api', { concurrency: 5, rate });
   * console.log(limit.held, limit.waiting); // 0 0
   * await client.limits.remove('pay-api');
   * ```
   */
  put(name: string, settings: LimitRequest, options: CallOptions = {}): Promise<Limit> {
    return this.#transport.call(
      'put',
      '/api/limit/{name}',
      { ...named(name), body: { json: settings } },
      options,
    );
  }

  /** Returns a limit with its use. @throws ApiError `limit_not_found` */
  get(name: string, options: CallOptions = {}): Promise<Limit> {
    return this.#transport.call('get', '/api/limit/{name}', named(name), options);
  }

  /** Lists all limits with their use, by name. @param options `limit` is the page size */
  list({ limit, ...options }: CallOptions & { readonly limit?: number } = {}): PagedList<Limit> {
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/limit',
        { query: { limit, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /** Removes a limit that no definition names. @throws ApiError `limit_not_found`, `limit_in_use` */
  async remove(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('delete', '/api/limit/{name}', named(name), options);
  }
}

function named(name: string) {
  return { path: { name }, repeatable: 'always', subject: {} } as const;
}
