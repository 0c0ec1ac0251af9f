/** Notifications for clients: set up, list, pause, remove, test; and their deliveries. */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Ids } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import type { Seal } from '../../base/seal.js';
import type { DeliveryRecord, DeliveryState } from '../../store/records/notifications.js';
import type { Store } from '../../store/store.js';
import { decodeCursor, pageOf, type Page, type PageRequest } from '../model/paging.js';
import { parseConditions } from '../model/parse-condition.js';
import { messageBody, newDelivery } from './change-announcer.js';
import { DELIVERY_LEASE_MS, secretPlace, type DeliveryAttempts } from './delivery-attempts.js';
import type { Deliverer } from './deliverer.js';
import {
  viewDelivery,
  viewNotification,
  writeSettings,
  type KnownNotification,
} from './notification-codec.js';
import { NOTIFICATIONS_MAX, type NotificationList } from './notification-list.js';
import type { DeliveryView, NotificationRequest, NotificationView } from './notification-types.js';
import { secretProblem } from './standard-webhook.js';

export interface NotificationsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly seal: Seal;
  readonly list: NotificationList;
  readonly attempts: Pick<DeliveryAttempts, 'make'>;
  readonly deliverer: Pick<Deliverer, 'signal' | 'wake'>;
  /** Called after each change: refreshes the list here, and has the other nodes do so. */
  readonly changed: () => Promise<void>;
}

const REMOVED_AT_ONCE = 500;
const TEST_TYPE = 'workflow.test';

export class Notifications {
  readonly #options: NotificationsOptions;

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  /** Sets up a notification, or replaces it; then it is not paused. @throws AppError `invalid_request` */
  async put(name: string, request: NotificationRequest): Promise<NotificationView> {
    const { clock, list, logger, store } = this.#options;
    // Throws for a condition that cannot be read.
    parseConditions(request.where);
    await list.refresh();
    const known = list.get(name);
    if (known === null && list.all.length >= NOTIFICATIONS_MAX) {
      throw new AppError(
        'invalid_request',
        `There are ${NOTIFICATIONS_MAX} notifications, the maximum: remove one, or widen another`,
      );
    }
    const { actor, definitionId, include, on, url, where } = request;
    const sealedSecret = this.#sealedSecret(name, request.secret, known);
    const settings = writeSettings({
      url,
      on,
      definitionId,
      where,
      include,
      sealedSecret,
      changedBy: actor,
      changedAt: clock.now(),
    });
    await store.putNotification({ name, settings, paused: null });
    logger.info({ notification: name, actor }, 'set up a notification');
    return this.#changed(name);
  }

  /** @throws AppError `notification_not_found` */
  async get(name: string): Promise<NotificationView> {
    return viewNotification(await this.#find(name));
  }

  /** In order of name. */
  async list(): Promise<readonly NotificationView[]> {
    await this.#options.list.refresh();
    return this.#options.list.all.map(viewNotification);
  }

  /** @throws AppError `notification_not_found` */
  async pause(name: string, actor: string): Promise<NotificationView> {
    return this.#setPaused(name, `paused by ${actor}`);
  }

  /** Waiting deliveries are tried again at their scheduled times. @throws AppError `notification_not_found` */
  async resume(name: string): Promise<NotificationView> {
    return this.#setPaused(name, null);
  }

  /** Removes the notification with its deliveries. @throws AppError `notification_not_found` */
  async remove(name: string, actor: string): Promise<void> {
    const { changed, logger, store } = this.#options;
    if (!(await store.removeNotification(name))) throw notFound(name);
    logger.info({ notification: name, actor }, 'removed a notification');
    await changed();
    while ((await store.removeDeliveries(name, REMOVED_AT_ONCE)) >= REMOVED_AT_ONCE);
  }

  /** Newest first. @throws AppError `notification_not_found`, `invalid_request` for a cursor of another list */
  async listDeliveries(
    name: string,
    state: DeliveryState | null,
    page: PageRequest,
  ): Promise<Page<DeliveryView>> {
    await this.#find(name);
    const kind = `deliveries ${name} ${state ?? ''}`;
    const [time, id] = decodeCursor(page.cursor, kind) ?? [];
    const after = time === undefined || id === undefined ? null : { time: Number(time), id };
    const filter = { notification: name, ...(state !== null && { state }) };
    const found = await this.#options.store.listDeliveries(filter, after, page.limit + 1);
    const positionOf = (delivery: (typeof found)[number]): readonly string[] => [
      String(delivery.createdAt),
      delivery.id,
    ];
    const { items, nextCursor } = pageOf(found, page.limit, kind, positionOf);
    return { items: items.map(viewDelivery), nextCursor };
  }

  /** Tries a delivery again, for another three days. @throws AppError `notification_not_found`, `delivery_not_found` */
  async redeliver(name: string, id: string): Promise<DeliveryView> {
    const { clock, deliverer, store } = this.#options;
    await this.#find(name);
    const delivery = await store.redeliver(name, id, clock.now());
    if (delivery === null) {
      throw new AppError(
        'delivery_not_found',
        `The notification '${name}' has no delivery with the id '${id}'`,
      );
    }
    deliverer.wake(name);
    return viewDelivery(delivery);
  }

  /**
   * Sends a message of the type `workflow.test` once, even if the notification is paused. @throws AppError
   * `notification_not_found`
   */
  async test(name: string, actor: string): Promise<DeliveryView> {
    const { attempts, clock, deliverer, ids, store } = this.#options;
    const notification = await this.#find(name);
    const now = clock.now();
    const delivery: DeliveryRecord = {
      ...newDelivery(now),
      id: `msg_${ids.newId(now)}`,
      notification: name,
      workflowId: null,
      type: TEST_TYPE,
      body: messageBody(TEST_TYPE, now, { notification: name, requestedBy: actor }),
      attempts: 1,
      // No other node tries it.
      dueAt: now + DELIVERY_LEASE_MS,
    };
    await store.insertDeliveries([delivery]);
    await attempts.make(notification, delivery, deliverer.signal, true);
    return viewDelivery((await store.getDelivery(delivery.id)) ?? delivery);
  }

  async #setPaused(name: string, reason: string | null): Promise<NotificationView> {
    if (!(await this.#options.store.pauseNotification(name, reason))) throw notFound(name);
    return this.#changed(name);
  }

  async #changed(name: string): Promise<NotificationView> {
    await this.#options.changed();
    const found = this.#options.list.get(name);
    if (found === null) throw notFound(name);
    this.#options.deliverer.wake(name);
    return viewNotification(found);
  }

  async #find(name: string): Promise<KnownNotification> {
    const { list } = this.#options;
    await list.refresh();
    const known = list.get(name);
    if (known === null) throw notFound(name);
    return known;
  }

  #sealedSecret(name: string, secret: string | null, known: KnownNotification | null): string {
    if (secret === null) {
      if (known !== null) return known.sealedSecret;
      throw new AppError('invalid_request', 'secret is missing: a new notification needs one');
    }
    const problem = secretProblem(secret);
    if (problem !== null) throw new AppError('invalid_request', `secret ${problem}`);
    return this.#options.seal.seal(secret, secretPlace(name));
  }
}

function notFound(name: string): AppError {
  return new AppError('notification_not_found', `There is no notification with the name '${name}'`);
}
