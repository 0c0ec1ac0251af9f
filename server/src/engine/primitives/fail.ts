import { toText } from '../values/convert-input.js';
import { optional, primitive, required, StepFailedError } from './primitive.js';

/** Fails on purpose. It is never retried, because the same inputs would fail again. */
export const fail = primitive({
  enter(_run, _pointer, inputs) {
    throw new StepFailedError({
      type: optional(inputs, 'Type', toText, 'Failed'),
      message: required(inputs, 'Message', toText),
      data: inputs['Data'] ?? null,
    });
  },
});
