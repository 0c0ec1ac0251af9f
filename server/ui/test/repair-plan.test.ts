/** Goal: what the user chooses in the repair panel becomes the modification that it stands for, and nothing else. */
import type { StepExecution, Workflow } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { readDefinition } from '../src/graph/read-definition.js';
import { patchBetween } from '../src/pages/run/repair/merge-patch.js';
import { firstPlan, missingSteps, readPlan } from '../src/pages/run/repair/repair-plan.js';

const DEFINITION = readDefinition({
  id: 'lines',
  steps: [
    { id: 'each', stepType: 'Foreach', do: [[{ id: 'price', stepType: 'NoOp' }]] },
    { id: 'total', stepType: 'NoOp' },
  ],
});

const RUN = {
  status: 'Suspended',
  version: 1,
  data: { amount: 12345678901234567890n, carrier: { name: 'A', zone: null } },
} as unknown as Workflow;

const FAILED = {
  executionId: 7,
  stepId: 'price',
  stepType: 'NoOp',
  endTime: null,
  item: 0,
  index: 3,
} as unknown as StepExecution;

describe('a merge patch between two values', () => {
  test('contains what differs, at any depth', () => {
    const before = { a: 1, b: { c: 1, d: 2 }, e: [1, 2], f: 'x', g: null };
    const after = { a: 1, b: { c: 1, d: 3 }, e: [1], h: { i: 1 }, g: null };
    expect(patchBetween(before, after)).toEqual({
      patch: { b: { d: 3 }, e: [1], f: null, h: { i: 1 } },
      lostNulls: [],
    });
    expect(patchBetween(before, before)).toEqual({ patch: null, lostNulls: [] });
    expect(patchBetween({ n: 1n }, { n: 2n })).toEqual({ patch: { n: 2n }, lostNulls: [] });
  });

  test('reports members that it would have to set to null', () => {
    expect(patchBetween({ a: { b: 1 } }, { a: { b: null }, c: { d: null } })).toEqual({
      patch: { a: { b: null }, c: {} },
      lostNulls: ['/a/b', '/c/d'],
    });
  });
});

describe('the plan of a repair', () => {
  test('runs a failed step outside containers again, and cancels everything else', () => {
    const plan = firstPlan(
      RUN,
      DEFINITION.steps,
      { ...FAILED, stepId: 'total', index: null },
      null,
    );
    expect(readPlan(plan, RUN, 1).modification).toEqual({
      cancel: ['*'],
      start: [{ stepId: 'total' }],
      resume: true,
    });
  });

  test('runs a failed item again in its container, and leaves the others alone', () => {
    const plan = firstPlan(RUN, DEFINITION.steps, FAILED, null);
    expect(readPlan(plan, RUN, 3).modification).toEqual({
      cancel: [7],
      start: [{ stepId: 'price', item: 0, index: 3 }],
      resume: true,
    });
  });

  test('is not sent while its texts cannot be read', () => {
    const plan = firstPlan(RUN, DEFINITION.steps, FAILED, null);
    expect(readPlan({ ...plan, dataText: '[]' }, RUN, 1)).toMatchObject({
      modification: null,
      problems: ['Data: a JSON object is required'],
    });
    const start = [{ stepId: 'price', inside: '', item: '{', index: '' }];
    expect(readPlan({ ...plan, start }, RUN, 1).modification).toBeNull();
    expect(readPlan({ ...plan, cancelsAll: true, start: [] }, RUN, 1).problems).toEqual([
      'Choose the step to start from.',
    ]);
  });

  test('suggests steps of the same type for open steps that another version does not have', () => {
    const kept = [{ ...FAILED, stepId: 'gone' }, FAILED];
    expect(missingSteps(kept, DEFINITION)).toEqual([
      { stepId: 'gone', candidates: ['price', 'total'] },
    ]);
  });
});
