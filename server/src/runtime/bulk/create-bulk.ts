/** Connects the services of bulk jobs. */
import { BulkActions, type BulkActionsOptions } from './bulk-actions.js';
import { BulkJobs, type BulkJobsOptions } from './bulk-jobs.js';
import { BulkRunner, type BulkRunnerOptions } from './bulk-runner.js';

type BulkOptions = Omit<BulkRunnerOptions, 'actions' | 'isBusy'> &
  Omit<BulkJobsOptions, 'runner' | 'nodeId'> &
  BulkActionsOptions & { readonly environment: { readonly queued: number } };

export interface BulkServices {
  readonly runner: BulkRunner;
  readonly jobs: BulkJobs;
}

export function createBulk(options: BulkOptions): BulkServices {
  const { environment, nodes } = options;
  const actions = new BulkActions(options);
  const runner = new BulkRunner({ ...options, actions, isBusy: () => environment.queued > 0 });
  return { runner, jobs: new BulkJobs({ ...options, nodeId: nodes.id, runner }) };
}
