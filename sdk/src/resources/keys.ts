/** API keys: bearer tokens that can be revoked at any time. */
import type { ApiKey, ApiKeyRequest, CreatedApiKey } from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';

/** Creates and removes API keys: `client.keys`. Its calls need the scope `conductor:admin`. */
export class KeysResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a key, which is shown only in this response.
   *
   * @throws ApiError `key_name_in_use`
   * @example
   * ```ts
   * const { id, key } = await client.keys.create({ name: 'billing', scopes: ['conductor:worker'] });
   * console.log(key.slice(0, 3)); // sw_
   * await client.keys.remove(id);
   * ```
   */
  create(settings: ApiKeyRequest, options: CallOptions = {}): Promise<CreatedApiKey> {
    const call = { body: { json: settings }, repeatable: 'refused', subject: {} } as const;
    return this.#transport.call('post', '/api/key', call, options);
  }

  /** Returns all keys with their last use, in order of creation. */
  async list(options: CallOptions = {}): Promise<readonly ApiKey[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    const { items } = await this.#transport.call('get', '/api/key', call, options);
    return items;
  }

  /** Removes a key. All nodes stop accepting it within a second. @throws ApiError `key_not_found` */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    const call = { path: { id }, repeatable: 'always', subject: {} } as const;
    await this.#transport.call('delete', '/api/key/{id}', call, options);
  }
}
