/**
 * Keeps callers away from a database that cannot be reached.
 *
 * At first (an election, a broken connection), every operation waits for a server, and succeeds when there is one. After
 * that, one operation at a time keeps trying, and the others fail immediately: the cost of a driver's queue grows with its
 * length, and in a long outage thousands of instances retry repeatedly.
 */
import { StoreUnavailableError } from './store.js';

export class Outage {
  readonly #patienceMs: number;
  /** In the time of `performance.now()`; null while a server is known. */
  #unreachableSince: number | null = null;
  #isLooking = false;

  /** @param patienceMs how long every operation may wait for a server */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** There is a server. */
  end(): void {
    this.#unreachableSince = null;
  }

  /** No server can be reached. */
  begin(): void {
    this.#unreachableSince ??= performance.now();
  }

  /** Runs an operation, unless it would wait in vain. @throws StoreUnavailableError */
  async guard<Result>(operate: () => Promise<Result>): Promise<Result> {
    if (!this.#isLong()) return operate();
    if (this.#isLooking) throw new StoreUnavailableError('The database is unreachable');
    this.#isLooking = true;
    try {
      return await operate();
    } finally {
      this.#isLooking = false;
    }
  }

  #isLong(): boolean {
    return (
      this.#unreachableSince !== null &&
      performance.now() - this.#unreachableSince > this.#patienceMs
    );
  }
}
