/** The stored state of an instance that is set aside, with the reason where users see it. */
import { readStored, writeStored } from '../instances/long-states.js';
import { noSideRecords } from '../instances/unsaved-changes.js';
import type { InstanceCommit, InstanceRecord } from '../../store/records/instances.js';

export interface SetAsideReason {
  readonly type: string;
  readonly message: string;
  readonly time: number;
}

/** Suspends the instance with the reason. */
export async function setAsideCommit(
  record: InstanceRecord,
  reason: SetAsideReason,
): Promise<Omit<InstanceCommit, 'owner'>> {
  const { epoch, id, inSeq, revision, schemaVersion } = record;
  return {
    id,
    epoch,
    inSeq,
    revision,
    status: 'Suspended',
    endTime: null,
    outcome: null,
    lastChangeAt: reason.time,
    // A state that cannot be read cannot show the error, but the instance can be found by it.
    errorAt: reason.time,
    wakeAt: null,
    underWay: false,
    state: await withError(record, reason),
    schemaVersion,
    keepInbox: true,
    side: noSideRecords(),
    removeSubscriptions: [],
    removeActivities: [],
    settleActivities: [],
  };
}

/** The state with the reason in it, where it can be read at all. */
async function withError(record: InstanceRecord, reason: SetAsideReason): Promise<string> {
  try {
    const instance = await readStored(record);
    instance.lastError = {
      stepId: '',
      pointerId: 0,
      traceback: null,
      data: null,
      attempt: 1,
      ...reason,
    };
    return await writeStored(instance);
  } catch {
    return record.state;
  }
}
