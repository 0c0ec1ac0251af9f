/** Secrets: values that the operator provides to definitions. */
import type { Secret } from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';

/** Lists the names of secrets: `client.secrets`. */
export class SecretsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns all secrets with the definitions that use them, ordered by name. Values are never shown. */
  async list(options: CallOptions = {}): Promise<readonly Secret[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    const { items } = await this.#transport.call('get', '/api/secret', call, options);
    return items;
  }
}
