/** Removes ended instances at a user's request. */
import { AppError } from '../../base/errors.js';
import { sleep, type Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceQueries } from './instance-queries.js';
import type { InstanceView } from '../model/instance-types.js';
import { listItem, viewInstance } from '../instance-state/instance-views.js';

export interface InstancePurgesOptions {
  readonly store: Pick<Store, 'removeInstances'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'instancesRemoved'>;
  readonly queries: Pick<InstanceQueries, 'read'>;
}

/** How long a purge waits for others, such as the parent, to be notified of the end. */
const REPORT_MS = 5000;
const PAUSE_MS = 20;

interface Found {
  readonly record: Pick<InstanceRecord, 'id' | 'inSeq' | 'revision' | 'wakeAt' | 'parentId'>;
  readonly view: InstanceView;
}

export class InstancePurges {
  readonly #options: InstancePurgesOptions;

  constructor(options: InstancePurgesOptions) {
    this.#options = options;
  }

  /**
   * Removes an ended instance with all its records, and returns its last state.
   *
   * @throws AppError `workflow_not_found`, `action_conflict` if it is open, or if its parent waits for its result
   */
  async purge(id: string, actor: string): Promise<InstanceView> {
    const { clock, logger, metrics, queries, store } = this.#options;
    const reportUntil = clock.now() + REPORT_MS;
    for (;;) {
      const { record, view } = await queries.read(id, findEnded);
      const isReporting = record.wakeAt !== null;
      if (isReporting && clock.now() < reportUntil) {
        await sleep(this.#options.clock, PAUSE_MS);
        continue;
      }
      // Without a parent, the report of an instance that can't run isn't needed.
      if (isReporting && record.parentId !== null) throw notReported(view);
      if ((await store.removeInstances([record])).removed === 0) continue;
      metrics.instancesRemoved('purge', 1);
      logger.info({ workflowId: id, definitionId: view.definitionId, actor }, 'a run was purged');
      return view;
    }
  }
}

async function findEnded(record: InstanceRecord): Promise<Found> {
  const { id, inSeq, parentId, revision, wakeAt } = record;
  if (record.endTime === null) throw stillOpen(record);
  return { record: { id, inSeq, parentId, revision, wakeAt }, view: await viewEnded(record) };
}

/** An instance with an unreadable state can also be purged. */
async function viewEnded(record: InstanceRecord): Promise<InstanceView> {
  try {
    return await viewInstance(record);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...listItem(record), data: {}, debounce: null, lastError: null, parent: null };
  }
}

function stillOpen({ id, status }: InstanceRecord): AppError {
  return new AppError(
    'action_conflict',
    `A run that is ${status} cannot be purged: terminate it first`,
    { fields: { workflowId: id, workflowStatus: status } },
  );
}

function notReported({ id, status }: InstanceView): AppError {
  return new AppError(
    'action_conflict',
    'The parent of the run has not received its result yet: try again later',
    { fields: { workflowId: id, workflowStatus: status } },
  );
}
