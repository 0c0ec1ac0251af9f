/** What an operation works with. */
import type { Collections } from './collections.js';
import type { LazyWrites } from './lazy-writes.js';

export interface MongoContext extends Collections {
  readonly lazyWrites: LazyWrites;
}
