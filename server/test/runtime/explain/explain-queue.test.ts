/** Goal: the explanation of a queued run says how many runs are before it, as far as that is known. */
import { expect, it } from 'vitest';
import { explainPointer } from '../../../src/runtime/explain/explain-pointer.js';

type Facts = Parameters<typeof explainPointer>[1];
type Known = Facts['of'] extends ReadonlyMap<number, infer Value> ? Value : never;
type Queue = Extract<Known, { kind: 'queue' }>;

const TEXT = "queued: waits for the runs with the reference 'r' that were open before it";

function explained(known: Partial<Queue> | null, status: Facts['status'] = 'Runnable') {
  const pointer = { id: 1, state: { kind: 'queued', at: 5 } };
  const of = new Map(known === null ? [] : [[1, { kind: 'queue', holders: [], ...known }]]);
  const facts = { instance: { reference: 'r' }, startTime: 5, status, of };
  return explainPointer(pointer as never, facts as unknown as Facts);
}

it.each([
  ['one', { count: 1, isExact: true }, '; 1 of them is open'],
  ['three', { count: 3, isExact: true }, '; 3 of them are open'],
  ['more than are counted', { count: 100, isExact: false }, '; at least 100 of them are open'],
  ['some that were not found', { count: 0, isExact: false }, '; some of them are open'],
  ['none', { count: 0, isExact: true }, '; all have ended, and it is about to begin'],
  ['an unknown number', null, ''],
])('explains a queued run with %s before it', (_, known, more) => {
  expect(explained(known).text).toBe(`${TEXT}${more}`);
});

it('explains that a suspended run begins when it is resumed', () => {
  const { text } = explained({ count: 0, isExact: true }, 'Suspended');
  expect(text).toBe(`${TEXT}; all have ended, and it begins when it is resumed`);
});

it('names the runs before it', () => {
  const holders = ['a', 'b'];
  expect(explained({ count: 2, isExact: true, holders })).toMatchObject({ kind: 'queue', holders });
  expect(explained(null)).not.toHaveProperty('holders');
});
