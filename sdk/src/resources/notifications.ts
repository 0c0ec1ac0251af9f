/** Notifications: signed messages to other servers when runs start, end or halt. */
import type { Delivery, DeliveryState, Notification, NotificationRequest } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Filters the deliveries of a notification. */
export interface DeliveryListOptions extends CallOptions {
  /** Only deliveries in this state. */
  readonly state?: DeliveryState;
  /** The page size. */
  readonly limit?: number;
}

/** Sets up notifications, and shows their deliveries: `client.notifications`. */
export class NotificationsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates or replaces a notification. If it was paused, it resumes. Without `secret`, it keeps its current one.
   *
   * @example
   * ```ts
   * await client.notifications.put('billing', {
   *   url: 'https://billing.example/hooks',
   *   on: ['completed', 'failed'],
   *   definitionId: 'greeting',
   *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
   * });
   * const { on, paused } = await client.notifications.get('billing');
   * console.log(on.join(), paused); // completed,failed false
   * await client.notifications.remove('billing');
   * ```
   */
  put(
    name: string,
    settings: NotificationRequest,
    options: CallOptions = {},
  ): Promise<Notification> {
    return this.#transport.call(
      'put',
      '/api/notification/{name}',
      { path: { name }, body: { json: settings }, repeatable: 'always', subject: {} },
      options,
    );
  }

  /** Returns a notification without its secret. @throws ApiError `notification_not_found` */
  get(name: string, options: CallOptions = {}): Promise<Notification> {
    return this.#transport.call('get', '/api/notification/{name}', named(name), options);
  }

  /** Returns all notifications, ordered by name. */
  async list(options: CallOptions = {}): Promise<readonly Notification[]> {
    const call = { repeatable: 'always', subject: {} } as const;
    const { items } = await this.#transport.call('get', '/api/notification', call, options);
    return items;
  }

  /** Removes a notification and its deliveries. @throws ApiError `notification_not_found` */
  async remove(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('delete', '/api/notification/{name}', named(name), options);
  }

  /**
   * Pauses a notification. Until it is resumed, nothing is sent and changes aren't recorded.
   *
   * @throws ApiError `notification_not_found`
   */
  pause(name: string, options: CallOptions = {}): Promise<Notification> {
    return this.#transport.call('put', '/api/notification/{name}/pause', named(name), options);
  }

  /** Resumes a notification, even if it was paused by a 410 response from the target. @throws ApiError `notification_not_found` */
  resume(name: string, options: CallOptions = {}): Promise<Notification> {
    return this.#transport.call('put', '/api/notification/{name}/resume', named(name), options);
  }

  /**
   * Sends one message of type `workflow.test` and returns the result. It isn't retried.
   *
   * @throws ApiError `notification_not_found`
   */
  test(name: string, options: CallOptions = {}): Promise<Delivery> {
    const call = { path: { name }, repeatable: 'refused', subject: {} } as const;
    return this.#transport.call('post', '/api/notification/{name}/test', call, options);
  }

  /**
   * Lists the deliveries of a notification, the newest first. They are removed a week after they end.
   *
   * @throws ApiError `notification_not_found`
   *
   * @example
   * ```ts
   * await client.notifications.put('audit', {
   *   url: 'https://audit.example/hooks',
   *   on: ['failed'],
   *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
   * });
   * for await (const { id, attempts, lastAnswer } of client.notifications.deliveries('audit', { state: 'failed' })) {
   *   console.log(id, attempts, lastAnswer?.status);
   *   await client.notifications.redeliver('audit', id);
   * }
   * ```
   */
  deliveries(
    name: string,
    { limit, state, ...options }: DeliveryListOptions = {},
  ): PagedList<Delivery> {
    const call = named(name);
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/notification/{name}/deliveries',
        { ...call, query: { state, limit, cursor } },
        options,
      ),
    );
  }

  /**
   * Sends a delivery again, in any state, with the same id. If it fails, it is retried for another three days.
   *
   * @throws ApiError `notification_not_found`, `delivery_not_found`
   */
  redeliver(name: string, deliveryId: string, options: CallOptions = {}): Promise<Delivery> {
    return this.#transport.call(
      'post',
      '/api/notification/{name}/deliveries/{id}/redeliver',
      { path: { name, id: deliveryId }, repeatable: 'always', subject: {} },
      options,
    );
  }
}

function named(name: string) {
  return { path: { name }, repeatable: 'always', subject: {} } as const;
}
