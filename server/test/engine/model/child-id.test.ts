import { describe, expect, it } from 'vitest';
import { childIdOf, parentLinkOf } from '../../../src/engine/model/child-id.js';
import type { ParentLink } from '../../../src/engine/model/instance.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { subWorkflow } from '../../../src/engine/primitives/effects.js';
import { define } from '../support/define.js';
import { subWorkflow as step } from '../support/steps.js';

const ROOT = '01m7ze7xjz0000q8p9m5pg2pa9';

describe('the id of a child', () => {
  it('consists of the id of its parent and the execution that starts it', () => {
    expect(childIdOf(ROOT, { id: 7, attempt: 2 })).toBe(`${ROOT}.7.2`);
  });

  it('stays short and unique over any number of generations', () => {
    const ids = new Set<string>();
    let id = ROOT;
    for (let generation = 0; generation < 1000; generation += 1) {
      id = childIdOf(id, { id: 123_456, attempt: 1 });
      // Every call accepts an id of up to 200 characters, and the token of an activity may have up to 300 bytes.
      expect(id.length).toBeLessThanOrEqual(120);
      ids.add(id);
    }
    expect(ids.size).toBe(1000);
  });

  it('differs between executions, and is the same for the same execution', () => {
    const long = `${ROOT}${'.123456.1'.repeat(11)}`;
    const ids = [1, 2, 3, 12, 21].map((id) => childIdOf(long, { id, attempt: 1 }));
    expect(new Set(ids).size).toBe(5);
    expect(childIdOf(long, { id: 1, attempt: 1 })).toBe(ids[0]);
  });
});

describe('a workflow that starts itself', () => {
  /** The number of generations, including the first, before a start fails; at most `max`. */
  function generations(wait: boolean, max: number): { count: number; failure: string | null } {
    let parent: ParentLink | null = null;
    let id = ROOT;
    for (let count = 1; count <= max; count += 1) {
      const run = startSession(
        define([step('self')]),
        { id, data: {}, reference: null, parent },
        0,
      );
      const [pointer] = run.instance.pointers.values();
      try {
        subWorkflow.enter(run, pointer!, { DefinitionId: 'self', Wait: wait });
      } catch (error) {
        return { count, failure: (error as Error).message };
      }
      id = childIdOf(id, pointer!);
      parent = parentLinkOf(run.instance, pointer!, wait);
    }
    return { count: max, failure: null };
  }

  it('reaches a limit if it waits for its children', () => {
    expect(generations(true, 1000)).toEqual({
      count: 51,
      failure:
        '50 runs are already waiting for one another, the maximum; check for a workflow that starts itself',
    });
  });

  it('has no limit if it does not wait', () => {
    expect(generations(false, 1000)).toEqual({ count: 1000, failure: null });
  });

  it('does not count generations from before the count was recorded', () => {
    const parent = { workflowId: 'p', pointerId: 1, attempt: 1 };
    const pointer = { id: 2, attempt: 1, stepId: 'self' };
    expect(parentLinkOf({ id: ROOT, parent }, pointer, true)).toMatchObject({ waiting: 1 });
  });
});
