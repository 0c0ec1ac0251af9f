import { toText } from '../convert-input.js';
import { EMIT_LEVELS } from '../input-choices.js';
import { finish } from '../run.js';
import { InputError, optional, primitive } from './primitive.js';

/** Writes one structured log line; it is written after the commit, so never twice. */
export const emitLog = primitive({
  enter(run, pointer, inputs) {
    const message = inputs['Message'] ?? null;
    const wanted = optional(inputs, 'Level', toText, 'Information').trim();
    const lowerCase = wanted.toLowerCase();
    const level = EMIT_LEVELS.find((candidate) => candidate.toLowerCase() === lowerCase);
    if (level === undefined) {
      throw new InputError(
        `the input Level: '${wanted.slice(0, 50)}' is none of ${EMIT_LEVELS.join(', ')}`,
      );
    }
    run.changes.logLines.push({ stepId: pointer.stepId, pointerId: pointer.id, level, message });
    finish(run, pointer, { Message: message, Level: level });
  },
});
