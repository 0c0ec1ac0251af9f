/** Goal: an explanation names as in flight what a worker has, and not an item that is only being withdrawn. */
import { expect, it } from 'vitest';
import { explainStop } from '../../../src/runtime/explain/explain-stop.js';

type Facts = Parameters<typeof explainStop>[0];
type Instance = Parameters<typeof explainStop>[1];
type Known = Facts['of'] extends ReadonlyMap<number, infer Value> ? Value : never;
type Item = Extract<Known, { kind: 'activity' }>['record'];

const NOW = 1_000_000;
const HELD = { attempt: 1, workerId: 'w-1', availableAt: NOW + 5000 } as Item;
const NEVER_HELD = { attempt: 0, workerId: null, availableAt: NOW } as Item;

/** The run is terminated with compensation while each of these items belongs to a step `book`. */
function explained(items: readonly Item[]): string {
  const state = { kind: 'activity', name: 'book' };
  const pointers = items.map((_, id) => [id, { id, state, stepId: 'book', isEnding: true }]);
  const known = items.map((record, id) => [id, { kind: 'activity', record }]);
  const instance = { pointers: new Map(pointers as never), cleanUp: { until: NOW + 60_000 } };
  const facts = { now: NOW, lastChangeAt: NOW, of: new Map(known as never) };
  return explainStop(facts as unknown as Facts, instance as unknown as Instance, null).text;
}

it.each([
  ['is held', [HELD], 'undoing: waits for 1 step in flight: book (held by worker w-1)'],
  ['is held beside one that nobody held', [NEVER_HELD, HELD], 'undoing: waits for 1 step'],
  ['was never held', [NEVER_HELD], 'undoing: waits for compensations and results'],
  ['has been withdrawn meanwhile', [null], 'undoing: waits for compensations and results'],
])('explains an item that %s', (_, items, text) => {
  expect(explained(items)).toContain(text);
});
