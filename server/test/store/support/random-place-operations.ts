/** Random operations on places. */
import fc from 'fast-check';
import type { InsertInstance } from '../../../src/store/records/instances.js';
import type { PlaceRule } from '../../../src/store/records/places.js';
import { instanceId, limit, optional, priority, small, type Step } from './random-values.js';

const key = fc.constantFrom('', 'k', 'é\u0000');
const places = key.map((of) => ({ definitionId: 'order', key: of }));

/** How an instance is inserted that has a key; null: it has none. */
export const placed = optional(
  fc.record({
    concurrencyKey: key,
    place: fc.constantFrom('later', 'waiting', 'held'),
    priority,
    countsFrom: small,
    rule: optional(
      fc.record({
        limit: fc.integer({ min: 1, max: 2 }),
        maxQueued: optional(fc.integer({ min: 0, max: 2 })),
      }) satisfies fc.Arbitrary<PlaceRule>,
    ),
  }),
);

type Placed = typeof placed extends fc.Arbitrary<infer Value> ? Value : never;

export function inPlace(insert: InsertInstance, inserted: Placed): InsertInstance {
  if (inserted === null) return insert;
  const { rule, ...changes } = inserted;
  const record = { ...insert.record, ...changes };
  return { ...insert, record, ...(rule !== null && { places: rule }) };
}

export const PLACE_OPERATIONS: readonly fc.Arbitrary<Step>[] = [
  fc
    .record({ of: places, limit: fc.integer({ min: 1, max: 3 }), asking: optional(instanceId) })
    .map(({ of, ...request }): Step => async (store) => {
      const { ids, isCut } = await store.grantPlaces({ ...of, ...request, now: 5 });
      return { ids: ids.toSorted(), isCut };
    }),
  fc.tuple(places, instanceId).map(([of, id]): Step => async (store) => {
    const counted = (await store.getInstance(id))?.concurrencyKey ?? null;
    return counted === null ? null : store.countPlaces(of, id);
  }),
  fc.tuple(optional(key), limit).map(
    ([after, most]): Step =>
      (store) =>
        store.findWaitingKeys('order', after, most),
  ),
];
