/** Which notifications a node knows, also if simultaneous requests have made more than the maximum. */
import { expect, it } from 'vitest';
import { writeSettings } from '../../../src/runtime/notifications/notification-codec.js';
import {
  NOTIFICATIONS_MAX,
  NotificationList,
} from '../../../src/runtime/notifications/notification-list.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';

it('knows every notification that was accepted', async () => {
  const store = createMemoryStore();
  const settings = writeSettings({
    url: 'https://shop.example/hook',
    on: ['completed'],
    definitionId: null,
    where: [],
    include: 'summary',
    sealedSecret: 'sealed',
    changedBy: 'ada',
    changedAt: 0,
  });
  const names = Array.from({ length: NOTIFICATIONS_MAX + 8 }, (_, index) => `n${index}`);
  for (const name of names) await store.putNotification({ name, settings, paused: null });
  const list = new NotificationList(store);
  await list.refresh();
  expect(list.all.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});
