/** Which changes of an instance others may want to be told about, and which of them a commit contains. */
import type { InstanceChange, ToldStatus } from '../model/instance-change.js';
import type { Instance } from '../model/instance.js';

/** `failed`: an error ended it. `terminated`: a person or another run did. */
export function statusToTell({
  outcome,
  status,
}: Pick<Instance, 'outcome' | 'status'>): ToldStatus {
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

/** What has changed since others could be told last, in order. */
export function untoldChanges(instance: Instance): readonly InstanceChange[] {
  const { told } = instance;
  const now = statusToTell(instance);
  const changes: InstanceChange[] = told === 'new' ? ['started'] : [];
  if (now !== told && now !== 'running' && now !== 'new') changes.push(now);
  return changes;
}
