/**
 * Publishes events: stores them first, and then delivers them to every waiting instance.
 *
 * A waiting step stores its subscription and then searches the events; a publisher stores its event and then searches the
 * subscriptions. In either order, at least one of them finds the other; if both do, the instance takes the event once.
 *
 * If the insert has posted to all subscriptions that it saw, the publisher searches for concurrent subscriptions after it has
 * answered its caller (`EventDeliveries`).
 */
import { writeJson } from '../../engine/values/exact-json.js';
import { AppError } from '../../base/errors.js';
import { EVENT_TAKERS_MAX, type EventRecord, type FoundEvent } from '../../store/records/events.js';
import type { InboxMessage } from '../../store/records/messages.js';
import { CLAIMED_BY_EVENT_MAX, type InsertedEvent } from '../../store/records/posted-messages.js';
import { StoreRefusedError, StoreUnavailableError, type Store } from '../../store/store.js';
import { sleep, type Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { EventDeliveries } from './event-deliveries.js';
import type { PublishedEvent, PublishRequest } from './event-types.js';
import {
  eventIdFor,
  PublisherPermissions,
  type PublisherPermissionsOptions,
  type TracedEvent,
} from '../triggers/publisher-permissions.js';
import { hashOf, nameKeyOf, type Ids } from '../../base/ids.js';
import type { EventTriggers } from '../triggers/event-triggers.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { eventMessage } from '../instance-state/message-codec.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import type { InstanceControl } from '../operations/instance-control.js';
import type { InstanceQueries } from '../operations/instance-queries.js';
import { traceHeadersOf } from '../../tracing/trace-context.js';

const PAGE = 500;
/** How long a repeated call waits for the first one to store the count. */
const MARK_PAUSES_MS = [25, 50, 100];

export interface EventPublisherOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'eventPublished'>;
  readonly queries: Pick<InstanceQueries, 'load'>;
  readonly control: Pick<InstanceControl, 'notePublished'>;
  readonly triggers: Pick<EventTriggers, 'fire' | 'has'>;
  readonly settings: PublisherPermissionsOptions['settings'];
  readonly runner: Pick<InstanceRunner, 'claimer' | 'postedByClient'>;
}

