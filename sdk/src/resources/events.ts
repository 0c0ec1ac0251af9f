/** Events that runs wait for. */
import type { EventSummary, EventWaiter, PublishedEvent, StoredEvent } from '../api-types.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import type { JsonValue } from '../json.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Filters a list of events. The default is all events. */
export interface EventFilter {
  readonly eventName?: string;
  /** Requires `eventName`. */
  readonly eventKey?: string;
}

export interface PublishOptions extends IdempotentCallOptions {
  /** Records the publication in the audit log of this run. It does not affect which runs get the event. */
  readonly workflowId?: string;
}

/** Publishes and reads events: `client.events`. */
export class EventsResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Publishes an event to every run that is waiting for its name and key, and to runs that will wait for them later. The
   * promise resolves once the event is stored.
   *
   * @param data any JSON value
   *
   * @example
   * ```ts
   * const { id, deliveredTo } = await client.events.publish('approved', 'order-7', { by: 'Ada' });
   * console.log(id, deliveredTo);
   * ```
   */
  publish(eventName: string, eventKey: string): Promise<PublishedEvent>;
  publish<TEvent>(
    eventName: string,
    eventKey: string,
    data: JsonValue<TEvent>,
    options?: PublishOptions,
  ): Promise<PublishedEvent>;
  publish(
    eventName: string,
    eventKey: string,
    data: unknown = null,
    { idempotencyKey = newIdempotencyKey(), workflowId, ...options }: PublishOptions = {},
  ): Promise<PublishedEvent> {
    return this.#transport.call(
      'post',
      '/api/event/{name}/{key}',
      {
        path: { name: eventName, key: eventKey },
        query: { workflowId },
        body: { json: data },
        repeatable: 'always',
        subject: { eventName, eventKey },
        idempotencyKey,
      },
      options,
    );
  }

  /**
   * Lists published events, newest first: all events, or those with a certain name and key. Omits long data.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * await client.events.publish('approved', 'order-7', { by: 'Ada' });
   * const of = { eventName: 'approved', eventKey: 'order-7' };
   * for await (const { data, takenBy } of client.events.list(of)) console.log(data, takenBy);
   * ```
   */
  list(
    filter: EventFilter & CallOptions & { readonly limit?: number } = {},
  ): PagedList<EventSummary> {
    const { eventName, eventKey, limit, ...options } = filter;
    const query = { name: eventName, key: eventKey, limit };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/event',
        { query: { ...query, cursor }, repeatable: 'always', subject: {} },
        options,
      ),
    );
  }

  /**
   * Returns an event with all of its data, as long as the server keeps it.
   *
   * @throws ApiError `event_not_found`
   *
   * @example
   * ```ts
   * const { id } = await client.events.publish('approved', 'order-8', { by: 'Ada' });
   * console.log((await client.events.get(id)).data); // { by: 'Ada' }
   * ```
   */
  get(eventId: string, options: CallOptions = {}): Promise<StoredEvent> {
    const call = { path: { id: eventId }, repeatable: 'always', subject: {} } as const;
    return this.#transport.call('get', '/api/event/{id}', call, options);
  }

  /**
   * Lists the runs that are waiting for an event with this name and key.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * await client.workflows.start('approval', { order: 7 });
   * for await (const { workflowId, since } of client.events.waiting('approved', 'order-7')) {
   *   console.log(workflowId, since);
   * }
   * ```
   */
  waiting(
    eventName: string,
    eventKey: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): PagedList<EventWaiter> {
    const subject = { eventName, eventKey };
    const path = { name: eventName, key: eventKey };
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/event/{name}/{key}/waiting',
        { path, query: { limit, cursor }, repeatable: 'always', subject },
        options,
      ),
    );
  }
}
