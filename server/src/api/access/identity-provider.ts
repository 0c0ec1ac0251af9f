/**
 * The keys of an identity provider: fetched, cached and rotated.
 *
 * - Keys are refreshed every ten minutes, and immediately for a token with an unknown key. Because anyone can send such a token,
 *   that happens at most every 30 s.
 * - While the provider is down, tokens with known keys are accepted and tokens with unknown keys are rejected.
 * - Without calls, nothing is fetched.
 */
import { errors, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '../../base/logger.js';
import { readConfiguration, readKeys, type ProviderConfiguration } from './provider-documents.js';

/** Where to find the keys: through an OpenID Connect issuer, or at a separate URL. */
export type ProviderAddress = { readonly issuer: string } | { readonly keysUrl: string };

interface ProviderOptions {
  readonly address: ProviderAddress;
  readonly logger: Logger;
  /** Milliseconds since an arbitrary fixed point in time. */
  readonly now: () => number;
}

/** Keys older than this are refreshed in the background but still used. */
const FRESH_MS = 10 * 60_000;
/** Keys older than this are refreshed before a token is accepted, because they may have been revoked. */
const STALE_MS = 60 * 60_000;
/** The minimum interval between refreshes for unknown keys, and between attempts while the provider is down. */
const PAUSE_MS = 30_000;

export class IdentityProvider {
  readonly #options: ProviderOptions;
  #keys: { readonly find: JWTVerifyGetKey; readonly readAt: number } | null = null;
  #configuration: ProviderConfiguration | null = null;
  #reading: Promise<void> | null = null;
  #failedAt = -Infinity;
  #askedForUnknownAt = -Infinity;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** The latest known configuration; null if there is no issuer, or if it hasn't responded yet. */
  get configuration(): ProviderConfiguration | null {
    return this.#configuration;
  }

  /** The key that signed a token. @throws JOSEError if it is unknown */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    await this.#refresh();
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (!(await this.#askForUnknown())) throw error;
      return this.#known(header, token);
    }
  };

  /** Fetches the keys before the first token needs them. If the provider is down, it is retried later. */
  async prepare(): Promise<void> {
    await this.#read();
  }

  #known(...args: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (this.#keys === null)
      throw new errors.JWKSNoMatchingKey('the signing keys are not known yet');
    return this.#keys.find(...args);
  }

  async #refresh(): Promise<void> {
    const ageMs = this.#keys === null ? Infinity : this.#options.now() - this.#keys.readAt;
    if (ageMs < FRESH_MS || this.#hasJustFailed()) return;
    const reading = this.#read();
    if (ageMs >= STALE_MS) await reading;
  }

  #hasJustFailed(): boolean {
    return this.#options.now() - this.#failedAt < PAUSE_MS;
  }

  /** Whether the keys have been refreshed since the caller found its key missing. */
  async #askForUnknown(): Promise<boolean> {
    if (this.#reading === null) {
      const now = this.#options.now();
      if (now - this.#askedForUnknownAt < PAUSE_MS || this.#hasJustFailed()) return false;
      this.#askedForUnknownAt = now;
    }
    await this.#read();
    return true;
  }

  /** Never fails: on an error, the old keys stay. Concurrent calls share one fetch. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { address, logger, now } = this.#options;
    try {
      const keysUrl =
        'issuer' in address ? await this.#readIssuer(address.issuer) : address.keysUrl;
      const find = await readKeys(keysUrl);
      this.#keys = { find, readAt: now() };
    } catch (error) {
      this.#failedAt = now();
      const problem = error instanceof Error ? error.message : String(error);
      logger.warn(
        { problem },
        this.#keys === null
          ? 'failed to fetch the signing keys: all tokens are rejected until this succeeds'
          : 'failed to refresh the signing keys: tokens with known keys are still accepted',
      );
    }
  }

  async #readIssuer(issuer: string): Promise<string> {
    const configuration = await readConfiguration(issuer);
    this.#configuration = configuration;
    return configuration.keysUrl;
  }
}
