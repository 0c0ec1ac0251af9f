/** Counts the operations that reach a store, and about how many bytes they take to the database and back. */
import {
  storeMethods,
  type CallOperation,
  type OperationResult,
  type StoreOperation,
} from '../../../src/store/store-operations.js';
import type { Store } from '../../../src/store/store.js';

export interface StoreCounts {
  readonly calls: Readonly<Record<string, number>>;
  /** On PostgreSQL, if no operation shared its statement with another. */
  readonly statements: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Operations that take more than one statement on PostgreSQL; with each heartbeat, the node reads the server's time. */
const STATEMENTS: Readonly<Partial<Record<StoreOperation, number>>> = {
  putNode: 2,
  purge: 4,
  statistics: 3,
};

export class CountedStore {
  readonly store: Store;
  readonly #calls: Record<string, number> = {};
  #statements = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(store: Store) {
    const call: CallOperation = async (name, args) => {
      this.#calls[name] = (this.#calls[name] ?? 0) + 1;
      this.#statements += STATEMENTS[name] ?? 1;
      this.#bytesIn += sizeOf(args);
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== 'function') throw new TypeError(`The store has no ${name}`);
      // The method of this name returns the result of the operation.
      const result = (await Reflect.apply(method, store, args)) as OperationResult<typeof name>;
      this.#bytesOut += sizeOf(result);
      return result;
    };
    this.store = { ...store, ...storeMethods(call) };
  }

  snapshot(): StoreCounts {
    return {
      calls: { ...this.#calls },
      statements: this.#statements,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
    };
  }
}

function sizeOf(value: unknown): number {
  return value === undefined || value === null ? 0 : JSON.stringify(value).length;
}
