/** Goal: what the user chooses in the repair panel becomes the modification that it stands for, and nothing else. */
import type { Explanation, StepExecution, Workflow } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { readDefinition } from '../src/graph/read-definition.js';
import { modificationOf, NO_REPAIR } from '../src/pages/bulk/bulk-repair.js';
import { patchBetween } from '../src/pages/run/repair/merge-patch.js';
import {
  executionToRepair,
  firstPlan,
  missingSteps,
  openExecutions,
  readPlan,
} from '../src/pages/run/repair/repair-plan.js';
import { execution } from './support/execution.js';

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
  test('contains the differences, at any depth', () => {
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

describe('the execution to repair', () => {
  const failure = { type: 'KeyError', message: 'price' } as unknown as StepExecution['error'];
  const waiting = (executionId: number) => execution({ executionId, status: 'Waiting' });

  test('is the one that the explanation names if the page has not read it among thousands', () => {
    const read = [waiting(1), waiting(5000)];
    const reason = { executionId: 2000, stepId: 'price', index: 1999, item: 'x', error: failure };
    const other = { executionId: 5000, stepId: 'price', error: null };
    const open = openExecutions(read, { reasons: [reason, other] } as unknown as Explanation);
    expect(open.map(({ executionId }) => executionId)).toEqual([1, 5000, 2000]);
    const found = executionToRepair({ outcome: null, endTime: null }, read, open);
    expect(firstPlan(RUN, DEFINITION.steps, found, null)).toMatchObject({
      cancel: [2000],
      start: [{ stepId: 'price', item: '"x"', index: '1999' }],
    });
  });

  test('is the outermost one that was open when a user terminated the run', () => {
    const end = '2026-05-04T10:00:01.000Z';
    const canceled = (executionId: number, endTime: string) =>
      execution({ executionId, endTime, status: 'Cancelled' });
    const executions = [
      canceled(2, '2026-05-04T10:00:00.000Z'),
      canceled(5, '2026-05-04T10:00:01.020Z'),
      canceled(4, '2026-05-04T10:00:01.020Z'),
    ];
    const run = { outcome: 'Terminated', endTime: end } as const;
    expect(executionToRepair(run, executions, [])?.executionId).toBe(4);
    expect(executionToRepair({ outcome: 'Succeeded', endTime: end }, executions, [])).toBeNull();
  });
});

describe('a repair of many runs', () => {
  test('names renamed steps only if the version changes, and is not sent while they cannot be read', () => {
    const repair = { ...NO_REPAIR, from: '', version: '2', renamed: 'a=b, c=d' };
    expect(modificationOf(repair)).toEqual({
      version: 2,
      stepMap: { a: 'b', c: 'd' },
      resume: true,
    });
    expect(modificationOf({ ...repair, version: '' })).toEqual({ resume: true });
    expect(modificationOf({ ...repair, renamed: 'a' })).toBeNull();
    expect(modificationOf({ ...NO_REPAIR, from: 'a' })).toEqual({
      cancel: ['*'],
      start: [{ stepId: 'a' }],
      resume: true,
    });
  });
});
