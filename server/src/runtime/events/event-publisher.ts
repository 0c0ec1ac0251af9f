/**
 * Publishes events: stores them first, and then delivers them to every waiting instance.
 *
 * A waiting step stores its subscription and then searches the events; a publisher stores its event and then searches the
 * subscriptions. In either order, at least one of them finds the other; if both do, the instance takes the event once.
 */
import { writeJson } from '../../engine/values/exact-json.js';
import { AppError } from '../../base/errors.js';
import { EVENT_TAKERS_MAX, type EventRecord, type FoundEvent } from '../../store/records/events.js';
import type { InboxMessage, PostedMessage } from '../../store/records/messages.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { PublishedEvent, PublishRequest } from './event-types.js';
import { hashOf, nameKeyOf, newId } from '../../base/ids.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { eventMessage } from '../instances/message-codec.js';
import type { InstanceControl } from '../operations/instance-control.js';
import type { InstanceQueries } from '../operations/instance-queries.js';

const PAGE = 500;

export interface EventPublisherOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Pick<RuntimeMetrics, 'eventPublished'>;
  readonly queries: Pick<InstanceQueries, 'load'>;
  readonly control: Pick<InstanceControl, 'notePublished'>;
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
}

export class EventPublisher {
  readonly #options: EventPublisherOptions;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
  }

  /** Durable before it resolves. @throws AppError `idempotency_conflict`, `workflow_not_found` */
  async publish(request: PublishRequest): Promise<PublishedEvent> {
    const { control, metrics, queries } = this.#options;
    const { forWorkflow } = request;
    // Rejects the event if the instance does not exist, before anything is stored.
    if (forWorkflow !== undefined) await queries.load(forWorkflow.workflowId);
    const published = await this.#publish(request);
    if (forWorkflow !== undefined) {
      await control.notePublished(forWorkflow.workflowId, request, forWorkflow.actor);
    }
    metrics.eventPublished();
    return published;
  }

  /** Delivers events that a node stored but did not deliver to all recipients before it stopped. */
  async deliverLeftOver(publishedBefore: number): Promise<void> {
    for (const event of await this.#options.store.findUndeliveredEvents(publishedBefore, PAGE)) {
      await this.#deliver(event);
    }
  }

  async #publish(request: PublishRequest): Promise<PublishedEvent> {
    const { name, key, idempotency } = request;
    const publishedAt = this.#options.clock.now();
    const event: EventRecord = {
      id: idempotency === null ? newId(publishedAt) : `k-${hashOf(name, key, idempotency.key)}`,
      nameKey: nameKeyOf(name, key),
      name,
      key,
      data: writeJson(request.data),
      publishedAt,
      deliveredTo: null,
      requestHash: idempotency?.requestHash ?? null,
    };
    const message = eventMessage(event);
    const stored = await this.#options.store.insertEvent(event, message);
    if (stored.outcome === 'inserted') {
      const { isDelivered, posted } = stored;
      for (const answer of posted) this.#options.posted(answer, message);
      const reached = posted.map(({ instanceId }) => instanceId);
      const deliveredTo = isDelivered
        ? reached.length
        : await this.#deliver(event, message, reached);
      return { id: event.id, deliveredTo };
    }
    const { deliveredTo, id, requestHash } = stored.event;
    if (requestHash !== event.requestHash) {
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was already used for an event with different data',
      );
    }
    return { id, deliveredTo: deliveredTo ?? (await this.#deliver(stored.event)) };
  }

  /** @param reached instances that have received the event */
  async #deliver(
    event: FoundEvent,
    message = eventMessage(event),
    reached: readonly string[] = [],
  ): Promise<number> {
    const { store } = this.#options;
    const instances = new Set(reached);
    let afterId: string | null = null;
    for (;;) {
      const page = await store.findSubscriptions(event.nameKey, event.publishedAt, afterId, PAGE);
      const targets = [...new Set(page.map(({ instanceId }) => instanceId))];
      const fresh = targets.filter((instanceId) => !instances.has(instanceId));
      for (const instanceId of await this.#post(fresh, message)) instances.add(instanceId);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      afterId = last.id;
    }
    const takers = [...instances].slice(0, EVENT_TAKERS_MAX);
    await store.markEventDelivered(event.id, instances.size, takers);
    return instances.size;
  }

  async #post(instanceIds: readonly string[], message: InboxMessage): Promise<readonly string[]> {
    if (instanceIds.length === 0) return [];
    const { posted, store } = this.#options;
    const messages = instanceIds.map((instanceId) => ({ instanceId, message }));
    const answers = await store.postMessages(messages);
    const reached = answers.filter((answer) => answer !== null);
    for (const answer of reached) posted(answer, message);
    return reached.map(({ instanceId }) => instanceId);
  }
}
