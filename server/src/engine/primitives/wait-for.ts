import { toDurationMs, toEventKey, toName, toTimeMs } from '../values/convert-input.js';
import { executionKey } from '../model/pointer.js';
import { setState } from '../session/pointer-states.js';
import { optional, primitive, required } from './primitive.js';

/** Waits for an event of a name and key. */
export const waitFor = primitive({
  enter(session, pointer, inputs) {
    const name = required(inputs, 'EventName', toName);
    const key = required(inputs, 'EventKey', toEventKey);
    const effectiveAt = optional(inputs, 'EffectiveDate', toTimeMs, session.instance.startTime);
    const timeoutMs = optional<number | null>(inputs, 'Timeout', toDurationMs, null);
    const until = timeoutMs === null ? null : session.now + timeoutMs;
    setState(session, pointer, { kind: 'event', name, key, effectiveAt, until, looked: false });
    const id = executionKey(session.instance.id, pointer);
    session.changes.subscriptions.push({ id, pointerId: pointer.id, name, key, effectiveAt });
  },
});
