/** Notifications and their deliveries. Rules S1–S13: ../store.ts. */
import type { InstancePosition } from '../records/instance-lists.js';
import type {
  DeliveryAttempt,
  DeliveryClaim,
  DeliveryFilter,
  DeliveryRecord,
  DeliverySummary,
  NotificationRecord,
} from '../records/notifications.js';

export interface NotificationStore {
  /** Inserts the notification, or replaces the one of that name. */
  putNotification(notification: NotificationRecord): Promise<void>;
  /** In ascending order of their names. */
  listNotifications(limit: number): Promise<readonly NotificationRecord[]>;
  /** Pauses the notification, or with null lets it continue. False: there is none of that name. */
  pauseNotification(name: string, paused: string | null): Promise<boolean>;
  removeNotification(name: string): Promise<boolean>;
  /** Ignores deliveries whose id exists, and those of notifications that do not exist. */
  insertDeliveries(deliveries: readonly DeliveryRecord[]): Promise<void>;
  /** The waiting deliveries of a notification that are due, the longest due first, each claimed by one caller only. */
  claimDeliveries(claim: DeliveryClaim): Promise<readonly DeliveryRecord[]>;
  /** Compare-and-set on `{id, attempts}` of a waiting delivery. */
  saveDelivery(attempt: DeliveryAttempt): Promise<boolean>;
  /** Makes a delivery of the notification due at this time, whatever its state is. Null: there is none. */
  redeliver(notification: string, id: string, at: number): Promise<DeliverySummary | null>;
  getDelivery(id: string): Promise<DeliveryRecord | null>;
  /** The newest first, then in descending order of their ids. */
  listDeliveries(
    filter: DeliveryFilter,
    after: InstancePosition | null,
    limit: number,
  ): Promise<readonly DeliverySummary[]>;
  /** Removes deliveries of a notification, in any state. Returns their number. */
  removeDeliveries(notification: string, limit: number): Promise<number>;
  /** Removes deliveries that ended before the given time, the oldest first. Returns their number. */
  purgeDeliveries(endedBefore: number, limit: number): Promise<number>;
}
