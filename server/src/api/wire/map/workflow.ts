/** Converts runs and their steps between host and wire. */
import {
  PRIORITIES,
  priorityOf,
  type Fairness,
  type Priority,
} from '../../../engine/model/start-options.js';
import { readTags } from '../../../engine/model/start-tags.js';
import type { Tags } from '../../../engine/values/tags.js';
import { isJsonObject, type JsonObject } from '../../../engine/values/json.js';
import { AppError } from '../../../base/errors.js';
import { FAILURE_KEY } from '../../../runtime/instance-state/instance-failure.js';
import { parseConditions } from '../../../runtime/model/parse-condition.js';
import { toStartFairness } from '../../../runtime/model/start-fairness.js';
import type { IdempotencyKey } from '../../../runtime/model/idempotency-key.js';
import type * as host from '../../../runtime/model/instance-types.js';
import type { InstanceFilter } from '../../../store/records/instance-lists.js';
import type { StepExecution, StepWait } from '../models/step-execution.js';
import type * as wire from '../models/workflow.js';
import type { WorkflowFilter } from '../models/workflow-filter.js';
import type { StartQuery } from '../models/start-query.js';
import { checkedName } from './name.js';
import { fromWireTime, toWireTime, toWireTimeOrNull } from './time.js';
import { toDebounce, toDebounceRequest, toMilliseconds } from './debounce.js';
import { traceHeadersOf, type TraceHeaders } from '../../../tracing/trace-context.js';

/** @throws AppError `invalid_request` */
export function toStartData(body: unknown): JsonObject {
  // The body reader returns only JSON values.
  if (isJsonObject(body)) return body;
  throw new AppError('invalid_request', 'The data of a run must be an object');
}

interface WireStart extends TraceHeaders, Omit<StartQuery, 'wait'> {
  readonly definitionId: string;
  readonly actor: string;
  readonly replaced: (workflowId: string) => Promise<void>;
  readonly idempotency: IdempotencyKey | null;
}

/** @throws AppError `invalid_request` */
export function toStartRequest(data: JsonObject, start: WireStart): host.StartRequest {
  const { actor, conflictScope, delay, idempotency, onConflict, replaced, startAt } = start;
  const { priority, tag, version } = start;
  const reference =
    start.reference === undefined ? null : checkedName(start.reference, 'reference');
  if (startAt !== undefined && delay !== undefined) {
    throw invalid('delay', 'startAt and delay both set the time of the start: give only one');
  }
  return {
    definitionId: checkedName(start.definitionId, 'definition id'),
    data,
    reference,
    idempotency,
    actor,
    replaced,
    ...traceHeadersOf(start),
    ...(version !== undefined && { version }),
    ...(startAt !== undefined && { startAt: fromWireTime(startAt, 'startAt') }),
    ...(delay !== undefined && { delayMs: toMilliseconds(delay, 'delay') }),
    ...toDebounceRequest(start),
    ...(tag !== undefined && { tags: toTags(tag) }),
    ...(priority !== undefined && { priority: toPriority(priority) }),
    fairness: toStartFairness(start),
    ...(onConflict !== undefined && { onConflict }),
    ...(conflictScope !== undefined && { conflictScope }),
  };
}

function toTags(texts: readonly string[]): Tags {
  const entries = texts.map((text) => {
    const colon = text.indexOf(':');
    if (colon === -1) throw invalid('tag', 'tag must be a name and a value, as name:value');
    return [text.slice(0, colon), text.slice(colon + 1)] as const;
  });
  const { problem, tags } = readTags(entries);
  if (problem !== null) throw invalid('tag', `Invalid tags: ${problem}`);
  return tags;
}

/** @throws AppError `invalid_request` */
export function toPriority(value: number): Priority {
  const priority = priorityOf(value);
  if (priority !== null) return priority;
  throw invalid('priority', `priority must be a whole number from 1 to ${PRIORITIES.length}`);
}

function invalid(parameter: string, message: string): AppError {
  return new AppError('invalid_request', message, { parameter });
}

/** @throws AppError `invalid_request` */
export function toFilter(query: WorkflowFilter): InstanceFilter {
  const { status, definitionId, version, reference, startedFrom, startedTo } = query;
  const { endedFrom, endedTo, failedFrom, failure, outcome, parent, queued } = query;
  const { unchangedSince, where } = query;
  if (failedFrom !== undefined && unchangedSince !== undefined) {
    throw new AppError(
      'invalid_request',
      'failedFrom and unchangedSince each set the order of the list: give only one of them',
      { parameter: 'unchangedSince' },
    );
  }
  return {
    ...(status !== undefined && { status }),
    ...(definitionId !== undefined && { definitionId }),
    ...(version !== undefined && { version }),
    ...(reference !== undefined && { reference }),
    ...(outcome !== undefined && { outcome }),
    ...(queued === true && { queued }),
    ...(parent !== undefined && { parentId: toParentId(parent) }),
    ...(startedFrom !== undefined && { startedFrom: fromWireTime(startedFrom, 'startedFrom') }),
    ...(startedTo !== undefined && { startedTo: fromWireTime(startedTo, 'startedTo') }),
    ...(endedFrom !== undefined && { endedFrom: fromWireTime(endedFrom, 'endedFrom') }),
    ...(endedTo !== undefined && { endedTo: fromWireTime(endedTo, 'endedTo') }),
    ...(where !== undefined && where.length > 0 && { where: parseConditions(where) }),
    ...(failure !== undefined && { failure: checkedFailureKey(failure) }),
    ...(failedFrom !== undefined && { failedFrom: fromWireTime(failedFrom, 'failedFrom') }),
    ...(unchangedSince !== undefined && {
      unchangedSince: fromWireTime(unchangedSince, 'unchangedSince'),
    }),
  };
}

