/** The nodes of the server. */
import type { ServerNode } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Lists the nodes that share the store: `client.nodes`. */
export class NodesResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the nodes, each with its load at its last heartbeat.
   *
   * @example
   * ```ts
   * for await (const { nodeId, alive, load } of client.nodes.list()) {
   *   console.log(nodeId, alive, load?.memoryBytes);
   * }
   * ```
   */
  list(options: CallOptions = {}): PagedList<ServerNode> {
    return new PagedList(() =>
      this.#transport.call('get', '/api/node', { repeatable: 'always', subject: {} }, options),
    );
  }
}
