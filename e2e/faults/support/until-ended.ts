import { eventually } from './eventually.js';
import type { PersistentClient } from './persistent-client.js';
import type { Instance } from './wire.js';

/** Waits until the instance has ended, in any way. @throws Error if it does not end within the limit */
export function untilEnded(
  client: PersistentClient,
  workflowId: string,
  limitMs = 150_000,
): Promise<Instance> {
  const read = async (): Promise<Instance | false> => {
    const { body } = await client.call('GET', `/api/workflow/${workflowId}?wait=5`);
    const instance = body as Instance;
    return ['Complete', 'Terminated'].includes(instance.status) && instance;
  };
  return eventually(`${workflowId} ends`, read, limitMs);
}
