/**
 * The keys of an identity provider: fetched, cached and rotated.
 *
 * - Keys are read again every ten minutes, and at once for a token with an unknown key, but for those at most every 30 s:
 *   anybody can send such a token.
 * - A provider that is down refuses nobody whose key is known. Tokens with unknown keys are refused meanwhile.
 * - Nothing happens while nobody calls.
 */
import { errors, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '../../base/logger.js';
import { readConfiguration, readKeys, type ProviderConfiguration } from './provider-documents.js';

/** Where the keys are: at an OpenID Connect issuer, or at an address of their own. */
export type ProviderAddress = { readonly issuer: string } | { readonly keysUrl: string };

interface ProviderOptions {
  readonly address: ProviderAddress;
  readonly logger: Logger;
  /** Milliseconds from any fixed moment. */
  readonly now: () => number;
}

/** Older keys are still used while they are read again in the background. */
const FRESH_MS = 10 * 60_000;
/** Keys older than this are read again before a token is accepted, because they may have been revoked. */
const STALE_MS = 60 * 60_000;
/** Between two questions for unknown keys, and between two attempts while the provider is down. */
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

  /** The newest known configuration; null if there is no issuer, or it has not responded yet. */
  get configuration(): ProviderConfiguration | null {
    return this.#configuration;
  }

  /** The key of a token. @throws JOSEError if it is unknown */
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

  /** Reads the keys before the first token needs them. A provider that is down is asked again later. */
  async prepare(): Promise<void> {
    await this.#read();
  }

  #known(...args: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (this.#keys === null) throw new errors.JWKSNoMatchingKey('the keys are not known yet');
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

  /** Whether the keys have been read since the caller found its key missing. */
  async #askForUnknown(): Promise<boolean> {
    if (this.#reading === null) {
      const now = this.#options.now();
      if (now - this.#askedForUnknownAt < PAUSE_MS || this.#hasJustFailed()) return false;
      this.#askedForUnknownAt = now;
    }
    await this.#read();
    return true;
  }

  /** Never fails: the keys stay as they were. Calls at the same time share one read. */
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
          ? 'the keys of tokens cannot be read: all tokens are refused until they can'
          : 'the keys of tokens cannot be read again: tokens with known keys are still accepted',
      );
    }
  }

  async #readIssuer(issuer: string): Promise<string> {
    const configuration = await readConfiguration(issuer);
    this.#configuration = configuration;
    return configuration.keysUrl;
  }
}
