/** The status changes of an instance that notifications announce, and the ones that a commit contains. */
import type { InstanceChange, AnnouncedStatus } from '../model/instance-change.js';
import type { Instance } from '../model/instance.js';

/** `failed`: an error ended it. `terminated`: a user or another run ended it. */
export function statusToAnnounce({
  outcome,
  status,
}: Pick<Instance, 'outcome' | 'status'>): AnnouncedStatus {
  switch (status) {
    case 'Runnable':
      return 'running';
    case 'Suspended':
      return 'suspended';
    case 'Complete':
      return 'completed';
    case 'Terminated':
      return outcome === 'Terminated' ? 'terminated' : 'failed';
  }
}

/** The changes since the last announcement, in order. */
export function unannouncedChanges(instance: Instance): readonly InstanceChange[] {
  const { told } = instance;
  const now = statusToAnnounce(instance);
  const changes: InstanceChange[] = told === 'new' ? ['started'] : [];
  if (now !== told && now !== 'running' && now !== 'new') changes.push(now);
  return changes;
}
