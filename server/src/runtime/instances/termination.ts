/** Requests the termination of an instance with compensation. Repeated requests have no further effect. */
import type { AuditEntry, ControlResult } from '../../store/records/control.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { Store } from '../../store/store.js';
import { loadInstance } from '../instance-state/instance-views.js';
import { inboxMessage } from '../instance-state/message-codec.js';

/** The phrase for it in the audit. */
export const WITH_COMPENSATION = 'with compensation';

/** The same id for each request, so that the inbox of an instance contains at most one. */
function cleanUpMessage(graceUntil: number | undefined): InboxMessage {
  return inboxMessage('clean-up', {
    kind: 'clean-up',
    ...(graceUntil !== undefined && { graceUntil }),
  });
}

/**
 * @param graceUntil when work in flight is given up; default: 10 minutes after the instance takes the request
 * @throws AppError `internal` if the state of the instance cannot be read
 */
export async function compensateInstance(
  store: Pick<Store, 'controlInstance' | 'getInstance'>,
  id: string,
  audit: AuditEntry,
  graceUntil?: number,
): Promise<ControlResult> {
  const record = await store.getInstance(id);
  if (record === null) return { outcome: 'missing' };
  // If a user has suspended it in the meantime, the user decides when it continues.
  if (record.endTime !== null || (await loadInstance(record)).cleanUp !== null) {
    return { outcome: 'refused', record };
  }
  return store.controlInstance(id, 'compensate', audit.time, audit, cleanUpMessage(graceUntil));
}
