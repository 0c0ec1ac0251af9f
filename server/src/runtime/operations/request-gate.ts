/**
 * The gate that every client call passes. It is closed unless the node is running, and rejects calls while the store doesn't
 * respond.
 */
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';

type Call = (...args: never[]) => Promise<unknown>;

/** Names of the methods that a client can call: those that return a promise. */
type CallName<Area> = {
  [Name in keyof Area]: Area[Name] extends Call ? Name : never;
}[keyof Area];

export class RequestGate {
  #state: 'starting' | 'open' | 'stopping' = 'starting';

  get state(): 'starting' | 'open' | 'stopping' {
    return this.#state;
  }

  open(): void {
    this.#state = 'open';
  }

  /** Closes the gate permanently. */
  close(): void {
    this.#state = 'stopping';
  }

  /** @throws AppError `stopping`, `store_unavailable` */
  async pass<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#state !== 'open') {
      throw new AppError('stopping', `The server is ${this.#state}`, { retryAfterSeconds: 1 });
    }
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      throw new AppError('store_unavailable', 'The store is not responding', {
        cause: error,
        retryAfterSeconds: 2,
      });
    }
  }

  /** The named methods of `area`; each call passes the gate. */
  before<Area extends object, Name extends CallName<Area>>(
    area: Area,
    ...names: readonly Name[]
  ): Pick<Area, Name> {
    const calls = names.map((name) => {
      const method = area[name] as (...args: unknown[]) => Promise<unknown>;
      return [name, (...args: unknown[]) => this.pass(() => method.apply(area, args))];
    });
    // TypeScript cannot infer that each name has the method of that name.
    return Object.fromEntries(calls) as Pick<Area, Name>;
  }
}
