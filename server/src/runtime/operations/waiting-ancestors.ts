/**
 * The instances that wait for a new child: the one whose step starts it, and all that wait for that one in turn. The step must
 * not wait for any of them, and the start of the child must not terminate any of them, because the child would then also be
 * terminated.
 */
import type { ParentLink } from '../../engine/model/instance.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';

type Records = Pick<Store, 'getInstance'>;

/** True if the end of this instance depends on the end of the child. */
export async function waitsForChild(
  store: Records,
  { waiting = 0, workflowId }: ParentLink,
  instanceId: string,
): Promise<boolean> {
  let id: string | null = workflowId;
  // The number of waits is limited, see the SubWorkflow step.
  for (let left = waiting; left > 0 && id !== null; left -= 1) {
    if (id === instanceId) return true;
    // The last one's parent doesn't wait.
    const record: InstanceRecord | null = left === 1 ? null : await store.getInstance(id);
    id = record?.parentId ?? null;
  }
  return false;
}

/** The first open instance with this definition and reference that waits for the child. */
export async function findWaitingWith(
  store: Records,
  { waiting = 0, workflowId }: ParentLink,
  { definitionId, reference }: Pick<InstanceRecord, 'definitionId' | 'reference'>,
): Promise<InstanceRecord | null> {
  let id: string | null = workflowId;
  for (let left = waiting; left > 0 && id !== null; left -= 1) {
    const record: InstanceRecord | null = await store.getInstance(id);
    if (record === null) return null;
    const isNamed = record.definitionId === definitionId && record.reference === reference;
    if (isNamed && record.endTime === null) return record;
    id = record.parentId;
  }
  return null;
}
