/** What the page asks the server for beside what the SDK has methods for. */
import {
  ApiError,
  NetworkError,
  type Page,
  type StepError,
  type WorkflowStatus,
  type WorkflowSummary,
} from '@stepwright/sdk';

export type ControlAction = 'suspend' | 'resume' | 'terminate' | 'retry';

export type FixingAction = ControlAction | 'publish-event' | 'complete-activity' | 'fail-activity';

export interface ControlResult {
  readonly workflowId: string;
  readonly outcome: 'done' | 'refused' | 'missing';
  readonly status: WorkflowStatus | null;
}

export interface AuditEntry {
  readonly time: string;
  readonly actor: string;
  readonly action: FixingAction;
  readonly detail: string | null;
}

/** One reason why a run waits. */
export interface WaitReason {
  readonly kind: string;
  readonly text: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly executionId: number | null;
  readonly stepId: string | null;
  readonly stepType: string | null;
  readonly stepName: string | null;
  readonly attempt: number | null;
  readonly index: number | null;
  readonly eventName?: string;
  readonly eventKey?: string;
  readonly activityName?: string;
  /** Of a sub-workflow that is waited for. */
  readonly workflowId?: string;
  readonly nodeId?: string;
  readonly error: StepError | null;
  readonly actions: readonly FixingAction[];
}

export interface Explanation {
  readonly workflowId: string;
  readonly status: WorkflowStatus;
  readonly time: string;
  readonly summary: string;
  readonly reasons: readonly WaitReason[];
  readonly moreReasons: number;
}

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
  readonly audit: (workflowId: string, signal?: AbortSignal) => Promise<Page<AuditEntry>>;
  readonly retry: (workflowId: string) => Promise<unknown>;
  /** At most 100 at once. */
  readonly control: (
    action: ControlAction,
    workflowIds: readonly string[],
    signal?: AbortSignal,
  ) => Promise<{ readonly results: readonly ControlResult[] }>;
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

interface CallParts {
  readonly query?: object;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export function createOperatorApi(token: string | null): OperatorApi {
  const call = <Answer>(method: string, path: string, parts: CallParts = {}): Promise<Answer> =>
    callApi<Answer>({ method, path, token, ...parts });
  const at = (workflowId: string): string => `/api/workflow/${encodeURIComponent(workflowId)}`;
  return {
    listRuns: (query, signal) => call('GET', '/api/workflow', { query, signal }),
    explain: (id, signal) => call('GET', `${at(id)}/explain`, { signal }),
    audit: (id, signal) => call('GET', `${at(id)}/audit`, { signal }),
    retry: (id) => call('PUT', `${at(id)}/retry`),
    control: (action, workflowIds, signal) =>
      call('PATCH', '/api/workflow', { body: { action, workflowIds }, signal }),
    publishEvent: ({ name, key, data }, workflowId) =>
      call('POST', `/api/event/${encodeURIComponent(name)}/${encodeURIComponent(key)}`, {
        query: { workflowId },
        body: data,
      }),
    endActivity: ({ workflowId, executionId }, how, data) =>
      call('POST', `${at(workflowId)}/steps/${executionId}/${how}`, { body: data }),
  };
}

async function callApi<Answer>(
  call: CallParts & {
    readonly method: string;
    readonly path: string;
    readonly token: string | null;
  },
): Promise<Answer> {
  const { method, path, token, query = {}, body, signal } = call;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const failed = { call: `${method} ${path}`, attempts: 1, subject: {} };
  const response = await fetch(`${path}${search.size === 0 ? '' : `?${search.toString()}`}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new NetworkError({ ...failed, cause });
  });
  const text = await response.text();
  if (!response.ok) {
    throw new ApiError({
      ...failed,
      problem: problemOf(response.status, text),
      retryAfterMs: null,
    });
  }
  // The server's own tests hold its answers to their description.
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
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
