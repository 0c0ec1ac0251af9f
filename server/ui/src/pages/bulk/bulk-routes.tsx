import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { BulkJobPage } from './bulk-job-page.js';
import { BulkJobsPage } from './bulk-jobs-page.js';

export function BulkRoutes(): ReactNode {
  const [, id = ''] = usePathParts();
  return id === '' ? <BulkJobsPage /> : <BulkJobPage key={id} id={id} />;
}
