import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { LimitPage } from './limit-page.js';
import { LimitsPage } from './limits-page.js';

/** `/limits` and `/limits/<name>`. */
export function LimitsRoutes(): ReactNode {
  const [, name = ''] = usePathParts();
  return name === '' ? <LimitsPage /> : <LimitPage key={name} name={name} />;
}
