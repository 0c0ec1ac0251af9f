/** The contents of a commit of an instance. */
import type { Instance } from '../../engine/model/instance.js';
import { stateVersionOf } from '../../engine/model/snapshot.js';
import { waitsForStart } from '../../engine/session/pointer-states.js';
import type { InstanceCommit } from '../../store/records/instances.js';
import type { Announcement } from '../notifications/change-announcer.js';
import { hasUnderWay } from '../instance-state/under-way.js';
import { timesOf } from '../instance-state/new-instance.js';
import type { UnsavedChanges } from '../instance-state/unsaved-changes.js';

export interface CommitParts extends Pick<
  InstanceCommit,
  | 'epoch'
  | 'inSeq'
  | 'revision'
  | 'wakeAt'
  | 'crashes'
  | 'state'
  | 'indexChange'
  | 'version'
  | 'retentionMs'
  | 'queued'
  | 'takesPlace'
  | 'window'
> {
  readonly now: number;
  readonly unsaved: UnsavedChanges;
  readonly announcement: Pick<Announcement, 'deliveries'>;
}

export function commitOf(
  instance: Instance,
  { announcement, now, unsaved, ...expected }: CommitParts,
): InstanceCommit {
  return {
    id: instance.id,
    ...expected,
    status: instance.status,
    outcome: instance.outcome,
    ...timesOf(instance, now),
    underWay: hasUnderWay(instance),
    schemaVersion: stateVersionOf(instance),
    ...(unsaved.repairs.length > 0 && { audit: unsaved.repairs }),
    side: unsaved.side,
    ...(announcement.deliveries.length > 0 && { deliveries: announcement.deliveries }),
    ...unsaved.removals,
    ...(unsaved.slots !== undefined && { slots: unsaved.slots }),
  };
}

/** Whether modifications may have let an instance begin before its start time. */
export function beginsByRepair(
  { pointers }: Instance,
  { repairs }: Pick<UnsavedChanges, 'repairs'>,
): boolean {
  if (repairs.length === 0) return false;
  return ![...pointers.values()].some(({ state }) => waitsForStart(state));
}

/** One that begins holds a place, also if a modification lets it begin. */
export function queueChange(queued: boolean): Pick<InstanceCommit, 'queued' | 'takesPlace'> {
  return queued ? { queued } : { queued, takesPlace: true };
}
