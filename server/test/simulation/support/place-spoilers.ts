/** The store without one of the safeguards of places; see spoilers.ts. */
import { UNLIMITED_PLACES } from '../../../src/store/records/places.js';
import type { Store } from '../../../src/store/store.js';

export const PLACE_SPOILERS = {
  'a grant does not count those that hold a place (S14)': (store) => ({
    ...store,
    grantPlaces: (request) => store.grantPlaces({ ...request, limit: UNLIMITED_PLACES }),
  }),
  'the end of a run does not free its place': (store) => ({
    ...store,
    grantPlaces: (request) =>
      request.asking === null
        ? Promise.resolve({ ids: [], isCut: false })
        : store.grantPlaces(request),
  }),
  'a grant does not return those that hold a place and have not begun': (store) => ({
    ...store,
    grantPlaces: async (request) => {
      const page = { filter: { definitionId: request.definitionId }, after: null, limit: 1000 };
      // Both are answered before anybody else writes.
      const [before, granted] = [store.listInstances(page), store.grantPlaces(request)];
      const had = new Set(
        (await before).items.filter(({ place }) => place === 'held').map(({ id }) => id),
      );
      const { ids, isCut } = await granted;
      return { ids: ids.filter((id) => !had.has(id)), isCut };
    },
  }),
} satisfies Readonly<Record<string, (store: Store) => Store>>;
