/** The stored state of an instance that is set aside, with the reason where users see it. */
import { readState, writeState } from '../engine/snapshot.js';
import type { InstanceRecord } from '../store/store.js';

/** The state with the reason in it, where it can be read at all. */
export function withError(
  record: InstanceRecord,
  error: { readonly type: string; readonly message: string; readonly time: number },
): string {
  try {
    const instance = readState(record, record.state);
    instance.lastError = {
      stepId: '',
      pointerId: 0,
      traceback: null,
      data: null,
      attempt: 1,
      ...error,
    };
    return writeState(instance);
  } catch {
    return record.state;
  }
}
