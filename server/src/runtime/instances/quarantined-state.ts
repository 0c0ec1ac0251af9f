/** The stored state of a quarantined instance, with a reason that users see. */
import { describeFailure } from '../instance-state/instance-failure.js';
import { readStored, writeStored } from '../instance-state/long-states.js';
import { noSideRecords } from '../instance-state/unsaved-changes.js';
import type { Announcement } from '../notifications/change-announcer.js';
import type { OutboxMessage, Instance } from '../../engine/model/instance.js';
import type { InstanceCommit, InstanceRecord } from '../../store/records/instances.js';

export interface QuarantineCause {
  readonly type: string;
  readonly message: string;
  readonly time: number;
}

/** The announcements about the instance to others. */
type Announce = (instance: Instance) => Announcement;

/** No announcements. */
const SILENT = { deliveries: [], written: () => undefined };

/** A quarantined instance sends only these messages, which its next run repeats. */
export interface QuarantinedState {
  readonly commit: Omit<InstanceCommit, 'owner'>;
  readonly instance: Instance | null;
  readonly messages: readonly OutboxMessage[];
  /** Call it once the commit is stored. */
  readonly written: () => void;
}

/** The commit that suspends the instance with the reason. */
export async function quarantinedState(
  record: InstanceRecord,
  reason: QuarantineCause,
  announce: Announce,
): Promise<QuarantinedState> {
  const { announcement, instance, state } = await withError(record, reason, announce);
  const { deliveries, written } = announcement ?? SILENT;
  const commit = {
    ...setAsideCommit(record, reason, state),
    ...(deliveries.length > 0 && { deliveries }),
  };
  const messages = instance?.outbox.filter(({ kind }) => kind === 'notify') ?? [];
  return { commit, instance, messages, written };
}

function setAsideCommit(
  record: InstanceRecord,
  reason: QuarantineCause,
  state: string,
): QuarantinedState['commit'] {
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
    // An unreadable state can't contain the error, but the error makes the instance findable.
    errorAt: reason.time,
    failingSince: null,
    failure: describeFailure(record.definitionId, { stepId: '', ...reason }),
    wakeAt: null,
    underWay: false,
    state,
    schemaVersion,
    keepInbox: true,
    side: noSideRecords(),
    removeSubscriptions: [],
    removeActivities: [],
    settleActivities: [],
  };
}

/** The state with the reason added, if it can be read. */
async function withError(
  record: InstanceRecord,
  reason: QuarantineCause,
  announce: Announce,
): Promise<{
  readonly state: string;
  readonly instance: Instance | null;
  readonly announcement: Announcement | null;
}> {
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
    instance.status = 'Suspended';
    const announcement = announce(instance);
    return { state: await writeStored(instance), instance, announcement };
  } catch {
    return { state: record.state, instance: null, announcement: null };
  }
}
