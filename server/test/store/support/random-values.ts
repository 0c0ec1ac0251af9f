/** Few ids, times and texts, so that random operations meet. */
import fc from 'fast-check';
import { PRIORITIES } from '../../../src/engine/model/start-options.js';
import type { Store } from '../../../src/store/store.js';

export type Step = (store: Store) => Promise<unknown>;

export const instanceId = fc.constantFrom('i', 'j', 'k');
export const priority = fc.constantFrom(...PRIORITIES);
export const fairness = fc.constantFrom(
  null,
  null,
  { key: 'a', weight: 1 },
  { key: 'é\u0000', weight: 0.5 },
);
export const reference = fc.constantFrom('r', 's');
export const activityId = fc.constantFrom('i/1', 'i/2', 'j/1', 'k/1');
export const activityName = fc.constantFrom('ship', 'pack');
export const worker = fc.constantFrom('v', 'w');
export const time = fc.integer({ min: 0, max: 12 });
export const small = fc.integer({ min: 0, max: 3 });
export const limit = fc.integer({ min: 1, max: 4 });
export const text = fc.constantFrom('{}', 'x', '\ud800', 'é\u0000');
/** Who claims the instance of a message. */
export const claimer = fc.record({
  owner: worker,
  from: fc.subarray(['v', 'w']),
  schemaVersionMax: fc.constantFrom(0, 100),
});
export const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
