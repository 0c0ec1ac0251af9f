/** The calls of clients on bulk jobs, and their results. Times are milliseconds since 1970. */
import type { DocumentProblem } from '../../engine/model/definition.js';
import type { Priority } from '../../engine/model/start-options.js';
import type { ErrorCode, ErrorFields } from '../../base/errors.js';
import type { AllowedNames } from '../../base/allowed-names.js';
import type { ApiKeyState } from '../access/api-key-types.js';
import type { BulkJobState } from '../../store/records/bulk-jobs.js';
import type { InstanceFilter } from '../../store/records/instance-lists.js';
import type { IdempotencyKey } from '../model/idempotency-key.js';
import type { InstanceListItem } from '../model/instance-types.js';
import type { ModifyRequest } from '../operations/repair/repair-types.js';

export type BulkAction =
  'suspend' | 'resume' | 'retry' | 'terminate' | 'modify' | 'restart' | 'priority' | 'purge';

/** The filter of a list, with its conditions as text. */
export interface BulkFilter extends Omit<InstanceFilter, 'where'> {
  readonly where?: readonly string[];
}

/** Either all instances that match a filter, or the named ones. */
export type BulkSelection =
  { readonly filter: BulkFilter } | { readonly workflowIds: readonly string[] };

/** A modification of each instance; its reason is the job's. */
export type BulkModification = Omit<ModifyRequest, 'reason' | 'idempotency' | 'dryRun'>;

export interface BulkRequest {
  readonly action: BulkAction;
  readonly selection: BulkSelection;
  readonly reason: string;
  /** Only for the action `modify`. */
  readonly modification: BulkModification | null;
  /** Only for the action `terminate`: compensates completed steps first. */
  readonly compensate: boolean;
  /** Only for the action `priority`. */
  readonly priority: Priority | null;
  /** Default: `PER_SECOND`. */
  readonly perSecond: number | null;
  readonly actor: string;
  /** The caller's API key; null: none. */
  readonly apiKeyId: string | null;
  /** The job acts only on instances of these definitions. */
  readonly allowed: AllowedNames;
  readonly idempotency: IdempotencyKey | null;
}

/** Default number of actions per second. */
export const PER_SECOND = 50;

export interface BulkMatch {
  readonly matched: number;
  /** False if there may be more. */
  readonly exact: boolean;
}

export interface BulkPreview extends BulkMatch {
  /** The first of them. */
  readonly instances: readonly InstanceListItem[];
  /** The ones among them for which the action would fail, as far as a dry run can tell. */
  readonly obstacles: readonly BulkFailure[];
}

export interface BulkCreated extends BulkMatch {
  readonly id: string;
}

/** Why the action failed for an instance: the members of an AppError. */
export interface BulkFailure {
  readonly workflowId: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly fields: ErrorFields;
  readonly problems: readonly DocumentProblem[];
}

/** The current state of the API key that created a job. */
export interface BulkJobKey {
  readonly id: string;
  readonly state: ApiKeyState;
}

export interface BulkJobListItem extends BulkMatch {
  readonly id: string;
  readonly action: BulkAction;
  readonly actor: string;
  /** Null: it was created without one. */
  readonly apiKey: BulkJobKey | null;
  readonly reason: string;
  readonly allowed: AllowedNames;
  readonly perSecond: number;
  readonly state: BulkJobState;
  readonly done: number;
  /** The number of instances whose status did not allow the action. */
  readonly skipped: number;
  readonly failed: number;
  readonly startTime: number;
  readonly endTime: number | null;
}

export interface BulkJobView extends BulkJobListItem {
  /** The first ones. */
  readonly failures: readonly BulkFailure[];
}
