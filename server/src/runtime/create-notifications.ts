/** Connects the services of notifications. */
import type { NodeServicesOptions } from './node-options.js';
import { ChangeAnnouncer } from './notifications/change-announcer.js';
import { Deliverer } from './notifications/deliverer.js';
import { DeliveryAttempts } from './notifications/delivery-attempts.js';
import { NotificationList } from './notifications/notification-list.js';
import { Notifications } from './notifications/notifications.js';

export interface NotificationServicesOptions extends NodeServicesOptions {
  readonly isShared: () => boolean;
  readonly mayBeStale: () => boolean;
}

export function createNotifications(options: NotificationServicesOptions) {
  const { backplane, store, webhookRequest: http } = options;
  const list = new NotificationList(store);
  const changed = async (): Promise<void> => {
    backplane.publish({ kind: 'notifications' });
    await list.refresh();
  };
  const attempts = new DeliveryAttempts({ ...options, http, paused: changed });
  const deliverer = new Deliverer({ ...options, notifications: list, attempts });
  const announcer = new ChangeAnnouncer({
    ...options,
    notifications: list,
    queued: (name) => deliverer.wake(name),
  });
  return {
    announcer,
    deliverer,
    calls: new Notifications({ ...options, list, attempts, deliverer, changed }),
  };
}
