/** Webhooks: signed calls from other systems that publish an event or start a run. */
import type { Webhook, WebhookRequest } from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';

/** Sets up webhooks that other systems call: `client.webhooks`. */
export class WebhooksResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates or replaces a webhook. Without `secret`, it keeps its current one.
   *
   * @example
   * ```ts
   * const { path } = await client.webhooks.put('shop', {
   *   scheme: 'github',
   *   secret: 'a long random text',
   *   start: { definitionId: 'greeting', data: 'hook.body' },
   * });
   * console.log(path); // /hooks/shop
   * await client.webhooks.remove('shop');
   * ```
   */
  put(name: string, settings: WebhookRequest, options: CallOptions = {}): Promise<Webhook> {
    return this.#transport.call(
      'put',
      '/api/webhook/{name}',
      { path: { name }, body: { json: settings }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /** Returns a webhook without its secret. @throws ApiError `webhook_not_found` */
  get(name: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#transport.call('get', '/api/webhook/{name}', named(name), options);
  }

  /** Returns all webhooks, ordered by name. */
  async list(options: CallOptions = {}): Promise<readonly Webhook[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    const { items } = await this.#transport.call('get', '/api/webhook', call, options);
    return items;
  }

  /** Removes a webhook. From then on, its calls are rejected. @throws ApiError `webhook_not_found` */
  async remove(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('delete', '/api/webhook/{name}', named(name), options);
  }
}

function named(name: string) {
  return { path: { name }, repeatable: 'always', subject: {} } as const;
}
