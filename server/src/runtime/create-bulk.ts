/** Connects the services of bulk jobs. */
import type { ApiKeyVerifier } from './access/api-key-verifier.js';
import { BulkActions, type BulkActionsOptions } from './bulk/bulk-actions.js';
import { BulkJobs, type BulkJobsOptions } from './bulk/bulk-jobs.js';
import { BulkRunner, type BulkRunnerOptions } from './bulk/bulk-runner.js';

type BulkOptions = Omit<BulkRunnerOptions, 'actions' | 'isBusy'> &
  Omit<BulkJobsOptions, 'runner' | 'nodeId' | 'keyStateOf'> &
  BulkActionsOptions & {
    readonly access: { readonly verifier: Pick<ApiKeyVerifier, 'stateOf'> };
    readonly environment: { readonly queued: number };
  };

export interface BulkServices {
  readonly runner: BulkRunner;
  readonly jobs: BulkJobs;
}

export function createBulk(options: BulkOptions): BulkServices {
  const { access, environment, nodes } = options;
  const actions = new BulkActions(options);
  const runner = new BulkRunner({ ...options, actions, isBusy: () => environment.queued > 0 });
  const keyStateOf = (id: string) => access.verifier.stateOf(id);
  return { runner, jobs: new BulkJobs({ ...options, nodeId: nodes.id, runner, keyStateOf }) };
}
