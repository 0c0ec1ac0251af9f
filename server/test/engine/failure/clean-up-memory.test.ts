/** What an instance remembers for a clean-up, and how it counts the progress of one. */
import { describe, expect, it } from 'vitest';
import { beginCleanUp } from '../../../src/engine/failure/clean-up.js';
import { compensatedCount } from '../../../src/engine/session/clean-up-plan.js';
import {
  COMPLETED_ITEMS_LENGTH_MAX,
  COMPLETED_STEPS_MAX,
  noteCompleted,
} from '../../../src/engine/failure/completed-steps.js';
import type { Json } from '../../../src/engine/values/json.js';
import { completeIfDone } from '../../../src/engine/session/end-path.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import type { Session } from '../../../src/engine/session/session.js';
import { readState, writeState } from '../../../src/engine/model/snapshot.js';
import { define } from '../support/define.js';
import { START_MS } from '../support/engine-driver.js';
import { undoable } from '../support/steps.js';

describe('the record of completed steps for a clean-up', () => {
  /** An instance in which one step has completed this often, each time with a different item. */
  const completedOften = (count: number, itemOf: (index: number) => Json): Session => {
    const definition = define([undoable('a')]);
    const start = { id: 'w', data: {}, reference: null, parent: null };
    const run = startSession(definition, start, START_MS);
    const [pointer] = run.instance.pointers.values();
    for (let index = 0; index < count; index += 1) {
      noteCompleted(run, { ...pointer!, item: itemOf(index), index });
    }
    return run;
  };

  it('keeps the newest steps, and counts the dropped ones', () => {
    const run = completedOften(COMPLETED_STEPS_MAX + 3, (index) => index);
    beginCleanUp(run, 'Runnable', START_MS);
    completeIfDone(run);
    const { cleanUp } = run.instance;
    expect(cleanUp?.forgotten).toBe(3);
    expect(cleanUp?.plan).toHaveLength(COMPLETED_STEPS_MAX);
    expect(cleanUp?.plan?.at(-1)?.item).toBe(3);
  });

  it('limits the length of each item', () => {
    const item = 'x'.repeat(COMPLETED_ITEMS_LENGTH_MAX / 4);
    const { instance } = completedOften(5, () => item);
    expect(instance.completed.map(({ index }) => index)).toEqual([2, 3, 4]);
    const read = readState(instance, writeState(instance));
    expect(read.completed).toEqual(instance.completed);
    expect(read.completedItemsLength).toBe(instance.completedItemsLength);
    expect(read.forgotten).toBe(2);
  });
});

describe('the progress of a clean-up', () => {
  it('counts the chains that have ended', () => {
    const entry = { stepId: 'a' };
    const at = (next: number) => ({ plan: [entry, entry], next, forgotten: 0 });
    // Steps that were in progress before do not count.
    expect(compensatedCount(at(0), 3)).toBe(0);
    expect(compensatedCount(at(1), 1)).toBe(0);
    expect(compensatedCount(at(1), 0)).toBe(1);
    expect(compensatedCount(at(2), 1)).toBe(1);
    expect(compensatedCount(at(2), 0)).toBe(2);
  });
});
