/** Answers that no caller waits for must not prevent a commit. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { keepAnswer } from '../../../src/engine/repair/answers.js';
import {
  InstanceCommitter,
  type CommitterParts,
} from '../../../src/runtime/instances/instance-committer.js';
import { InstanceTooLargeError } from '../../../src/runtime/passes/instance-bounds.js';
import { define } from '../../engine/support/define.js';
import { waitFor } from '../../engine/support/steps.js';

it('writes a state that only old answers make too long', () => {
  const begin = { id: 'w', data: {}, reference: null, parent: null };
  const run = startSession(define([waitFor('a')]), begin, 0);
  const started = [{ executionId: 1, stepId: 'x'.repeat(20_000) }];
  keepAnswer(run, {
    id: 'modify/1',
    result: { outcome: 'applied', cancelled: [], started, warnings: [] },
  });
  let now = 1;
  const environment = { limits: { instanceLengthMax: 10_000 }, clock: { now: () => now } };
  const parts = { environment } as unknown as CommitterParts;
  const committer = new InstanceCommitter(parts, run, {
    kind: 'new',
    insert: async () => 'inserted-before',
  });
  expect(() => committer.assertWritable()).toThrow(InstanceTooLargeError);
  now = 60_001;
  expect(() => committer.assertWritable()).not.toThrow();
});
