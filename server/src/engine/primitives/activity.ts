import { toDurationMs, toName, toTimeMs } from '../values/convert-input.js';
import { executionKey } from '../model/pointer.js';
import { setState } from '../session/pointer-states.js';
import { optional, primitive, required } from './primitive.js';

/** Offers work to external workers and waits for the result. */
export const activity = primitive({
  enter(session, pointer, inputs) {
    const name = required(inputs, 'ActivityName', toName);
    const parameters = inputs['Parameters'] ?? null;
    // Accepted for compatibility and ignored: it used to filter recorded results by date, but now each result belongs to one
    // token.
    optional(inputs, 'EffectiveDate', toTimeMs, 0);
    const timeoutMs = optional<number | null>(inputs, 'Timeout', toDurationMs, null);
    const until = timeoutMs === null ? null : session.now + timeoutMs;
    setState(session, pointer, { kind: 'activity', name, until });
    const { attempt, stepId, undone } = pointer;
    const id = executionKey(session.instance.id, pointer);
    const again = undone === undefined ? {} : { undone };
    const needs = pointer.slots === undefined ? {} : { needs: pointer.slots.needs };
    session.changes.activities.push({ id, stepId, attempt, ...again, name, parameters, ...needs });
  },
});
