/**
 * The store in memory, for tests and simulations: the simplest implementation of the contract, and the model with which
 * the other adapters are compared.
 *
 * Owns: maps that live as long as the object; `stop` and `start` keep them, so that a simulated node can restart.
 * Must not know: timers, clocks, randomness. Every operation is performed synchronously within its call.
 *
 * Invariants besides the contract's S1 to S7 (S1 ends with the process here):
 *  MS1 An operation is complete when its call returns; only its result is delivered later, as a promise.
 *  MS2 Records are never changed in place, so a returned record never changes.
 */
import {
  storeMethods,
  type CallOperation,
  type SynchronousOperations,
} from '../store-operations.js';
import type { Store } from '../store.js';
import * as activities from './activities.js';
import * as activityQueue from './activity-queue.js';
import * as bulkJobs from './bulk-jobs.js';
import * as control from './control.js';
import * as definitions from './definitions.js';
import * as events from './events.js';
import * as failures from './failures.js';
import * as housekeeping from './housekeeping.js';
import * as instanceLists from './instance-lists.js';
import * as instances from './instances.js';
import { emptyMemoryData, type MemoryData } from './memory-data.js';
import * as messages from './messages.js';
import * as notifications from './notifications.js';
import * as places from './places.js';
import * as resources from './resources.js';
import * as slots from './slots.js';
import * as starts from './starts.js';
import * as textSearch from './text-search.js';
import * as triggers from './triggers.js';

const OPERATIONS: SynchronousOperations<MemoryData> = {
  ping: () => undefined,
  // There is a single thread, and operations never wait: nothing can happen between a comparison and its change.
  probeAtomicity: () => true,
  ...activities,
  ...activityQueue,
  ...bulkJobs,
  ...control,
  ...definitions,
  ...events,
  ...failures,
  ...housekeeping,
  ...instanceLists,
  ...instances,
  ...messages,
  ...notifications,
  ...places,
  ...resources,
  grantSlots: slots.grantSlots,
  findWaitedKeys: slots.findWaitedKeys,
  countSlots: slots.countSlots,
  findSlotPosition: slots.findSlotPosition,
  ...starts,
  ...textSearch,
  ...triggers,
};

export function createMemoryStore(): Store {
  const data = emptyMemoryData();
  const call: CallOperation = (name, args) =>
    new Promise((resolve) => {
      resolve(OPERATIONS[name](data, args));
    });
  return {
    kind: 'memory',
    storesDeliveries: true,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    ...storeMethods(call),
  };
}
