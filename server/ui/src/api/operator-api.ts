/** The API calls of the page: those of the SDK, in the form that the page needs. */
import type {
  ControlAction,
  ControlResult,
  Explanation,
  Page,
  StepwrightClient,
  WaitReason,
  WorkflowAction,
  WorkflowFilter,
  WorkflowOutcome,
  WorkflowStatus,
  WorkflowSummary,
} from '@stepwright/sdk';

export type { ControlAction, Explanation, WaitReason, WorkflowAction as AuditEntry };

/** An action that may resolve why a run is stuck. */
export type FixingAction = WaitReason['actions'][number];

export interface RunQuery {
  readonly status?: WorkflowStatus | undefined;
  readonly outcome?: WorkflowOutcome | undefined;
  /** The id of a run, to list its children; `none` for runs without a parent. */
  readonly parent?: string | undefined;
  readonly definitionId?: string | undefined;
  readonly version?: number | undefined;
  readonly reference?: string | undefined;
  readonly startedFrom?: string | undefined;
  readonly startedTo?: string | undefined;
  readonly failedFrom?: string | undefined;
  readonly unchangedSince?: string | undefined;
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

export interface OperatorApi {
  readonly listRuns: (query: RunQuery, signal?: AbortSignal) => Promise<Page<WorkflowSummary>>;
  readonly explain: (workflowId: string, signal?: AbortSignal) => Promise<Explanation>;
  readonly audit: (workflowId: string, signal?: AbortSignal) => Promise<readonly WorkflowAction[]>;
  readonly retry: (workflowId: string) => Promise<unknown>;
  /** For at most 100 runs per call. */
  readonly control: (
    action: ControlAction,
    workflowIds: readonly string[],
    compensate: boolean,
  ) => Promise<readonly ControlResult[]>;
  readonly publishEvent: (
    event: { readonly name: string; readonly key: string; readonly data: unknown },
    workflowId: string,
  ) => Promise<unknown>;
  readonly endActivity: (
    step: { readonly workflowId: string; readonly executionId: number },
    how: 'success' | 'fail',
    data: unknown,
  ) => Promise<unknown>;
}

export function createOperatorApi(client: StepwrightClient): OperatorApi {
  const { workflows } = client;
  return {
    listRuns: ({ cursor, ...query }, signal) =>
      workflows.list({ ...given(query), ...(signal !== undefined && { signal }) }).page(cursor),
    explain: (id, signal) => workflows.explain(id, signal === undefined ? {} : { signal }),
    audit: (id, signal) => workflows.audit(id, signal === undefined ? {} : { signal }),
    retry: (id) => workflows.retry(id),
    control: (action, workflowIds, compensate) =>
      workflows.control(action, workflowIds, compensate ? { compensate } : {}),
    publishEvent: ({ data, key, name }, workflowId) =>
      client.events.publish(name, key, data, { workflowId }),
    endActivity: ({ workflowId, executionId }, how, data) =>
      how === 'success'
        ? workflows.completeActivity(workflowId, executionId, data)
        : workflows.failActivity(workflowId, executionId, data),
  };
}

/** Leaves out the members without a value. */
function given(query: Omit<RunQuery, 'cursor'>): WorkflowFilter {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
