/**
 * Renews the token before it expires. All tabs share one renewer, because an issuer treats a reused refresh token as stolen.
 */
import type { Credentials } from './credentials.js';

/** A token is renewed after this fraction of its lifetime. */
const PART_OF_LIFE = 0.75;
/** The delay after a failure, for example if the issuer can't be reached. */
const PAUSE_MS = 15_000;

export class Renewer {
  readonly #announce: (credentials: Credentials) => void;
  #current: Credentials | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param announce called with the renewed credentials */
  constructor(announce: (credentials: Credentials) => void) {
    this.#announce = announce;
  }

  use(credentials: Credentials | null): void {
    clearTimeout(this.#timer);
    this.#current = credentials;
    const expiresAt = credentials?.renewal?.expiresAt ?? null;
    if (credentials?.renewal?.refreshToken == null || expiresAt === null) return;
    this.#schedule((expiresAt - Date.now()) * PART_OF_LIFE);
  }

  #schedule(pauseMs: number): void {
    this.#timer = setTimeout(() => void this.#renew(), Math.max(0, pauseMs));
  }

  async #renew(): Promise<void> {
    const before = this.#current;
    const renewal = before?.renewal ?? null;
    if (renewal === null || renewal.refreshToken === null) return;
    try {
      // Loaded only if users sign in with an issuer.
      const { renew } = await import('./issuer.js');
      const next = await renew({ ...renewal, refreshToken: renewal.refreshToken });
      // The user may have signed out or switched accounts in the meantime.
      if (this.#current !== before) return;
      this.use(next);
      this.#announce(next);
    } catch {
      // Once the token has expired, the server rejects it, and the page asks the user to sign in.
      const isOver = renewal.expiresAt === null || renewal.expiresAt < Date.now();
      if (this.#current === before && !isOver) this.#schedule(PAUSE_MS);
    }
  }
}
