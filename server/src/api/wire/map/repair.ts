/** Converts repairs of runs between host and wire. */
import type { RestartRequest } from '../../../runtime/model/instance-types.js';
import type { RestartRequest as RestartBody } from '../models/control.js';
import type { StepStart } from '../../../engine/model/modification.js';
import { isJsonObject, type JsonObject } from '../../../engine/values/json.js';
import { asJson } from '../../http/body-reader.js';
import type {
  ModifyRequest,
  RepairedInstance,
  RerunRequest,
} from '../../../runtime/operations/repair/repair-types.js';
import type * as wire from '../models/repair.js';
import { invalidMember, membersOf, refuseUnknown, toReason } from './body-members.js';
import { toControlledWorkflow } from './workflow.js';

const MODIFY_MEMBERS = membersOf<wire.ModificationRequest>({
  reason: true,
  data: true,
  cancel: true,
  start: true,
  version: true,
  stepMap: true,
  resume: true,
  dryRun: true,
});
const START_MEMBERS = membersOf<wire.StepStart>({
  stepId: true,
  inside: true,
  item: true,
  index: true,
});
const RERUN_MEMBERS = membersOf<wire.RerunRequest>({
  reason: true,
  from: true,
  data: true,
  version: true,
  dryRun: true,
});

/** @throws AppError `invalid_request` */
export function toModifyRequest(body: wire.ModificationRequest): ModifyRequest {
  const { cancel = [], data, dryRun = false, resume = false, start = [], stepMap = {} } = body;
  const { version } = body;
  refuseUnknown(body, MODIFY_MEMBERS, '');
  for (const [at, each] of start.entries()) refuseUnknown(each, START_MEMBERS, `/start/${at}`);
  const request: ModifyRequest = {
    reason: toReason(body.reason),
    ...(data !== undefined && { data: toPatch(data) }),
    cancel: toCancel(cancel),
    start: start.map(toStepStart),
    ...(version !== undefined && { version: toNumber(version) }),
    stepMap,
    resume,
    dryRun,
  };
  if (version === undefined && Object.keys(stepMap).length > 0) {
    throw invalidMember('stepMap applies only together with version', '/stepMap');
  }
  const isEmpty = cancel.length === 0 && start.length === 0 && Object.keys(data ?? {}).length === 0;
  if (isEmpty && version === undefined && !resume) {
    throw invalidMember(
      'The request changes nothing: give data, cancel, start, version or resume',
      '',
    );
  }
  return request;
}

/** @throws AppError `invalid_request` */
export function toRerunRequest(body: wire.RerunRequest): RerunRequest {
  const { data, dryRun = false, from, reason, version } = body;
  refuseUnknown(body, RERUN_MEMBERS, '');
  return {
    reason: toReason(reason),
    ...(from !== undefined && { from }),
    ...(data !== undefined && { data: toPatch(data) }),
    ...(version !== undefined && { version: toNumber(version) }),
    dryRun,
  };
}

/** Callers who may control a run are not necessarily allowed to read it. */
export function toRepairedWorkflow(
  { cancelled, instance, repeats, started, warnings }: RepairedInstance,
  mayRead: boolean,
): wire.RepairedWorkflow {
  return {
    workflow: toControlledWorkflow(instance, mayRead),
    cancelled: [...cancelled],
    started: [...started],
    repeats: [...repeats],
    // `Input` violations quote the data.
    warnings: warnings.map(({ code, message }) => ({
      code,
      message: code === 'invalid_data' && !mayRead ? 'The data does not fit the Input' : message,
    })),
  };
}

const RESTART_MEMBERS = membersOf<RestartBody>({ reason: true, version: true });

/** @throws AppError `invalid_request` */
export function toRestart({
  reason,
  version,
  ...others
}: RestartBody): Pick<RestartRequest, 'reason' | 'version'> {
  refuseUnknown(others, RESTART_MEMBERS, '');
  return { reason: toReason(reason), ...(version !== undefined && { version }) };
}

function toPatch(data: unknown): JsonObject {
  if (isJsonObject(data)) return data;
  throw invalidMember('data must be an object: a JSON Merge Patch', '/data');
}

function toCancel(
  cancel: NonNullable<wire.ModificationRequest['cancel']>,
): readonly number[] | 'all' {
  if (cancel === '*') return 'all';
  const ids = cancel.map((id, at) => (id === '*' ? null : toExecutionId(id, `/cancel/${at}`)));
  return ids.includes(null) ? 'all' : ids.filter((id) => id !== null);
}

function toStepStart(start: wire.StepStart, at: number): StepStart {
  const { inside, index, item, stepId } = start;
  return {
    stepId,
    inside: inside === undefined ? null : toExecutionId(inside, `/start/${at}/inside`),
    ...(item !== undefined && { item: asJson(item) }),
    ...(index !== undefined && { index: toNumber(index) }),
  };
}

function toExecutionId(id: number, pointer: string): number {
  const number = toNumber(id);
  if (Number.isInteger(number)) return number;
  throw invalidMember('An execution is identified by a whole number', pointer);
}

/** A large integer in a body is a `bigint`, whatever its type says. */
function toNumber(value: unknown): number {
  return Number(value);
}
