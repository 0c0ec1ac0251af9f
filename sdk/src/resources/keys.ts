/** API keys: bearer tokens that the server can end at any time. */
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
   * Creates a key. The answer is the only one that has it.
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

  /** Returns all keys with their last use, in the order of their creation. */
  async list(options: CallOptions = {}): Promise<readonly ApiKey[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    const { items } = await this.#transport.call('get', '/api/key', call, options);
    return items;
  }

  /** Removes a key: a second later, no node accepts it. @throws ApiError `key_not_found` */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    const call = { path: { id }, repeatable: 'always', subject: {} } as const;
    await this.#transport.call('delete', '/api/key/{id}', call, options);
  }
}
