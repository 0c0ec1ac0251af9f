import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { NotificationPage } from './notification-page.js';
import { NotificationsPage } from './notifications-page.js';

/** `/notifications` and `/notifications/<name>`. */
export function NotificationsRoutes(): ReactNode {
  const [, name = ''] = usePathParts();
  return name === '' ? <NotificationsPage /> : <NotificationPage key={name} name={name} />;
}
