/** Every operation of the contract, on one database. */
import type { AsynchronousOperations } from '../store-operations.js';
import * as activities from './activities.js';
import { claimActivity } from './activity-claims.js';
import { completeActivity } from './activity-results.js';
import { probeAtomicity } from './atomicity-probe.js';
import * as audit from './audit.js';
import * as bulkJobs from './bulk-jobs.js';
import * as definitions from './definitions.js';
import { insertEvent } from './event-inserts.js';
import * as events from './events.js';
import * as failures from './failures.js';
import * as housekeeping from './housekeeping.js';
import { controlInstance } from './control.js';
import { claimInstance, setCrashes } from './instance-claims.js';
import { commitInstance } from './commits.js';
import { getInput } from './inserts.js';
import * as instanceLists from './instance-lists.js';
import { findInstancesByText } from './text-search.js';
import * as instanceTerms from './instance-terms.js';
import * as instances from './instances.js';
import { insertInstance } from './starts.js';
import * as scans from './scans.js';
import { postMessages } from './messages.js';
import * as notifications from './notifications.js';
import * as resources from './resources.js';
import type { PostgresContext } from './postgres-context.js';
import { sharedOperations } from './shared-operations.js';

export const POSTGRES_OPERATIONS: AsynchronousOperations<PostgresContext> = {
  ping: async ({ database }) => {
    await database.query('SELECT 1');
  },
  ...sharedOperations(),
  probeAtomicity,
  postMessages,
  insertEvent,
  insertInstance,
  getInput,
  commitInstance,
  claimInstance,
  setCrashes,
  controlInstance,
  claimActivity,
  completeActivity,
  ...activities,
  ...audit,
  ...bulkJobs,
  ...notifications,
  ...definitions,
  ...events,
  ...failures,
  ...housekeeping,
  ...instanceLists,
  findInstancesByText,
  ...instanceTerms,
  ...instances,
  ...scans,
  ...resources,
};
