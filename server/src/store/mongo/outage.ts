/**
 * Keeps callers away from a database that cannot be reached.
 *
 * At first (during an election, or after a broken connection), every operation waits for a server, and succeeds once
 * there is one. After that, one operation at a time keeps trying, and the others fail immediately: the cost of the
 * driver's own queue grows with the square of its length, and in a long outage thousands of instances retry repeatedly.
 */
import type { MongoClient } from 'mongodb';
import { StoreUnavailableError } from '../store.js';

export class Outage {
  readonly #patienceMs: number;
  /** In the time of `performance.now()`; null while a server is known. */
  #unreachableSince: number | null = null;
  #isLooking = false;

  /** @param patienceMs how long every operation may wait for a server */
  constructor(client: MongoClient, patienceMs: number) {
    this.#patienceMs = patienceMs;
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      if (newDescription.hasKnownServers) this.#unreachableSince = null;
      else this.#unreachableSince ??= performance.now();
    });
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
