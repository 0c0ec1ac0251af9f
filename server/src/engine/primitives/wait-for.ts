import { toDurationMs, toEventKey, toName, toTimeMs } from '../values/convert-input.js';
import { executionKey } from '../model/pointer.js';
import { setState } from '../flow/pointer-states.js';
import { optional, primitive, required } from './primitive.js';

/** Waits for an event of a name and key. */
export const waitFor = primitive({
  enter(run, pointer, inputs) {
    const name = required(inputs, 'EventName', toName);
    const key = required(inputs, 'EventKey', toEventKey);
    const effectiveAt = optional(inputs, 'EffectiveDate', toTimeMs, run.instance.startTime);
    const timeoutMs = optional<number | null>(inputs, 'Timeout', toDurationMs, null);
    const until = timeoutMs === null ? null : run.now + timeoutMs;
    setState(run, pointer, { kind: 'event', name, key, effectiveAt, until, looked: false });
    const id = executionKey(run.instance.id, pointer);
    run.changes.subscriptions.push({ id, pointerId: pointer.id, name, key, effectiveAt });
  },
});
