/** Every operation of the contract, on one connection. */
import type { SynchronousOperations } from '../../store-operations.js';
import type { Database } from '../database.js';
import { sharedOperations } from '../shared-operations.js';
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
import * as messages from './messages.js';
import * as notifications from './notifications.js';
import * as resources from './resources.js';
import * as places from './places.js';
import * as slots from './slots.js';
import * as starts from './starts.js';
import * as textSearch from './text-search.js';

export const SQLITE_OPERATIONS: SynchronousOperations<Database> = {
  ping: (database) => {
    database.get('SELECT 1');
  },
  // A write holds the file's only write lock from before its comparison until after its change.
  probeAtomicity: () => true,
  ...sharedOperations(),
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
  ...resources,
  ...places,
  ...slots,
  ...starts,
  ...textSearch,
};
