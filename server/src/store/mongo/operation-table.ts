/** Every operation of the contract, on one database. */
import type { AsynchronousOperations } from '../store-operations.js';
import * as activities from './activities.js';
import * as activityLists from './activity-lists.js';
import { claimActivity } from './activity-queue.js';
import { probeAtomicity } from './atomicity-probe.js';
import * as audit from './audit.js';
import * as bulkJobs from './bulk-jobs.js';
import * as definitions from './definitions.js';
import * as events from './events.js';
import * as failures from './failures.js';
import * as housekeeping from './housekeeping.js';
import { getInput } from './inputs.js';
import * as instanceLists from './instance-lists.js';
import { findInstancesByText } from './text-search.js';
import * as instanceTerms from './instance-terms.js';
import * as instances from './instances.js';
import { postMessages } from './messages.js';
import * as notifications from './notifications.js';
import type { MongoContext } from './mongo-context.js';
import * as starts from './starts.js';
import * as resources from './resources.js';
import * as triggers from './triggers.js';

export const MONGO_OPERATIONS: AsynchronousOperations<MongoContext> = {
  ping: async ({ nodes }) => {
    await nodes.findOne({}, { projection: { _id: 1 } });
  },
  probeAtomicity,
  postMessages,
  claimActivity,
  getInput,
  ...activities,
  ...activityLists,
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
  ...starts,
  ...resources,
  ...triggers,
};