export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #permissions: PublisherPermissions;
  /** The deliveries of this node that are yet to be stored. */
  readonly deliveries: EventDeliveries;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#permissions = new PublisherPermissions(options);
    this.deliveries = new EventDeliveries({
      ...options,
      deliverAgain: (event, reached) => this.#deliver(event, eventMessage(event), reached),
    });
  }

  /** Stores pending delivery marks. */
  stop(): Promise<void> {
    return this.deliveries.stop();
  }

  /** Durable before it resolves. @throws AppError `idempotency_conflict`, `workflow_not_found` */
  async publish(request: PublishRequest): Promise<PublishedEvent> {
    const { control, metrics, queries } = this.#options;
    const { forInstance } = request;
    // Rejects the event if the instance does not exist, before anything is stored.
    if (forInstance !== undefined) await queries.load(forInstance.instanceId);
    const published = await this.#publish(request);
    if (forInstance !== undefined) {
      await control.notePublished(forInstance.instanceId, request, forInstance.actor);
    }
    metrics.eventPublished();
    return published;
  }

  /** Delivers events that a node stored but did not deliver to all recipients before it stopped. */
  async deliverLeftOver(publishedBefore: number): Promise<void> {
    const { logger, store } = this.#options;
    for (const event of await store.findUndeliveredEvents(publishedBefore, PAGE)) {
      if (this.deliveries.find(event.id) !== undefined) continue;
      try {
        await this.#deliver(event);
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error;
        // The others aren't delayed.
        logger.warn({ err: error, eventId: event.id }, 'could not deliver an event');
      }
    }
  }

  async #publish(request: PublishRequest): Promise<PublishedEvent> {
    const { name, key, idempotency, allowed = 'all' } = request;
    const { clock, ids } = this.#options;
    const publishedAt = clock.now();
    const id =
      idempotency === null ? ids.newId(publishedAt) : `k-${hashOf(name, key, idempotency.key)}`;
    const event: EventRecord = {
      id: eventIdFor(id, allowed),
      nameKey: nameKeyOf(name, key),
      name,
      key,
      data: writeJson(request.data),
      publishedAt,
      deliveredTo: null,
      requestHash: idempotency?.requestHash ?? null,
    };
    await this.#permissions.note(event, allowed);
    const traced = { ...event, ...traceHeadersOf(request), allowed };
    const message = eventMessage(traced);
    // If it starts runs, the insert doesn't deliver it: see #deliver.
    const starts = await this.#options.triggers.has(name);
    const { runner, store } = this.#options;
    const stored = starts
      ? await store.insertEvent(event)
      : await store.insertEvent(event, message, runner.claimer);
    if (stored.outcome === 'inserted') {
      return {
        id: event.id,
        deliveredTo: await this.#deliverInserted(stored, traced, { message, starts }),
      };
    }
    if (stored.event.requestHash !== event.requestHash) {
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was already used for an event with different data',
      );
    }
    return { id: event.id, deliveredTo: await this.#deliveredBefore(stored.event) };
  }

  async #deliverInserted(
    { delivery, posted }: InsertedEvent,
    event: TracedEvent,
    { message, starts }: { readonly message: InboxMessage; readonly starts: boolean },
  ): Promise<number> {
    for (const answer of posted) this.#options.runner.postedByClient(answer, message);
    const reached = posted.map(({ instanceId }) => instanceId);
    if (delivery === 'partial') return this.#deliver(event, message, reached, starts);
    if (delivery === 'unconfirmed') this.#noteDelivered(event, reached, false);
    return reached.length;
  }

  /** The count of an event that was published before. Its first publisher may be about to store it. */
  async #deliveredBefore(event: EventRecord): Promise<number> {
    const { clock, store } = this.#options;
    let { deliveredTo } = event;
    for (const pauseMs of MARK_PAUSES_MS) {
      deliveredTo ??= this.deliveries.find(event.id)?.deliveredTo ?? null;
      if (deliveredTo !== null) return deliveredTo;
      await sleep(clock, pauseMs);
      deliveredTo = (await store.getEvent(event.id))?.deliveredTo ?? null;
    }
    return deliveredTo ?? this.#deliver(event);
  }

  /**
   * @param reached instances that have received the event
   * @param starts whether it may start runs
   */
  async #deliver(
    event: TracedEvent,
    message = eventMessage(event),
    reached: readonly string[] = [],
    starts = true,
  ): Promise<number> {
    const { store } = this.#options;
    const isFired = !starts || (await this.#fire(event));
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
    if (isFired) this.#noteDelivered(event, [...instances], true);
    return instances.size;
  }

  /** Starts the runs of triggers. Returns false if housekeeping must deliver the event again. */
  async #fire(event: TracedEvent): Promise<boolean> {
    const { logger, triggers } = this.#options;
    try {
      await triggers.fire(event);
      return true;
    } catch (error) {
      logger.warn(
        { err: error, eventId: event.id },
        'could not start runs on an event; it is tried again',
      );
      return false;
    }
  }

  #noteDelivered(event: FoundEvent, instances: readonly string[], isConfirmed: boolean): void {
    const takenBy = instances.slice(0, EVENT_TAKERS_MAX);
    const deliveredTo = instances.length;
    this.deliveries.add(event, { id: event.id, deliveredTo, takenBy, isConfirmed });
  }

  async #post(instanceIds: readonly string[], message: InboxMessage): Promise<readonly string[]> {
    if (instanceIds.length === 0) return [];
    const { logger, runner, store } = this.#options;
    const isForFew = instanceIds.length <= CLAIMED_BY_EVENT_MAX;
    const messages = instanceIds.map((instanceId) => ({ instanceId, message }));
    try {
      const answers = await store.postMessages(messages, isForFew ? runner.claimer : undefined);
      const reached = answers.filter((answer) => answer !== null);
      for (const answer of reached) runner.postedByClient(answer, message);
      return reached.map(({ instanceId }) => instanceId);
    } catch (error) {
      if (!(error instanceof StoreRefusedError)) throw error;
      if (instanceIds.length > 1) return this.#postEach(instanceIds, message);
      // The instance won't get the event: the store would refuse it again.
      const fields = { err: error, messageId: message.id, workflowId: instanceIds[0] };
      logger.error(fields, 'the store refuses to deliver an event to a run');
      return [];
    }
  }

  /** Posts one by one, so that a message refused by the store doesn't affect the others. */
  async #postEach(
    instanceIds: readonly string[],
    message: InboxMessage,
  ): Promise<readonly string[]> {
    const reached: string[] = [];
    for (const id of instanceIds) reached.push(...(await this.#post([id], message)));
    return reached;
  }
}
