/** The maximum size of an instance: `instance_bytes_max` counts the stored bytes. */
import { describe, expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { writeState } from '../../../src/engine/model/snapshot.js';
import { InstanceTooLargeError, StateLength } from '../../../src/runtime/passes/instance-bounds.js';
import { define } from '../../engine/support/define.js';

describe('the size of a stored state', () => {
  it.each(['plain', 'Größe', '漢字 😀', '"quoted"\n'])(
    'is measured in bytes of UTF-8, with data such as %j',
    (text) => {
      const run = startSession(
        define([{ id: 'only', stepType: 'NoOp' }]),
        { id: 'w', data: { text: text.repeat(1000) }, reference: null, parent: null },
        0,
      );
      const bytes = Buffer.byteLength(writeState(run.instance));

      const fits = new StateLength(bytes, bytes);
      fits.assertWritable(run);
      expect(fits.value).toBe(bytes);

      const tooLarge = new StateLength(bytes, bytes - 1);
      expect(() => tooLarge.assertWritable(run)).toThrow(InstanceTooLargeError);
    },
  );
});
