/** The workers of the server. */
import type { WorkerList } from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';

/** The options of `list`. */
export interface WorkerListOptions extends CallOptions {
  /** Only the worker with this id. */
  readonly workerId?: string;
  /** Only workers that poll for this activity or hold one of its items. */
  readonly activityName?: string;
  /**
   * The maximum number of workers.
   *
   * @default 100
   */
  readonly limit?: number;
}

/** Lists the workers that poll the server or hold work items: `client.workers`. */
export class WorkersResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists workers with the items they hold; workers waiting for work come first.
   *
   * @example
   * ```ts
   * const { items } = await client.workers.list({ activityName: 'charge-card' });
   * for (const { workerId, host, polling, held } of items) {
   *   console.log(workerId, host, polling > 0 ? 'waiting' : 'busy or gone', held);
   * }
   * ```
   */
  list({ workerId, activityName, limit, ...options }: WorkerListOptions = {}): Promise<WorkerList> {
    return this.#transport.call(
      'get',
      '/api/workers',
      { query: { workerId, activityName, limit }, repeatable: 'always', subject: {} },
      options,
    );
  }
}
