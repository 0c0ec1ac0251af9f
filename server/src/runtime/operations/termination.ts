/** Asks for the termination of an instance with compensation: once, however often it is asked for. */
import type { AuditEntry, ControlResult } from '../../store/records/control.js';
import type { Store } from '../../store/store.js';
import { loadInstance } from './instance-views.js';
import { inboxMessage } from '../instances/message-codec.js';

/** The words for it in the record of actions. */
export const WITH_COMPENSATION = 'with compensation';

/** The same for each request, so that an instance has one of them in its inbox at most. */
const MESSAGE = inboxMessage('clean-up', { kind: 'clean-up' });

/** @throws AppError `internal` when the state of the instance cannot be read */
export async function compensateInstance(
  store: Pick<Store, 'controlInstance' | 'getInstance'>,
  id: string,
  audit: AuditEntry,
): Promise<ControlResult> {
  const record = await store.getInstance(id);
  if (record === null) return { outcome: 'missing' };
  // Whoever suspended it meanwhile decides when it goes on.
  if (record.endTime !== null || (await loadInstance(record)).cleanUp !== null) {
    return { outcome: 'refused', record };
  }
  return store.controlInstance(id, 'compensate', audit.time, audit, MESSAGE);
}
