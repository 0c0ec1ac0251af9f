/**
 * Claims of activities whose response was lost. Their callers were told that the database doesn't respond, so no
 * worker would work on the items before their leases end. This releases them.
 *
 * The server may execute a claim after its connection was given up. So the claims are released repeatedly, until the
 * server would have ended the statement. Nobody else ever has the token of a lost claim.
 */
import { backOffMs } from '../../base/back-off.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import type { ActivityClaimRequest } from './postgres-context.js';

interface LostClaim {
  readonly request: ActivityClaimRequest;
  /** In the time of `performance.now()`. */
  readonly lostAt: number;
}

/** The maximum duration of a statement. */
const REMEMBERED_MS = 35_000;
const PAUSES = { firstMs: 200, lastMs: 8000 };
/** Beyond this number, the oldest claims are left until their leases end. */
const LOST_MAX = 10_000;

/** The lease of the claim locates the item in the index of the queue. */
const GIVE_BACK = `
UPDATE @activities AS item SET available_at = item.created_at, deferred = false, token_hash = NULL, worker_id = NULL
  FROM unnest($1::text[], $2::bigint[], $3::text[]) AS lost (name, lease_expires_at, token_hash)
 WHERE item.name = lost.name AND NOT item.done AND item.available_at = lost.lease_expires_at
   AND item.token_hash = lost.token_hash`;

export class LostClaims {
  readonly #database: Database;
  #lost: readonly LostClaim[] = [];
  /** Pauses since the last claim was lost. */
  #pauses = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  add(requests: readonly ActivityClaimRequest[]): void {
    const lostAt = performance.now();
    const added = requests.map((request) => ({ request, lostAt }));
    this.#lost = [...this.#lost, ...added].slice(-LOST_MAX);
    this.#pauses = 0;
    this.#giveBackLater();
  }

  #giveBackLater(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#pauses += 1;
    this.#timer = setTimeout(() => void this.#giveBack(), backOffMs(this.#pauses, PAUSES));
    this.#timer.unref();
  }

  /** Never rejects. A database that doesn't respond can't execute new claims either; the last attempt may fail. */
  async #giveBack(): Promise<void> {
    const claims = this.#lost.map(({ request }) => request);
    await this.#database
      .execute(GIVE_BACK, [
        claims.map(({ name }) => encodeTextWithoutNul(name)),
        claims.map(({ claim }) => claim.leaseExpiresAt),
        claims.map(({ claim }) => encodeTextWithoutNul(claim.tokenHash)),
      ])
      .catch(() => undefined);
    const now = performance.now();
    this.#lost = this.#lost.filter(({ lostAt }) => now - lostAt < REMEMBERED_MS);
    if (this.#lost.length > 0) this.#giveBackLater();
    else this.#timer = null;
  }
}
