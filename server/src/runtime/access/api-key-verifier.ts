/**
 * Verifies API keys.
 *
 *  AK1 A key's state is cached for half a second from the start of its read. So no node accepts a key one second after its
 *      removal, and many calls with one key cost two reads per second.
 *  AK2 If the store doesn't respond, an unknown key is neither accepted nor rejected.
 */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { Store } from '../../store/store.js';
import type { ApiKeyState } from './api-key-types.js';
import { readApiKey, readKeyText, writeApiKey, type StoredApiKey } from './api-key-codec.js';

const KNOWN_MS = 500;
const KNOWN_MAX = 10_000;
/** Precision of a key's last use. */
const USE_NOTED_MS = 60_000;

export interface ApiKeyVerifierOptions {
  readonly store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Lookup {
  readonly askedAt: number;
  readonly found: Promise<ResourceRecord | null>;
}

export class ApiKeyVerifier {
  readonly #options: ApiKeyVerifierOptions;
  readonly #lookups = new LRUCache<string, Lookup>({ max: KNOWN_MAX });
  /** When this node last recorded the use of a key. */
  readonly #noted = new LRUCache<string, number>({ max: KNOWN_MAX });

  constructor(options: ApiKeyVerifierOptions) {
    this.#options = options;
  }

  /** Null: there is no such key, or it has expired. @throws StoreUnavailableError */
  async verify(text: string): Promise<StoredApiKey | null> {
    const claimed = readKeyText(text);
    if (claimed === null) return null;
    const record = await this.#find(claimed.id);
    const key = record === null ? null : readApiKey(record);
    if (record === null || key === null || !isSame(key.secretHash, claimed.secretHash)) return null;
    const now = this.#options.clock.now();
    if (key.expiresAt !== null && key.expiresAt <= now) return null;
    this.#noteUse(record, key, now);
    return key;
  }

  /** The state of a key, at most half a second old. @throws StoreUnavailableError */
  async stateOf(id: string): Promise<ApiKeyState> {
    const record = await this.#find(id);
    if (record === null) return 'Removed';
    const { expiresAt } = readApiKey(record);
    return expiresAt !== null && expiresAt <= this.#options.clock.now() ? 'Expired' : 'Active';
  }

  /** Drops a key that this node has removed. */
  forget(id: string): void {
    this.#lookups.delete(id);
  }

  #find(id: string): Promise<ResourceRecord | null> {
    // A monotonic clock: the machine's clock may be set back.
    const now = performance.now();
    const known = this.#lookups.get(id);
    if (known !== undefined && now - known.askedAt < KNOWN_MS) return known.found;
    const found = this.#options.store.getResource('api-key', id);
    this.#lookups.set(id, { askedAt: now, found });
    found.catch(() => this.#lookups.delete(id));
    return found;
  }

  /** A compare-and-set, so that a removed key stays removed. If it fails, another node has recorded the use. */
  #noteUse(record: ResourceRecord, key: StoredApiKey, now: number): void {
    const { logger, store } = this.#options;
    const before = Math.max(key.lastUsedAt ?? 0, this.#noted.get(record.name) ?? 0);
    if (now - before < USE_NOTED_MS) return;
    this.#noted.set(record.name, now);
    const body = writeApiKey({ ...key, lastUsedAt: now });
    const noted = { ...record, revision: record.revision + 1, body };
    store.saveResource(noted, record.revision).catch((error: unknown) => {
      logger.debug({ err: error, keyId: record.name }, 'could not note the use of an API key');
    });
  }
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
