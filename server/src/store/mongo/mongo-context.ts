/** The dependencies of every operation. */
import type { CountedInserts } from '../counted-inserts.js';
import type { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import type { CandidateFinder } from './candidate-finder.js';
import type { Collections } from './collections.js';
import type { DisabledDefinitions } from './disabled-definitions.js';
import type { GroupedWrites } from './grouped-writes.js';
import type { LazyWrites } from './lazy-writes.js';

export interface MongoContext extends Collections {
  readonly candidates: CandidateFinder;
  readonly lazyWrites: LazyWrites;
  readonly countedInserts: CountedInserts;
  readonly references: KeyedMutex;
  /** Which definitions are disabled. */
  readonly disabledDefinitions: DisabledDefinitions;
  readonly groupedWrites: GroupedWrites;
  readonly inputSweep: SweepPosition;
  readonly claimSweep: SweepPosition<number>;
  readonly limitKeySweep: SweepPosition<number>;
  readonly slotWaitSweep: SweepPosition;
  /** Reads the server's time, for nodes that use its clock. */
  readonly readServerTime: () => Promise<void>;
}

/** The position at which the next step of a sweep over a collection continues; null: the beginning. */
export interface SweepPosition<Key = string> {
  after: Key | null;
}
