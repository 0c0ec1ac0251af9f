/** The operations that SQLite and PostgreSQL share. All others are in the stores. */
import type { StoreOperation } from '../store-operations.js';
import { ACTIVITY_OPERATIONS } from './activities.js';
import { ACTIVITY_QUEUE_OPERATIONS } from './activity-queue.js';
import { BULK_JOB_OPERATIONS } from './bulk-jobs.js';
import { DEFINITION_OPERATIONS } from './definitions.js';
import { EVENT_OPERATIONS } from './events.js';
import { HOUSEKEEPING_OPERATIONS } from './housekeeping.js';
import { INSTANCE_LIST_OPERATIONS } from './instance-lists.js';
import { INSTANCE_OPERATIONS } from './instances.js';
import { NOTIFICATION_OPERATIONS } from './notifications.js';
import { PLACE_OPERATIONS } from './places.js';
import { RESOURCE_OPERATIONS } from './resources.js';
import { SLOT_OPERATIONS } from './slots.js';
import { START_OPERATIONS } from './starts.js';
import type { SqlOperations } from './statements.js';
import { TRIGGER_OPERATIONS } from './triggers.js';

export const SQL_OPERATIONS = {
  ...ACTIVITY_OPERATIONS,
  ...ACTIVITY_QUEUE_OPERATIONS,
  ...BULK_JOB_OPERATIONS,
  ...DEFINITION_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...INSTANCE_LIST_OPERATIONS,
  ...INSTANCE_OPERATIONS,
  ...HOUSEKEEPING_OPERATIONS,
  ...NOTIFICATION_OPERATIONS,
  ...PLACE_OPERATIONS,
  ...RESOURCE_OPERATIONS,
  ...SLOT_OPERATIONS,
  ...START_OPERATIONS,
  ...TRIGGER_OPERATIONS,
} satisfies SqlOperations;

export type SharedOperation = keyof typeof SQL_OPERATIONS & StoreOperation;
