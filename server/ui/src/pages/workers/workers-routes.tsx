import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { WorkerPage } from './worker-page.js';
import { WorkersPage } from './workers-page.js';

/** `/workers` and `/workers/<id>`. */
export function WorkersRoutes(): ReactNode {
  const [, workerId = ''] = usePathParts();
  return workerId === '' ? <WorkersPage /> : <WorkerPage key={workerId} workerId={workerId} />;
}
