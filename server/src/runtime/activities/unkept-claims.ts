/**
 * Claims without a lease that have just been delivered. Each is stored with a short lease, because its worker may not have got
 * it. Those whose work isn't done soon are made permanent, many with one statement.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { HeldClaim } from '../../store/records/activities.js';
import { StoreUnavailableError, type Store } from '../../store/store.js';

/** Lease until the claim is made permanent. Longer than any response time of a store. */
export const UNKEPT_LEASE_MS = 30_000;
/** By then, most work is done, and its claim needn't be made permanent. */
const KEEP_AFTER_MS = 1000;
/** Claims that are at least this old are made permanent together with older ones. */
const KEPT_TOGETHER_MS = 500;
const CLAIMS_PER_STATEMENT = 500;

export interface UnkeptClaimsOptions {
  readonly store: Pick<Store, 'keepClaims'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class UnkeptClaims {
  readonly #options: UnkeptClaimsOptions;
  /** By token hash, the oldest first. */
  readonly #claims = new Map<string, { readonly claim: HeldClaim; readonly since: number }>();
  #cancelTimer: (() => void) | null = null;
  #keeping: Promise<void> | null = null;
  #stopping = false;

  constructor(options: UnkeptClaimsOptions) {
    this.#options = options;
  }

  add({ activityId, tokenHash }: HeldClaim): void {
    if (this.#stopping) return;
    const since = this.#options.clock.now();
    this.#claims.set(tokenHash, { claim: { activityId, tokenHash }, since });
    this.#setTimer();
  }

  /** Returns whether the claim was still to be made permanent. */
  remove(tokenHash: string): boolean {
    const wasUnkept = this.#claims.delete(tokenHash);
    if (this.#claims.size === 0) this.#clearTimer();
    return wasUnkept;
  }

  /** Makes all claims permanent, so that workers keep their items after this node is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#clearTimer();
    await this.#keeping;
    await this.#keep(Number.MAX_SAFE_INTEGER);
  }

  #setTimer(): void {
    const [oldest] = this.#claims.values();
    if (oldest === undefined || this.#cancelTimer !== null || this.#keeping !== null) return;
    if (this.#stopping) return;
    const { clock } = this.#options;
    const dueAt = Math.max(oldest.since + KEEP_AFTER_MS, clock.now());
    this.#cancelTimer = clock.at(dueAt, () => {
      this.#cancelTimer = null;
      this.#keeping = this.#keep(clock.now() - KEPT_TOGETHER_MS).finally(() => {
        this.#keeping = null;
        this.#setTimer();
      });
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  async #keep(deliveredBefore: number): Promise<void> {
    const { clock, logger, store } = this.#options;
    const due = [...this.#claims.values()]
      .filter(({ since }) => since <= deliveredBefore)
      .map(({ claim }) => claim);
    for (const { tokenHash } of due) this.#claims.delete(tokenHash);
    for (let from = 0; from < due.length; from += CLAIMS_PER_STATEMENT) {
      const claims = due.slice(from, from + CLAIMS_PER_STATEMENT);
      await store.keepClaims(claims, clock.now()).catch((error: unknown) => {
        // While the store is unavailable, no other worker can get the items either.
        if (error instanceof StoreUnavailableError) claims.forEach((claim) => this.add(claim));
        else logger.warn({ err: error, claims: claims.length }, 'could not keep claims');
      });
    }
  }
}
