/** Events that workflows wait for. */
import type { PublishedEvent } from '../api-types.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { IdempotentCallOptions } from '../options.js';
import type { Transport } from '../transport.js';

/** Publishes events: `client.events`. */
export class EventsResource {
  readonly #transport: Transport;

  /** @internal Made by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Publishes an event to every workflow that waits for its name and key, and to those that will. It is stored when this
   * resolves.
   *
   * @param data any JSON value
   *
   * @example
   * ```ts
   * const { id, deliveredTo } = await client.events.publish('approved', 'order-7', { by: 'Ada' });
   * console.log(id, deliveredTo);
   * ```
   */
  publish(
    eventName: string,
    eventKey: string,
    data: unknown = null,
    { idempotencyKey = newIdempotencyKey(), ...options }: IdempotentCallOptions = {},
  ): Promise<PublishedEvent> {
    return this.#transport.call(
      'post',
      '/api/event/{name}/{key}',
      {
        path: { name: eventName, key: eventKey },
        body: { json: data },
        repeatable: 'always',
        subject: { eventName, eventKey },
        idempotencyKey,
      },
      options,
    );
  }
}
