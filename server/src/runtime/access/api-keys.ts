/** API keys for clients: create, list and remove. */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Ids } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import type { Store } from '../../store/store.js';
import {
  readApiKey,
  secretHashOf,
  viewApiKey,
  writeApiKey,
  writeKeyText,
} from './api-key-codec.js';
import { ApiKeyNames } from './api-key-names.js';
import type { ApiKeyRequest, ApiKeyView, CreatedApiKey } from './api-key-types.js';

export interface ApiKeysOptions {
  readonly store: Pick<Store, 'getResource' | 'listResources' | 'removeResource' | 'saveResource'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'newId' | 'newSecret'>;
  readonly logger: Logger;
  /** Called so that this node rejects a removed key immediately. */
  readonly removed: (id: string) => void;
}

const KEYS_MAX = 1000;

export class ApiKeys {
  readonly #options: ApiKeysOptions;
  readonly #names: ApiKeyNames;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
    this.#names = new ApiKeyNames(options.store);
  }

  /** @throws AppError `key_name_in_use`, `invalid_request` if the key has expired already or there are too many */
  async create({ actor, expiresAt, name, scopes }: ApiKeyRequest): Promise<CreatedApiKey> {
    const { clock, ids, logger, store } = this.#options;
    const now = clock.now();
    if (expiresAt !== null && expiresAt <= now) throw invalid('expires is in the past');
    const all = await this.list();
    // Nodes of earlier versions don't reserve names.
    if (all.some((each) => each.name === name)) throw inUse(name);
    if (all.length >= KEYS_MAX) {
      throw invalid(`There are ${KEYS_MAX} keys, the maximum: remove one first`);
    }
    const id = ids.newId(now);
    const secret = ids.newSecret();
    const key = { name, scopes, createdBy: actor, createdAt: now, expiresAt, lastUsedAt: null };
    const body = writeApiKey({ ...key, secretHash: secretHashOf(secret) });
    // An expired key stays in the list until it is removed.
    const record = { kind: 'api-key', name: id, revision: 1, expiresAt: null, body } as const;
    const taken = await this.#names.take(name, id);
    if (taken === null) throw inUse(name);
    await store.saveResource(record, null);
    if (!(await taken.confirm())) {
      await store.removeResource('api-key', id);
      throw inUse(name);
    }
    logger.info({ keyId: id, name, scopes, actor }, 'created an API key');
    return { id, ...key, key: writeKeyText(id, secret) };
  }

  /** In order of creation. */
  async list(): Promise<readonly ApiKeyView[]> {
    const found = await this.#options.store.listResources('api-key', null, KEYS_MAX);
    return found.map((record) => viewApiKey(record.name, readApiKey(record)));
  }

  /** All nodes reject it within a second. @throws AppError `key_not_found` */
  async remove(id: string, actor: string): Promise<void> {
    const { clock, logger, removed, store } = this.#options;
    const key = await store.getResource('api-key', id);
    const isRemoved = await store.removeResource('api-key', id);
    removed(id);
    if (key !== null) await this.#names.release(readApiKey(key).name, id, clock.now());
    if (!isRemoved) throw new AppError('key_not_found', `There is no API key with the id '${id}'`);
    logger.info({ keyId: id, actor }, 'removed an API key');
  }
}

function inUse(name: string): AppError {
  const message = `There is a key with the name '${name}': choose another name, or remove it`;
  return new AppError('key_name_in_use', message);
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}
