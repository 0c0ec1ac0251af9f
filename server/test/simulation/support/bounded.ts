/** A Foreach with MaxParallel. Whenever it is stored, no more of its items are open than that, and they open in order. */
import type { Pointer } from '../../../src/engine/model/pointer.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { hold } from './violation.js';
import { call, number, step, type Workflow } from './workflow.js';

export const BOUNDED = 'bounded';
const FOREACH = 'n1';

export const BOUNDED_WORKFLOW: Workflow = {
  document: {
    Id: BOUNDED,
    Steps: [
      step(FOREACH, 'Foreach', {
        Inputs: { Collection: 'data.items', MaxParallel: 'data.max' },
        Do: [
          [
            call('n2', { NextStepId: 'n3' }),
            step('n3', 'NoOp', { Outputs: { sum: 'data.sum + context.Item' } }),
          ],
          [step('n4', 'Delay', { Inputs: { Period: 'context.Index % 2' } })],
        ],
        NextStepId: 'n5',
      }),
      step('n5', 'NoOp', { Outputs: { done: '1' } }),
    ],
  },
  data: (random) => ({ items: [1, 2, 3, 4, 5, 6], max: random.between(1, 4), sum: 0 }),
  expect: () => ({
    completed: { n1: 1, n2: 6, n3: 6, n4: 6, n5: 1 },
    data: { sum: 21, done: 1 },
  }),
};

interface Stored {
  readonly data: JsonObject;
  readonly pointers: readonly Pointer[];
}

/** @param state as stored; an instance that a modification has not changed */
export function checkBounded(state: string, describe: () => string): void {
  // `writeState` wrote it.
  const { data, pointers } = JSON.parse(state) as Stored;
  for (const { id, memo, stepId } of pointers) {
    if (stepId !== FOREACH) continue;
    const inside = pointers.filter(({ parentId }) => parentId === id);
    const open = new Set(inside.map(({ index = -1 }) => index));
    hold(open.size <= number(data, 'max'), 'MaxParallel limits the open items', describe);
    if (memo?.kind !== 'items') continue;
    hold(open.size === number(data, 'max'), 'the next item opens when one has ended', describe);
    hold(
      [...open].every((index) => index < memo.next),
      'items open in order',
      describe,
    );
  }
}
