/**
 * Puts changes of instances that somebody wants to be told about into the queue of deliveries.
 *
 *  NT1 The commit that contains a change contains the message about it, in the outbox of the instance. So neither is there
 *      without the other, whatever crashes. Without a matching notification, nothing is written.
 *  NT2 The id of a delivery is derived from the notification, the instance, the change and its time, which the outbox
 *      keeps. So sending the message again has no further effect, and the receiver always sees the same id.
 */
import { untoldChanges, statusToTell } from '../../engine/flow/status-changes.js';
import type { OutboxMessage, WorkflowInstance } from '../../engine/model/instance.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { jsonLength } from '../../engine/values/json-length.js';
import type { Clock } from '../../base/clock.js';
import { hashOf } from '../../base/ids.js';
import type { DeliveryRecord } from '../../store/records/notifications.js';
import type { Store } from '../../store/store.js';
import type { NotificationList } from './notification-list.js';

export type NotifyMessage = Extract<OutboxMessage, { kind: 'notify' }>;

/** Longer data is left out of the message: a target that is down for days must not fill the store with it. */
const DATA_BYTES_MAX = 1 << 20;

export interface ChangeAnnouncerOptions {
  readonly store: Pick<Store, 'insertDeliveries'>;
  readonly clock: Clock;
  readonly notifications: Pick<NotificationList, 'get' | 'namesFor' | 'refresh'>;
  /** Deliveries of this notification are due. */
  readonly queued: (name: string) => void;
}

export class ChangeAnnouncer {
  readonly #options: ChangeAnnouncerOptions;

  constructor(options: ChangeAnnouncerOptions) {
    this.#options = options;
  }

  /**
   * Call it just before the instance is written. The returned function takes everything back, if it was not: then somebody
   * else has changed the instance, and may take precedence.
   */
  announce(instance: WorkflowInstance): () => void {
    const { outbox, told } = instance;
    const changes = untoldChanges(instance);
    instance.told = statusToTell(instance);
    const { clock, notifications } = this.#options;
    const messages = changes.flatMap((change): readonly NotifyMessage[] => {
      const names = notifications.namesFor(change, instance);
      if (names.length === 0) return [];
      const time = change === 'started' ? instance.startTime : (instance.endTime ?? clock.now());
      return [{ kind: 'notify', change, time, names }];
    });
    if (messages.length > 0) instance.outbox = [...outbox, ...messages];
    return () => {
      instance.told = told;
      instance.outbox = outbox;
    };
  }

  /** May be repeated: the second time changes nothing. @throws StoreUnavailableError */
  async send(instance: WorkflowInstance, message: NotifyMessage): Promise<void> {
    const { notifications, queued, store } = this.#options;
    // It may be one that was set up on another node a moment ago.
    if (message.names.some((name) => notifications.get(name) === null))
      await notifications.refresh();
    const deliveries = message.names.flatMap((name): readonly DeliveryRecord[] => {
      const notification = notifications.get(name);
      // It was removed in the meantime.
      if (notification === null) return [];
      return [this.#deliveryOf(instance, message, name, notification.include)];
    });
    if (deliveries.length === 0) return;
    await store.insertDeliveries(deliveries);
    for (const { notification } of deliveries) queued(notification);
  }

  #deliveryOf(
    instance: WorkflowInstance,
    { change, time }: NotifyMessage,
    notification: string,
    include: 'summary' | 'data',
  ): DeliveryRecord {
    const now = this.#options.clock.now();
    const type = `workflow.${change}`;
    const about = { ...summaryOf(instance), ...(include === 'data' && dataOf(instance)) };
    return {
      id: `msg_${hashOf('notification', notification, instance.id, change, String(time))}`,
      notification,
      workflowId: instance.id,
      type,
      body: messageBody(type, time, about),
      ...newDelivery(now),
    };
  }
}

/** The first state of a delivery. */
export function newDelivery(now: number) {
  return {
    createdAt: now,
    state: 'waiting',
    attempts: 0,
    dueAt: now,
    since: now,
    endedAt: null,
    answer: null,
  } as const;
}

export function messageBody(type: string, time: number, data: JsonObject): string {
  return writeJson({ type, timestamp: isoOf(time), data });
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}

function summaryOf(instance: WorkflowInstance): JsonObject {
  const { endTime, lastError } = instance;
  const error: Json =
    lastError === null
      ? null
      : { stepId: lastError.stepId, type: lastError.type, message: lastError.message };
  return {
    workflowId: instance.id,
    definitionId: instance.definitionId,
    version: instance.version,
    reference: instance.reference,
    tags: { ...instance.tags },
    status: instance.status,
    outcome: instance.outcome,
    startTime: isoOf(instance.startTime),
    endTime: endTime === null ? null : isoOf(endTime),
    lastError: error,
  };
}

function dataOf({ data }: WorkflowInstance): JsonObject {
  return jsonLength(data) <= DATA_BYTES_MAX ? { data } : { data: null, dataOmitted: true };
}
