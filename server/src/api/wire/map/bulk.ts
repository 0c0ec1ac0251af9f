/** Converts bulk jobs between host and wire. */
import { writeJson } from '../../../engine/values/exact-json.js';
import { AppError } from '../../../base/errors.js';
import type { AllowedNames } from '../../../base/allowed-names.js';
import type * as host from '../../../runtime/bulk/bulk-types.js';
import type { IdempotencyKey } from '../../../runtime/model/idempotency-key.js';
import { problemDocument } from '../../http/problem-details.js';
import { queryNamesOf } from '../../http/query-names.js';
import type * as wire from '../models/bulk.js';
import type { Modification } from '../models/repair.js';
import type { WorkflowSummary } from '../models/workflow.js';
import type { WorkflowFilter } from '../models/workflow-filter.js';
import { membersOf, refuseUnknown, toReason } from './body-members.js';
import { checkedName } from './name.js';
import { problemItem } from './problem-items.js';
import { toModifyRequest } from './repair.js';
import { toWireTime, toWireTimeOrNull } from './time.js';
import { toFilter, toPriority, toWorkflowSummary } from './workflow.js';

const MEMBERS = membersOf<wire.BulkRequest>({
  action: true,
  filter: true,
  workflowIds: true,
  reason: true,
  modification: true,
  compensate: true,
  priority: true,
  perSecond: true,
  dryRun: true,
});
const MODIFICATION_MEMBERS = membersOf<Modification>({
  data: true,
  cancel: true,
  start: true,
  version: true,
  stepMap: true,
  resume: true,
});
const FILTERS_CALL = ['GET', '/api/workflow/count'] as const;
/** In characters of JSON: it is stored with the job, and sent to every node that continues it. */
const MODIFICATION_LENGTH_MAX = 100_000;

interface Caller {
  readonly actor: string;
  readonly apiKeyId: string | null;
  readonly allowed: AllowedNames;
  readonly idempotency: IdempotencyKey | null;
}

/** @throws AppError `invalid_request` */
export function toBulkRequest(body: wire.BulkRequest, caller: Caller): host.BulkRequest {
  refuseUnknown(body, MEMBERS, '');
  const { action, perSecond = null, reason } = body;
  return {
    action,
    selection: toSelection(body),
    reason: toReason(reason),
    modification: toModification(body),
    compensate: toCompensate(body),
    priority: toNewPriority(body),
    perSecond,
    ...caller,
  };
}

function toSelection({ filter, workflowIds }: wire.BulkRequest): host.BulkSelection {
  if ((filter === undefined) === (workflowIds === undefined)) {
    throw invalid('Select the runs with exactly one of filter and workflowIds');
  }
  if (filter !== undefined) return { filter: toBulkFilter(filter) };
  const ids = workflowIds ?? [];
  if (ids.includes('')) throw invalid('workflowIds must not contain an empty id');
  return { workflowIds: ids.map((id) => checkedName(id, 'workflow id')) };
}

function toBulkFilter(filter: WorkflowFilter): host.BulkFilter {
  refuseUnknown(filter, queryNamesOf(...FILTERS_CALL), '/filter');
  const { where, ...parsed } = toFilter(filter);
  // The conditions are stored as text; parsing them only validates the syntax.
  return where === undefined ? parsed : { ...parsed, where: filter.where ?? [] };
}

function toModification({
  action,
  modification,
  reason,
}: wire.BulkRequest): host.BulkModification | null {
  if (action !== 'modify') {
    if (modification === undefined) return null;
    throw invalid(`modification applies only to the action modify, not to ${action}`);
  }
  if (modification === undefined) throw invalid('modification is missing: specify the changes');
  refuseUnknown(modification, MODIFICATION_MEMBERS, '/modification');
  // The body reader returns only JSON values.
  if (writeJson(modification).length > MODIFICATION_LENGTH_MAX) {
    throw invalid(`modification is longer than ${MODIFICATION_LENGTH_MAX} characters`);
  }
  const request = toModifyRequest({ ...modification, reason });
  const { cancel = [], data, resume = false, start = [], stepMap = {}, version } = request;
  return {
    cancel,
    start,
    stepMap,
    resume,
    ...(data !== undefined && { data }),
    ...(version !== undefined && { version }),
  };
}

function toCompensate({ action, compensate = false }: wire.BulkRequest): boolean {
  if (!compensate || action === 'terminate') return compensate;
  throw invalid(`compensate applies only to the action terminate, not to ${action}`);
}

function toNewPriority({ action, priority }: wire.BulkRequest): host.BulkRequest['priority'] {
  if (action !== 'priority') {
    if (priority === undefined) return null;
    throw invalid(`priority applies only to the action priority, not to ${action}`);
  }
  if (priority === undefined) throw invalid('priority is missing: specify the new priority');
  return toPriority(priority);
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}

export function toCreatedBulkJob({ exact, id, matched }: host.BulkCreated): wire.CreatedBulkJob {
  return { id, matched, exact };
}

/** The members that aren't copied from the run's data. */
function withoutData(item: WorkflowSummary): WorkflowSummary {
  return { ...item, tags: {}, index: {}, failure: null };
}

/**
 * Callers who can't read runs must not learn about run data from the number of matches.
 * @throws AppError `forbidden`
 */
export function assertMayFilter({ filter }: wire.BulkRequest, mayRead: boolean): void {
  const member = ['where', 'failure'].find((name) => filter !== undefined && name in filter);
  if (mayRead || member === undefined) return;
  throw new AppError('forbidden', `filter.${member} requires the scope conductor:viewer, too`);
}

export function toBulkPreview(preview: host.BulkPreview, mayRead: boolean): wire.BulkPreview {
  const { exact, instances, matched, obstacles } = preview;
  const workflows = instances.map(toWorkflowSummary);
  return {
    matched,
    exact,
    workflows: mayRead ? workflows : workflows.map(withoutData),
    // Problem details may quote run data.
    obstacles: mayRead ? obstacles.map(toFailure) : [],
  };
}

export function toBulkJobSummary(job: host.BulkJobListItem): wire.BulkJobSummary {
  const { startTime, endTime } = job;
  return {
    id: job.id,
    action: job.action,
    actor: job.actor,
    apiKey: job.apiKey,
    reason: job.reason,
    perSecond: job.perSecond,
    state: job.state,
    matched: job.matched,
    exact: job.exact,
    done: job.done,
    skipped: job.skipped,
    failed: job.failed,
    startTime: toWireTime(startTime),
    endTime: toWireTimeOrNull(endTime),
  };
}

/** Problem details may quote run data. */
export function toBulkJob(job: host.BulkJobView, mayRead: boolean): wire.BulkJob {
  return { ...toBulkJobSummary(job), failures: mayRead ? job.failures.map(toFailure) : [] };
}

function toFailure(failure: host.BulkFailure): wire.BulkFailure {
  const { code, fields, message, problems, workflowId } = failure;
  const errors = problems.map((problem) => problemItem(problem));
  return { workflowId, problem: problemDocument({ code, detail: message, fields, errors }) };
}
