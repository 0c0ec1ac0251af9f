/** Writes a repair of an ended instance, which has no actor, by one compare-and-set. */
import type { Instance } from '../../../engine/model/instance.js';
import type { InstanceRecord } from '../../../store/records/instances.js';
import type { Store } from '../../../store/store.js';
import { commitOf, queueChange } from '../../instances/instance-commit.js';
import { IndexTracker } from '../../instance-state/index-tracker.js';
import { writeStored } from '../../instance-state/long-states.js';
import { windowChangeOf } from '../../instance-state/stored-window.js';
import { UnsavedChanges } from '../../instance-state/unsaved-changes.js';
import { wakeTimeOf } from '../../instance-state/wake-time.js';
import type { PlanOptions, RepairPlan } from './repair-plan.js';

/** True if runs that wait for the end of this one have yet to be notified. */
export function hasUnsentEnd({ outbox }: Instance): boolean {
  return outbox.some(({ kind }) => kind === 'child-ended');
}

/** No work is offered before the instance has been loaded. */
const NO_WORKERS = {
  reserve: () => null,
  release: () => undefined,
  refused: () => undefined,
};

/** @returns the record after the repair; null if the instance has changed, and nothing was written */
export async function commitRepair(
  { now, session }: RepairPlan,
  {
    environment,
    record,
    store,
  }: {
    readonly record: InstanceRecord;
    readonly store: Pick<Store, 'commitInstance'>;
    readonly environment: PlanOptions['environment'];
  },
): Promise<InstanceRecord | null> {
  const { instance } = session;
  const unsaved = new UnsavedChanges();
  unsaved.collect(session, NO_WORKERS);
  const paths = await environment.indexPaths(session.definition);
  const indexChange = new IndexTracker().changeOf(instance, paths);
  instance.index = indexChange?.after ?? instance.index;
  const announcement = environment.announce(instance);
  const { epoch, inSeq, queued, revision, version } = record;
  const { retentionMs } = session.definition;
  const windowChange = await windowChangeOf(instance, record, now);
  const commit = commitOf(instance, {
    epoch,
    inSeq,
    revision,
    now,
    wakeAt: wakeTimeOf(session, false),
    crashes: 0,
    state: await writeStored(instance),
    ...(indexChange !== undefined && { indexChange }),
    ...(instance.version !== version && { version: instance.version, retentionMs }),
    // It may have been terminated while it was queued. It isn't held up, and counts.
    ...windowChange,
    ...((queued || instance.concurrencyKey !== null) && queueChange(false)),
    unsaved,
    announcement,
  });
  if ((await store.commitInstance(commit)) === 'lost') return null;
  announcement.written();
  const { errorAt, failingSince, failure, lastChangeAt, outcome, state, status, endTime } = commit;
  return {
    ...record,
    version: instance.version,
    retentionMs,
    queued: false,
    debounceKey: null,
    countsFrom: commit.window?.countsFrom ?? record.countsFrom,
    index: indexChange?.after ?? record.index,
    status,
    outcome,
    endTime,
    lastChangeAt,
    errorAt,
    failingSince,
    failure,
    state,
    inbox: [],
    revision: revision + 1,
  };
}
