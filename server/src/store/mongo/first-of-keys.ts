/** The first ones of each fairness key in a line, if there are too many to read all. */
import type { Collection, Filter, Sort } from 'mongodb';
import { KEYED, type FairnessFields } from './fairness-fields.js';

/** How many are read of each key. */
const OF_EACH_KEY = 10;
/** So many keys take turns. If more wait, the other ones go as the oldest. */
const KEYS_MAX = 1000;

interface Keyed extends FairnessFields {
  readonly _id: string;
}

/** The keys of what matches, as stored, of which there may be any number. */
export async function keysIn<Item extends Keyed>(
  collection: Collection<Item>,
  filter: Filter<Item>,
): Promise<readonly string[]> {
  const found = await collection
    .aggregate<{ readonly _id: string }>([
      { $match: { ...filter, fairnessKey: KEYED } },
      { $group: { _id: '$fairnessKey' } },
      { $limit: KEYS_MAX },
    ])
    .toArray();
  return found.map(({ _id }) => _id);
}

/** Empty: none has a key. */
export async function firstOfKeys<Item extends Keyed>(
  collection: Collection<Item>,
  line: {
    readonly filter: Filter<Item>;
    readonly sort: Sort;
    /** Which keys are read, as stored. The group without a key is always. */
    readonly keysOf: (keys: readonly string[]) => readonly string[];
    /** @default OF_EACH_KEY */
    readonly most?: number;
  },
): Promise<readonly Item[]> {
  const { filter, keysOf, most = OF_EACH_KEY, sort } = line;
  // The fields are those of `Keyed`, which the driver doesn't see through the parameter.
  const withKey = (fairnessKey: unknown) => ({ ...filter, fairnessKey }) as Filter<Item>;
  const keys = await keysIn(collection, filter);
  if (keys.length === 0) return [];
  const lists = await Promise.all(
    [null, ...keysOf(keys)].map((key) =>
      collection
        .find(withKey({ $eq: key }))
        .sort(sort)
        .limit(most)
        .toArray(),
    ),
  );
  // Documents of the collection.
  return lists.flat() as unknown as readonly Item[];
}
