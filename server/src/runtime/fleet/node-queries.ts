/** Reads the nodes that share the store. */
import type { Store } from '../../store/store.js';
import type { NodeRegistry } from './node-registry.js';
import type { NodeView } from './node-types.js';
import { viewNode } from './node-views.js';

export class NodeQueries {
  readonly #store: Store;
  readonly #nodes: NodeRegistry;

  constructor(store: Store, nodes: NodeRegistry) {
    this.#store = store;
    this.#nodes = nodes;
  }

  /** Every node that shares the store, ordered by id; dead nodes are kept for a while. */
  async list(): Promise<readonly NodeView[]> {
    const records = await this.#store.listNodes();
    return records.map((record) => viewNode(record, this.#nodes, this.#store.kind));
  }
}
