/** The texts of bulk jobs in the store. */
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { BulkJobRecord, BulkJobSummary } from '../../store/records/bulk-jobs.js';
import type { InstancePosition } from '../../store/records/instance-lists.js';
import type {
  BulkAction,
  BulkFailure,
  BulkFilter,
  BulkJobListItem,
  BulkJobView,
  BulkModification,
} from './bulk-types.js';

export interface BulkAbout {
  readonly action: BulkAction;
  readonly actor: string;
  readonly reason: string;
  readonly perSecond: number;
}

export interface BulkTask {
  /** Null: the ids were given. */
  readonly filter: BulkFilter | null;
  readonly modification: BulkModification | null;
}

export const writeAbout = (about: BulkAbout): string => write(about);
export const writeTask = (task: BulkTask): string => write(task);
export const writeIds = (ids: readonly string[]): string => write(ids);
export const writeFailures = (failures: readonly BulkFailure[]): string => write(failures);
export const writePosition = (position: InstancePosition): string => write(position);

// Each text was written by the function above.
export const readAbout = (text: string): BulkAbout => read(text) as BulkAbout;
export const readTask = (text: string): BulkTask => read(text) as BulkTask;
export const readIds = (text: string): readonly string[] => read(text) as readonly string[];
export const readFailures = (text: string): readonly BulkFailure[] =>
  read(text) as readonly BulkFailure[];
export const readPosition = (text: string): InstancePosition => read(text) as InstancePosition;

export function bulkJobItem(job: BulkJobSummary): BulkJobListItem {
  const { done, endTime, failed, id, isCollected, matched, skipped, startTime, state } = job;
  const { action, actor, perSecond, reason } = readAbout(job.about);
  const counts = { matched, exact: isCollected, done, skipped, failed };
  return { id, action, actor, reason, perSecond, state, ...counts, startTime, endTime };
}

export function viewBulkJob(job: BulkJobRecord): BulkJobView {
  return { ...bulkJobItem(job), failures: readFailures(job.failures) };
}

function write(value: object): string {
  // Its members are JSON values; those that are undefined are left out.
  return writeJson(value);
}

function read(text: string): unknown {
  return readJson(text);
}
