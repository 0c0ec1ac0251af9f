/** The tables from which an archive reads records, and into which it writes them. */
import type {
  ArchivedLimitRate,
  ArchivedRecords,
  ArchivedSlot,
  ArchivedSlotWait,
  RecordKind,
} from '../archive.js';
import type { JoinedStart } from '../joined-starts.js';
import type { HistoryRecord } from '../records/instances.js';
import { ACTIVITY_COLUMNS, archivedActivityOf } from './activities.js';
import { BULK_IDS_COLUMNS, BULK_JOB_COLUMNS, bulkIdsOf, bulkJobOf } from './bulk-jobs.js';
import { columnsOf, readRecord, type Columns, type RecordColumns } from './columns.js';
import { STEP_SCRIPT_COLUMNS, stepScriptOf } from './definitions.js';
import { eventOf, SUBSCRIPTION_COLUMNS, subscriptionOf } from './events.js';
import { NODE_COLUMNS, nodeOf } from './housekeeping.js';
import { HISTORY, HISTORY_COLUMNS } from './instances.js';
import {
  DELIVERY_COLUMNS,
  deliveryOf,
  NOTIFICATION_COLUMNS,
  notificationOf,
} from './notifications.js';
import { RESOURCE_COLUMNS, resourceOf } from './resources.js';
import type { StoredRow } from './stored-row.js';
import { TRIGGER_COLUMNS, triggerOf } from './triggers.js';

const JOINED_START: RecordColumns<JoinedStart> = {
  id: 'text',
  requestHash: 'text',
  instanceId: 'text',
  joinedAt: 'number',
  body: 'text?',
};

export const JOINED_START_COLUMNS = columnsOf(JOINED_START);

const SLOT: RecordColumns<ArchivedSlot> = {
  execution: 'text',
  limitName: 'text',
  limitKey: 'text',
  units: 'number',
  instanceId: 'text',
  isActivity: 'boolean',
};

const SLOT_WAIT: RecordColumns<ArchivedSlotWait> = {
  execution: 'text',
  limitName: 'text',
  limitKey: 'text',
  instanceId: 'text',
  activityName: 'text?',
  priority: 'number',
  fairnessKey: 'text',
  fairnessWeight: 'number',
  since: 'number',
  state: 'text',
  at: 'number',
  needs: 'text',
};

const LIMIT_RATE: RecordColumns<ArchivedLimitRate> = {
  limitName: 'text',
  limitKey: 'text',
  spentUntil: 'number',
};

export const TABLES: Readonly<Record<RecordKind, string>> = {
  definition: 'definitions',
  stepScript: 'step_scripts',
  instance: 'instances',
  joinedStart: 'joined_starts',
  history: 'history',
  subscription: 'subscriptions',
  activity: 'activities',
  slot: 'slots',
  slotWait: 'slot_waits',
  limitRate: 'limit_rates',
  event: 'events',
  bulkJob: 'bulk_jobs',
  bulkIds: 'bulk_ids',
  notification: 'notifications',
  delivery: 'deliveries',
  trigger: 'triggers',
  resource: 'resources',
  node: 'nodes',
};

/** Records that are more than a row, or that the stores keep in different ways. */
type OtherKind = 'definition' | 'instance' | 'event';
export type RowKind = Exclude<RecordKind, OtherKind>;

export const ROW_COLUMNS: { readonly [Kind in RowKind]: Columns<ArchivedRecords[Kind]> } = {
  stepScript: STEP_SCRIPT_COLUMNS,
  joinedStart: JOINED_START_COLUMNS,
  history: HISTORY_COLUMNS,
  subscription: SUBSCRIPTION_COLUMNS,
  activity: ACTIVITY_COLUMNS,
  slot: columnsOf(SLOT),
  slotWait: {
    ...columnsOf(SLOT_WAIT),
    fairnessWeight: ['real', ({ fairnessWeight }) => fairnessWeight],
    at: ['real', ({ at }) => at],
  },
  limitRate: { ...columnsOf(LIMIT_RATE), spentUntil: ['real', ({ spentUntil }) => spentUntil] },
  bulkJob: BULK_JOB_COLUMNS,
  bulkIds: BULK_IDS_COLUMNS,
  notification: NOTIFICATION_COLUMNS,
  delivery: DELIVERY_COLUMNS,
  trigger: TRIGGER_COLUMNS,
  resource: RESOURCE_COLUMNS,
  node: NODE_COLUMNS,
};

type Readers = {
  readonly [Kind in Exclude<RecordKind, 'definition' | 'instance'>]: (
    row: StoredRow,
  ) => ArchivedRecords[Kind];
};

export const RECORD_OF: Readers = {
  stepScript: stepScriptOf,
  joinedStart: (row) => readRecord(row, JOINED_START),
  history: (row): HistoryRecord => readRecord(row, HISTORY),
  subscription: subscriptionOf,
  activity: archivedActivityOf,
  slot: (row) => readRecord(row, SLOT),
  slotWait: (row) => readRecord(row, SLOT_WAIT),
  limitRate: (row) => readRecord(row, LIMIT_RATE),
  event: (row) => ({ ...eventOf(row), takenBy: row.texts('takenBy') }),
  bulkJob: bulkJobOf,
  bulkIds: bulkIdsOf,
  notification: notificationOf,
  delivery: deliveryOf,
  trigger: triggerOf,
  resource: resourceOf,
  node: nodeOf,
};