/** @throws AppError `invalid_request` */
function checkedFailureKey(key: string): string {
  if (FAILURE_KEY.test(key)) return key;
  throw invalid('failure', 'failure must be the key of a group of GET /api/workflow/failures');
}

/** No run has the id `none`, because generated ids are longer. */
function toParentId(parent: string): string | null {
  return parent === 'none' ? null : checkedName(parent, 'parent');
}

export function toWorkflowSummary(instance: host.InstanceListItem): wire.WorkflowSummary {
  const { fairness, failure, index, priority, queued, restartedAs, restartOf, tags } = instance;
  const trigger = toTrigger(instance.trigger);
  // A `bigint` is written as a number.
  const fields = index as wire.IndexFields;
  return {
    ...toWorkflowChange(instance),
    tags,
    priority,
    ...fromFairness(fairness),
    queued,
    index: fields,
    failure,
    restartOf,
    restartedAs,
    trigger,
  };
}

function fromFairness(
  fairness: Fairness | null,
): Pick<wire.WorkflowSummary, 'fairnessKey' | 'fairnessWeight'> {
  return { fairnessKey: fairness?.key ?? null, fairnessWeight: fairness?.weight ?? null };
}

function toTrigger(trigger: host.TriggerView | null): wire.StartedBy | null {
  return trigger === null ? null : { name: trigger.name, time: toWireTime(trigger.time) };
}

/** The form sent to stream listeners, without potentially long members. */
export function toWorkflowChange(
  instance: Omit<
    host.InstanceListItem,
    | 'failure'
    | 'fairness'
    | 'index'
    | 'tags'
    | 'priority'
    | 'queued'
    | 'restartOf'
    | 'restartedAs'
    | 'trigger'
  >,
): wire.ChangedWorkflow {
  return {
    workflowId: instance.id,
    definitionId: instance.definitionId,
    version: instance.version,
    reference: instance.reference,
    status: instance.status,
    outcome: instance.outcome,
    parent: instance.parent === null ? null : { workflowId: instance.parent.workflowId },
    startTime: toWireTime(instance.startTime),
    endTime: toWireTimeOrNull(instance.endTime),
    lastChangeTime: toWireTime(instance.lastChangeTime),
    failureTime: toWireTimeOrNull(instance.failureTime),
    failingSince: toWireTimeOrNull(instance.failingSince),
  };
}

/** Callers that wait for the same run get the same response, which is serialized once. */
const workflows = new WeakMap<host.InstanceView, wire.Workflow>();

export function toWorkflow(instance: host.InstanceView): wire.Workflow {
  const known = workflows.get(instance);
  if (known !== undefined) return known;
  const workflow = newWorkflow(instance);
  workflows.set(instance, workflow);
  return workflow;
}

function newWorkflow(instance: host.InstanceView): wire.Workflow {
  const { data, debounce, lastError, parent, traceId } = instance;
  return {
    ...toWorkflowSummary(instance),
    ...(traceId !== undefined && { traceId }),
    debounce: toDebounce(debounce),
    data,
    lastError: lastError === null ? null : toStepError(lastError),
    parent,
  };
}

/** Callers who may control a run are not necessarily allowed to read it. */
export function toControlledWorkflow(
  instance: host.InstanceView,
  mayRead: boolean,
): wire.ControlledWorkflow {
  if (mayRead) return toWorkflow(instance);
  const { fairness, parent, priority, queued, restartedAs, restartOf, tags } = instance;
  const trigger = toTrigger(instance.trigger);
  const change = toWorkflowChange(instance);
  const order = { priority, ...fromFairness(fairness), queued };
  const debounce = toDebounce(instance.debounce);
  return { ...change, tags, ...order, debounce, parent, restartOf, restartedAs, trigger };
}

export function toStepExecution(step: host.StepView): StepExecution {
  return {
    executionId: step.executionId,
    stepId: step.stepId,
    stepType: step.stepType,
    name: step.name,
    status: step.status,
    attempt: step.attempt,
    startTime: toWireTime(step.startTime),
    endTime: toWireTimeOrNull(step.endTime),
    item: step.item,
    index: step.index,
    inputs: step.inputs,
    outputs: step.outputs,
    error: step.error === null ? null : toStepError(step.error),
    waitsFor: step.waitsFor === null ? null : toStepWait(step.waitsFor),
    reason: step.reason,
    childWorkflowId: step.childWorkflowId,
    compensates: step.compensates,
  };
}

export function toStepError(error: host.StepErrorView): wire.StepError {
  const { stepId, message, type, traceback, data, attempt, time, since } = error;
  const times = { time: toWireTime(time), since: toWireTime(since ?? time) };
  return { stepId, message, type, traceback, data, attempt, ...times };
}

function toStepWait(wait: host.WaitView): StepWait {
  if (wait.kind === 'time' || wait.kind === 'retry') {
    return { kind: wait.kind, until: toWireTime(wait.until) };
  }
  if (wait.kind === 'limit') return { ...wait, since: toWireTime(wait.since) };
  return { ...wait };
}
