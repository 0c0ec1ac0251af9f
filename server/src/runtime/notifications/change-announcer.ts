/**
 * Queues deliveries for the changes of instances that notifications announce.
 *
 *  NT1 The commit that contains a change also contains its message: as deliveries if the store can (S11), otherwise in the
 *      instance's outbox. So neither exists without the other, whatever crashes. Without a matching notification, nothing is
 *      written.
 *  NT2 The id of a delivery is derived from the notification, the instance, the change and its time, which the outbox keeps. So
 *      sending the message again has no further effect, and the receiver always sees the same id.
 */
import { unannouncedChanges, statusToAnnounce } from '../../engine/flow/status-changes.js';
import type { InstanceChange } from '../../engine/model/instance-change.js';
import type { OutboxMessage, Instance } from '../../engine/model/instance.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { jsonLength } from '../../engine/values/json-length.js';
import type { Clock } from '../../base/clock.js';
import { hashOf } from '../../base/ids.js';
import { isoTime } from '../../base/iso-time.js';
import type { DeliveryRecord } from '../../store/records/notifications.js';
import type { Store } from '../../store/store.js';
import type { NotificationList } from './notification-list.js';
import type { NotificationSettings } from './notification-types.js';

export type NotifyMessage = Extract<OutboxMessage, { kind: 'notify' }>;

/** Longer data is omitted from the message, so that a target that is down for days doesn't fill the store. */
const DATA_BYTES_MAX = 1 << 20;
/** Long deliveries would slow down commits, so they go through the outbox. At most this many bytes are stored at once. */
const STORED_AT_ONCE_MAX = 1 << 20;
/** Characters of Base64: 72 bits. */
const MARK_LENGTH = 12;
const MARKS_MAX = 2000;

/** The announcements of the changes in a commit. */
export interface Announcement {
  /** They must be part of the commit. */
  readonly deliveries: readonly DeliveryRecord[];
  /** Call it once the instance is written. */
  readonly written: () => void;
  /** Undoes everything if the instance was not written: another change may take precedence. */
  readonly takeBack: () => void;
}

export interface ChangeAnnouncerOptions {
  readonly store: Pick<Store, 'insertDeliveries' | 'storesDeliveries'>;
  readonly clock: Clock;
  readonly notifications: Pick<NotificationList, 'get' | 'namesFor' | 'refresh'>;
  /** Called when deliveries of this notification are due. */
  readonly queued: (name: string) => void;
}

export class ChangeAnnouncer {
  readonly #options: ChangeAnnouncerOptions;
  readonly #marks = new Map<string, string>();

  constructor(options: ChangeAnnouncerOptions) {
    this.#options = options;
  }

  /** Call it just before the instance is written. */
  announce(instance: Instance): Announcement {
    const { outbox, told } = instance;
    const messages = this.#messagesOf(instance);
    instance.told = statusToAnnounce(instance);
    const deliveries = this.#forCommit(instance, messages);
    if (deliveries === null) instance.outbox = [...outbox, ...messages];
    return {
      deliveries: deliveries ?? [],
      written: () => this.#queued(deliveries ?? []),
      takeBack: () => {
        instance.told = told;
        instance.outbox = outbox;
      },
    };
  }

  /** Idempotent. @throws StoreUnavailableError */
  async send(instance: Instance, message: NotifyMessage): Promise<void> {
    const { notifications, store } = this.#options;
    // Another node may have just created it.
    if (message.names.some((name) => notifications.get(name) === null))
      await notifications.refresh();
    for (const deliveries of inParts(this.#deliveriesOf(instance, message))) {
      await store.insertDeliveries(deliveries);
      this.#queued(deliveries);
    }
  }

  #messagesOf(instance: Instance): readonly NotifyMessage[] {
    const { clock, notifications } = this.#options;
    return unannouncedChanges(instance).flatMap((change): readonly NotifyMessage[] => {
      const names = notifications.namesFor(change, instance);
      if (names.length === 0) return [];
      const time = change === 'started' ? instance.startTime : (instance.endTime ?? clock.now());
      return [{ kind: 'notify', change, time, names }];
    });
  }

  /** Null: the messages must go through the outbox. */
  #forCommit(
    instance: Instance,
    messages: readonly NotifyMessage[],
  ): readonly DeliveryRecord[] | null {
    if (messages.length === 0) return [];
    if (!this.#options.store.storesDeliveries) return null;
    const deliveries = messages.flatMap((message) => this.#deliveriesOf(instance, message));
    return lengthOf(deliveries) <= STORED_AT_ONCE_MAX ? deliveries : null;
  }

  #deliveriesOf(
    instance: Instance,
    { change, names, time }: NotifyMessage,
  ): readonly DeliveryRecord[] {
    const now = this.#options.clock.now();
    const type = `workflow.${change}`;
    const bodies = new Map<NotificationSettings['include'], string>();
    const bodyWith = (include: NotificationSettings['include']): string => {
      const known = bodies.get(include);
      if (known !== undefined) return known;
      const about = { ...summaryOf(instance), ...(include === 'data' && dataOf(instance)) };
      const body = messageBody(type, time, about, include === 'data');
      bodies.set(include, body);
      return body;
    };
    return names.flatMap((notification): readonly DeliveryRecord[] => {
      const settings = this.#options.notifications.get(notification);
      // It was removed in the meantime.
      if (settings === null) return [];
      return [
        {
          id: `msg_${instance.id}_${time.toString(36)}_${this.#markOf(notification, change)}`,
          notification,
          workflowId: instance.id,
          type,
          body: bodyWith(settings.include),
          ...newDelivery(now),
        },
      ];
    });
  }

  /**
   * Distinguishes the messages about one instance. The id begins with the instance's, so that a store inserts new ones next to
   * each other; a hash for each message would cost more than the rest of it.
   */
  #markOf(notification: string, change: InstanceChange): string {
    const key = `${change} ${notification}`;
    const known = this.#marks.get(key);
    if (known !== undefined) return known;
    const mark = hashOf('notification', notification, change).slice(0, MARK_LENGTH);
    if (this.#marks.size >= MARKS_MAX) this.#marks.clear();
    this.#marks.set(key, mark);
    return mark;
  }

  #queued(deliveries: readonly DeliveryRecord[]): void {
    for (const { notification } of deliveries) this.#options.queued(notification);
  }
}

function lengthOf(deliveries: readonly DeliveryRecord[]): number {
  return deliveries.reduce((sum, { body }) => sum + body.length, 0);
}

function inParts(deliveries: readonly DeliveryRecord[]): readonly (readonly DeliveryRecord[])[] {
  const parts: DeliveryRecord[][] = [];
  for (const delivery of deliveries) {
    const last = parts.at(-1);
    if (last !== undefined && lengthOf(last) + delivery.body.length <= STORED_AT_ONCE_MAX) {
      last.push(delivery);
    } else parts.push([delivery]);
  }
  return parts;
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

/** @param data must not contain numbers that JavaScript can't represent, unless `isExact` */
export function messageBody(type: string, time: number, data: JsonObject, isExact = false): string {
  const message = { type, timestamp: isoTime(time), data };
  // The exact writer takes several times as long, which would slow down every short run.
  return isExact ? writeJson(message) : JSON.stringify(message);
}

function summaryOf(instance: Instance): JsonObject {
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
    startTime: isoTime(instance.startTime),
    endTime: endTime === null ? null : isoTime(endTime),
    lastError: error,
  };
}

function dataOf({ data }: Instance): JsonObject {
  return jsonLength(data) <= DATA_BYTES_MAX ? { data } : { data: null, dataOmitted: true };
}
