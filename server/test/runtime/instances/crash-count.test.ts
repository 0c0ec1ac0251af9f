/** The effect of a commit on the crash count. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { CrashCount } from '../../../src/runtime/instances/crash-count.js';
import { define } from '../../engine/support/define.js';
import { START_MS } from '../../engine/support/engine-driver.js';

function instanceOf() {
  const definition = define([{ id: 'only', stepType: 'NoOp' }]);
  const start = { id: 'w', data: {}, reference: null, parent: null };
  return startSession(definition, start, START_MS).instance;
}

it('clears the count at a commit after which the instance is idle', () => {
  const instance = instanceOf();
  expect(new CrashCount(3, instance).next(instance, false)).toBe(0);
});

it('keeps the count at a commit after which the instance continues at once', () => {
  const instance = instanceOf();
  expect(new CrashCount(3, instance).next(instance, true)).toBe(3);
  expect(new CrashCount(0, instance).next(instance, true)).toBe(0);
});
