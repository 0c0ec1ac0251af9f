/** What the page asks the server for: the calls of the SDK, in the form in which the page needs them. */
import {
  ApiError,
  NetworkError,
  type ControlAction,
  type ControlResult,
  type Explanation,
  type Page,
  type StepwrightClient,
  type WaitReason,
  type WorkflowAction,
  type WorkflowFilter,
  type WorkflowStatus,
  type WorkflowSummary,
} from '@stepwright/sdk';

export type { ControlAction, Explanation, WaitReason, WorkflowAction as AuditEntry };

/** What would put a run right. */
export type FixingAction = WaitReason['actions'][number];

export interface RunQuery {
  readonly status?: WorkflowStatus | undefined;
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
  /** At most 100 at once. */
  readonly control: (
    action: ControlAction,
    workflowIds: readonly string[],
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

export function createOperatorApi(client: StepwrightClient, token: string | null): OperatorApi {
  const { workflows } = client;
  return {
    listRuns: ({ cursor, ...query }, signal) =>
      workflows.list({ ...given(query), ...(signal !== undefined && { signal }) }).page(cursor),
    explain: (id, signal) => workflows.explain(id, signal === undefined ? {} : { signal }),
    audit: (id, signal) => workflows.audit(id, signal === undefined ? {} : { signal }),
    retry: (id) => workflows.retry(id),
    control: (action, workflowIds) => workflows.control(action, workflowIds),
    publishEvent: (event, workflowId) => publishEvent(event, { workflowId, token }),
    endActivity: ({ workflowId, executionId }, how, data) =>
      how === 'success'
        ? workflows.completeActivity(workflowId, executionId, data)
        : workflows.failActivity(workflowId, executionId, data),
  };
}

/** The members that have a value. */
function given(query: Omit<RunQuery, 'cursor'>): WorkflowFilter {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/** By itself, because the SDK's call does not say for the sake of which run it is made. */
async function publishEvent(
  event: { readonly name: string; readonly key: string; readonly data: unknown },
  { workflowId, token }: { readonly workflowId: string; readonly token: string | null },
): Promise<void> {
  const failed = { call: 'POST /api/event/{name}/{key}', attempts: 1, subject: { workflowId } };
  const path = `/api/event/${encodeURIComponent(event.name)}/${encodeURIComponent(event.key)}`;
  const search = new URLSearchParams({ workflowId });
  const response = await fetch(`${path}?${search.toString()}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(event.data),
  }).catch((cause: unknown) => {
    throw new NetworkError({ ...failed, cause });
  });
  if (response.ok) return;
  const problem = problemOf(response.status, await response.text());
  throw new ApiError({ ...failed, problem, retryAfterMs: null });
}

function problemOf(status: number, text: string): ApiError['problem'] {
  const unknown = {
    ...{ type: 'about:blank', title: `HTTP ${status}`, status },
    ...{ code: `http_${status}`, detail: `The server answered with ${status}` },
  };
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return unknown;
    return { ...unknown, ...parsed };
  } catch {
    return unknown;
  }
}
