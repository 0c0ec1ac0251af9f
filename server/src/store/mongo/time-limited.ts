/** Collections whose queries the database ends after a while: an abandoned search doesn't go on. */
import type {
  AggregateOptions,
  Collection,
  CountDocumentsOptions,
  Document,
  Filter,
  FindOneOptions,
  FindOptions,
} from 'mongodb';
import type { Collections } from './collections.js';

export function timeLimited(collections: Collections, maxTimeMS: number): Collections {
  const limited = Object.entries(collections).map(([name, collection]) => [
    name,
    // Each is a collection of documents of its own kind, which makes no difference here.
    limitedCollection(collection as unknown as Collection, maxTimeMS),
  ]);
  return Object.fromEntries(limited) as Collections;
}

/** The methods with which searches read. */
function limitedCollection(collection: Collection, maxTimeMS: number): Collection {
  const methods = {
    find: (filter: Filter<Document> = {}, options?: FindOptions) =>
      collection.find(filter, { maxTimeMS, ...options }),
    findOne: (filter: Filter<Document> = {}, options?: FindOneOptions) =>
      collection.findOne(filter, { maxTimeMS, ...options }),
    countDocuments: (filter?: Filter<Document>, options?: CountDocumentsOptions) =>
      collection.countDocuments(filter, { maxTimeMS, ...options }),
    aggregate: (pipeline?: Document[], options?: AggregateOptions) =>
      collection.aggregate(pipeline, { maxTimeMS, ...options }),
  };
  // Everything else is inherited.
  return Object.assign(Object.create(collection) as Collection, methods);
}
