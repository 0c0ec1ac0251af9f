/** The stored state of a quarantined instance, with the reason where users see it. */
import { describeFailure } from '../instances/instance-failure.js';
import { readStored, writeStored } from '../instances/long-states.js';
import { noSideRecords } from '../instances/unsaved-changes.js';
import type { InstanceCommit, InstanceRecord } from '../../store/records/instances.js';

export interface SetAsideReason {
  readonly type: string;
  readonly message: string;
  readonly time: number;
}

/** The commit that suspends the instance with the reason. */
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
    // An unreadable state cannot show the error, but the error makes the instance findable.
    errorAt: reason.time,
    failure: describeFailure(record.definitionId, { stepId: '', ...reason }),
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

/** The state with the reason added, if it can be read. */
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
