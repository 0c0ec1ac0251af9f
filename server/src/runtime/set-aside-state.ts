/** The stored state of an instance that is set aside, with the reason where users see it. */
import { readState, writeState } from '../engine/snapshot.js';
import { noSideRecords } from './unsaved-changes.js';
import type { InstanceCommit, InstanceRecord } from '../store/store.js';

export interface SetAsideReason {
  readonly type: string;
  readonly message: string;
  readonly time: number;
}

/** Suspends the instance with the reason. */
export function setAsideCommit(
  record: InstanceRecord,
  reason: SetAsideReason,
): Omit<InstanceCommit, 'owner'> {
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
    state: withError(record, reason),
    schemaVersion,
    keepInbox: true,
    side: noSideRecords(),
    removeSubscriptions: [],
    removeActivities: [],
    settleActivities: [],
  };
}

/** The state with the reason in it, where it can be read at all. */
function withError(record: InstanceRecord, reason: SetAsideReason): string {
  try {
    const instance = readState(record, record.state);
    instance.lastError = {
      stepId: '',
      pointerId: 0,
      traceback: null,
      data: null,
      attempt: 1,
      ...reason,
    };
    return writeState(instance);
  } catch {
    return record.state;
  }
}
