import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { ActivitiesPage } from './activities-page.js';
import { ActivityPage } from './activity-page.js';

/** `/activities` and `/activities/<name>`. */
export function ActivitiesRoutes(): ReactNode {
  const [, name = ''] = usePathParts();
  return name === '' ? <ActivitiesPage /> : <ActivityPage key={name} name={name} />;
}
