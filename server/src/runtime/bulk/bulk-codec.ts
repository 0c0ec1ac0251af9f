/** The stored texts of bulk jobs. */
import type { AllowedNames } from '../../base/allowed-names.js';
import type { Priority } from '../../engine/model/start-options.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { BulkJobRecord, BulkJobSummary } from '../../store/records/bulk-jobs.js';
import type { InstancePosition } from '../../store/records/instance-lists.js';
import type {
  BulkAction,
  BulkFailure,
  BulkFilter,
  BulkJobKey,
  BulkJobListItem,
  BulkJobView,
  BulkModification,
} from './bulk-types.js';

export interface BulkAbout {
  readonly action: BulkAction;
  readonly actor: string;
  /** The API key of the caller that created it; null: none. */
  readonly apiKeyId: string | null;
  readonly reason: string;
  readonly perSecond: number;
  /** The definitions that the job's creator was allowed to act on. The name is stored. */
  readonly reach: AllowedNames;
}

export interface BulkTask {
  /** Null: the ids were given. */
  readonly filter: BulkFilter | null;
  readonly modification: BulkModification | null;
  readonly compensate: boolean;
  readonly priority: Priority | null;
}

export const writeAbout = (about: BulkAbout): string => write(about);
export const writeTask = (task: BulkTask): string => write(task);
export const writeIds = (ids: readonly string[]): string => write(ids);
export const writeFailures = (failures: readonly BulkFailure[]): string => write(failures);
export const writePosition = (position: InstancePosition): string => write(position);

// Each text was written by the function above.
/** Jobs of older versions have no `reach` and no key. */
export const readAbout = (text: string): BulkAbout => {
  type Stored = Omit<BulkAbout, 'reach' | 'apiKeyId'> & Partial<BulkAbout>;
  const { apiKeyId = null, reach = 'all', ...about } = read(text) as Stored;
  return { ...about, apiKeyId, reach };
};
/** Jobs of older versions don't have `compensate` and `priority`. */
export const readTask = (text: string): BulkTask => {
  const task = read(text) as Omit<BulkTask, 'compensate' | 'priority'> & Partial<BulkTask>;
  return { ...task, compensate: task.compensate ?? false, priority: task.priority ?? null };
};
export const readIds = (text: string): readonly string[] => read(text) as readonly string[];
export const readFailures = (text: string): readonly BulkFailure[] =>
  read(text) as readonly BulkFailure[];
export const readPosition = (text: string): InstancePosition => read(text) as InstancePosition;

/** @param apiKey its creator's key */
export function bulkJobItem(job: BulkJobSummary, apiKey: BulkJobKey | null): BulkJobListItem {
  const { done, endTime, failed, id, isCollected, matched, skipped, startTime, state } = job;
  const counts = { matched, exact: isCollected, done, skipped, failed };
  const { action, actor, perSecond, reach, reason } = readAbout(job.about);
  const about = { action, actor, apiKey, perSecond, allowed: reach, reason };
  return { id, ...about, state, ...counts, startTime, endTime };
}

export function viewBulkJob(job: BulkJobRecord, apiKey: BulkJobKey | null): BulkJobView {
  return { ...bulkJobItem(job, apiKey), failures: readFailures(job.failures) };
}

function write(value: object): string {
  // Its members are JSON values; undefined ones are omitted.
  return writeJson(value);
}

function read(text: string): unknown {
  return readJson(text);
}
