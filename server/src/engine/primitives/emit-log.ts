import { toEmitLevel } from '../values/convert-input.js';
import { finish } from '../session/pointer-states.js';
import { optional, primitive } from './primitive.js';

/** Writes one structured log line, after the commit and therefore never twice. */
export const emitLog = primitive({
  enter(session, pointer, inputs) {
    const message = inputs['Message'] ?? null;
    const level = optional(inputs, 'Level', toEmitLevel, 'Information');
    session.changes.logLines.push({
      stepId: pointer.stepId,
      pointerId: pointer.id,
      level,
      message,
    });
    finish(session, pointer, { Message: message, Level: level });
  },
});
