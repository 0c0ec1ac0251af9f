/**
 * The facade that the API calls: one method for each thing a client can ask for.
 *
 * Everything here is checked by type but not by value: lengths, casing and formats are the API's business. Times are
 * milliseconds since 1970. Every method may throw AppError; the codes that matter are named at each method, and
 * `store_unavailable`, `overloaded`, `stopping` can come from all of them.
 */
import type { DocumentProblem } from '../engine/model/definition.js';
import type { Json, JsonObject } from '../engine/values/json.js';
import type { AuditEntry, InstanceOutcome, InstanceStatus, Store } from '../store/store.js';
import type { Backplane, ChangeBatch } from '../backplane/backplane.js';
import type { ReportedResult } from './activities/activity-results.js';
import type { ChangeFilter } from './changes/change-watch.js';
import type { Explanation } from './operations/explain/explanation.js';
import type { NodeDetails } from './fleet/node-details.js';
import type { EventName } from './events/event-queries.js';
import type {
  ActivityItemView,
  ActivityQueueView,
  ControlOutcome,
  EventView,
  EventWaiterView,
  SteerAction,
  StoredEventView,
} from './operations/operator-views.js';
import type { Service } from '../base/service.js';

/** Who acts where no token says who it is. */
export const ANONYMOUS = 'anonymous';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
}

/** The caller's Idempotency-Key and a hash of the request that it came with. */
export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: string;
}

export interface DefinitionSummary {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  readonly createdAt: number;
}

export interface RegisteredDefinition {
  readonly id: string;
  readonly version: number;
  readonly warnings: readonly DocumentProblem[];
}

export interface DefinitionCheck {
  readonly valid: boolean;
  readonly errors: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
}

/** A step error as users see it. */
export interface StepErrorView {
  readonly stepId: string;
  readonly message: string;
  /** The Python exception's class, or the server's own word such as `Timeout` or `ActivityFailed`. */
  readonly type: string;
  readonly traceback: string | null;
  /** What an activity worker reported with its failure. */
  readonly data: Json;
  readonly attempt: number;
  readonly time: number;
}

export interface InstanceView {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly status: InstanceStatus;
  /** Null while it is open. */
  readonly outcome: InstanceOutcome | null;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The newest commit or control action. */
  readonly lastChangeTime: number;
  /** When the error came that `lastError` shows. */
  readonly failureTime: number | null;
  readonly data: JsonObject;
  readonly lastError: StepErrorView | null;
  readonly parent: ParentView | null;
}

/** The SubWorkflow step that started an instance. */
export interface ParentView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Null for an instance that was started before the server noted it. */
  readonly stepId: string | null;
}

/** An instance in a list: without its data, and only the id of its parent. */
export interface InstanceListItem extends Omit<InstanceView, 'data' | 'lastError' | 'parent'> {
  readonly parent: Pick<ParentView, 'workflowId'> | null;
}

export interface InstanceListRequest extends PageRequest {
  readonly status?: InstanceStatus;
  readonly definitionId?: string;
  readonly version?: number;
  readonly reference?: string;
  readonly outcome?: InstanceOutcome;
  /** Those that this instance started; null: those that a client started. */
  readonly parentId?: string | null;
  readonly startedFrom?: number;
  readonly startedTo?: number;
  /** Newest failure first. */
  readonly failedFrom?: number;
  /** Longest unchanged first. Not together with `failedFrom`. */
  readonly unchangedSince?: number;
}

/** Which steps of an instance are wanted. */
export interface StepListRequest extends PageRequest {
  /** `asc`: in the order in which they ended, then what is open; `desc`: the other way round. */
  readonly order: 'asc' | 'desc';
  /** Null: every step. */
  readonly stepId: string | null;
}

/** What an open step waits for. */
export type WaitView =
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'retry'; readonly until: number }
  | { readonly kind: 'event'; readonly eventName: string; readonly eventKey: string }
  | { readonly kind: 'activity'; readonly activityName: string }
  | { readonly kind: 'workflow'; readonly workflowId: string }
  /** Steps inside of it. */
  | { readonly kind: 'steps'; readonly open: number };

export type StepStatus =
  'Pending' | 'Running' | 'Waiting' | 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

export interface StepView {
  /** The place of this execution in the instance: a number that is never given twice. */
  readonly executionId: number;
  readonly stepId: string;
  readonly stepType: string;
  readonly name: string | null;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly startTime: number;
  readonly endTime: number | null;
  /** The item and index of the enclosing Foreach. */
  readonly item: Json;
  readonly index: number | null;
  readonly inputs: Json;
  readonly outputs: Json;
  readonly error: StepErrorView | null;
  readonly waitsFor: WaitView | null;
  /** Of a SubWorkflow step: the instance that it starts. It may be about to be started. */
  readonly childWorkflowId: string | null;
}

export interface ChangeListener {
  /** The next changes, at once when there are some; an empty batch after `waitMs`; null when the server is stopping. */
  next(waitMs: number): Promise<ChangeBatch | null>;
  /** Must be called in the end; may be called twice. */
  close(): void;
}

export interface StartRequest {
  readonly definitionId: string;
  readonly data: JsonObject;
  readonly reference: string | null;
  readonly idempotency: IdempotencyKey | null;
}

export interface PublishRequest {
  readonly name: string;
  readonly key: string;
  readonly data: Json;
  readonly idempotency: IdempotencyKey | null;
  /** For the sake of which instance, and by whom: noted there. */
  readonly forWorkflow?: { readonly workflowId: string; readonly actor: string };
}

export interface PublishedEvent {
  readonly id: string;
  /** How many waiting instances it was handed to at once. Later waits can still take it. */
  readonly deliveredTo: number;
}

export interface PullRequest {
  readonly name: string;
  readonly workerId: string;
  readonly timeoutMs: number;
  /** Null: the item is held until it is completed or released. */
  readonly leaseMs: number | null;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

export interface WorkItem {
  readonly token: string;
  readonly activityName: string;
  readonly parameters: Json;
  /** Null: never. */
  readonly tokenExpiresAt: number | null;
  readonly workflowId: string;
  readonly stepId: string;
  readonly executionId: number;
  /** The same for all attempts of the execution. */
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export interface StepScriptView {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly createdAt: number;
}

/** A script that was stored just now. */
export interface StoredScript extends StepScriptView {
  readonly warnings: readonly DocumentProblem[];
}

/** A script in a list. */
export type StepScriptSummary = Omit<StepScriptView, 'source'>;

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly startTime: number;
  readonly machineName: string;
  readonly osVersion: string;
  readonly workingSet: number;
  readonly nodeId: string;
  readonly store: Store['kind'];
  readonly backplane: Backplane['kind'];
}

/** One process life that shares the store. */
export interface NodeView {
  readonly id: string;
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly lastBeatTime: number;
  readonly isAlive: boolean;
  /** The one that answers. */
  readonly isThis: boolean;
  /** Not reachable for a node that cannot write its heartbeat. */
  readonly store: { readonly kind: Store['kind']; readonly reachable: boolean };
  /** Of the last heartbeat; null where the node does not tell. */
  readonly details: NodeDetails | null;
}

export interface Readiness {
  readonly ready: boolean;
  /** Why not, in sentences; empty when ready. */
  readonly reasons: readonly string[];
}

export interface WorkflowHost extends Service {
  /** Strict: warnings count as errors. @throws AppError `invalid_definition` with every problem; `idempotency_conflict` */
  registerDefinition(
    document: unknown,
    idempotency: IdempotencyKey | null,
    strict?: boolean,
  ): Promise<RegisteredDefinition>;
  /** Stores nothing. @throws AppError `invalid_definition` when it is strict and anything was found */
  checkDefinition(document: unknown, strict?: boolean): Promise<DefinitionCheck>;
  /** The document with canonical member names and its version. @throws AppError `definition_not_found` */
  getDefinition(
    id: string,
    version: number | 'latest',
  ): Promise<{ readonly document: JsonObject; readonly summary: DefinitionSummary }>;
  listDefinitions(page: PageRequest): Promise<Page<DefinitionSummary>>;
  /** Newest first. @throws AppError `definition_not_found` */
  listDefinitionVersions(id: string, page: PageRequest): Promise<Page<DefinitionSummary>>;

  /** @throws AppError `definition_not_found`, `idempotency_conflict` */
  startWorkflow(request: StartRequest): Promise<InstanceView>;
  /** @throws AppError `workflow_not_found` */
  getWorkflow(id: string): Promise<InstanceView>;
  /** Answers when the instance has ended, the time is over or the signal fires. @throws AppError `workflow_not_found` */
  waitForWorkflow(id: string, timeoutMs: number, signal: AbortSignal): Promise<InstanceView>;
  /** @throws AppError `invalid_request` for a cursor that is not one of ours */
  listWorkflows(request: InstanceListRequest): Promise<Page<InstanceListItem>>;
  /** What ran, and what is open. @throws AppError `workflow_not_found` */
  listWorkflowSteps(id: string, request: StepListRequest): Promise<Page<StepView>>;
  /** Why it stands where it stands, in words. @throws AppError `workflow_not_found` */
  explainWorkflow(id: string): Promise<Explanation>;
  /** What changes from now on, here and, where they can be heard, on other nodes. @throws AppError `too_many_requests` */
  watchChanges(filter: ChangeFilter): ChangeListener;
  /**
   * Suspends, resumes, terminates (with or without compensation), or tries failed steps again at once. Terminating leaves
   * one that has ended as it is.
   * @throws AppError `workflow_not_found`, `status_conflict`
   */
  controlWorkflow(id: string, action: SteerAction, actor: string): Promise<InstanceView>;
  /** Each by itself; what became of each, in the order of the ids. */
  controlWorkflows(
    ids: readonly string[],
    action: SteerAction,
    actor: string,
  ): Promise<readonly ControlOutcome[]>;
  /**
   * Answers a waiting Activity step in place of its worker.
   * @throws AppError `workflow_not_found`, `execution_not_found`, `action_conflict`
   */
  answerAwaitedActivity(
    execution: { readonly workflowId: string; readonly executionId: number },
    result: ReportedResult,
    actor: string,
  ): Promise<void>;
  /** What was done to an instance and by whom, newest first. @throws AppError `workflow_not_found` */
  listWorkflowActions(id: string): Promise<readonly AuditEntry[]>;

  /** Durable before it resolves. @throws AppError `idempotency_conflict`, `workflow_not_found` */
  publishEvent(request: PublishRequest): Promise<PublishedEvent>;
  /** Newest first; of one name and key, or all. */
  listEvents(of: EventName | null, page: PageRequest): Promise<Page<EventView>>;
  /** With all of its data. @throws AppError `event_not_found` */
  getEvent(id: string): Promise<StoredEventView>;
  listEventWaiters(of: EventName, page: PageRequest): Promise<Page<EventWaiterView>>;

  /** The names with the most waiting items first; at most 500. */
  listActivityQueues(): Promise<readonly ActivityQueueView[]>;
  /** In the order of the queue: what waits, the oldest first, then what is deferred, then what is held. */
  listActivityItems(name: string, page: PageRequest): Promise<Page<ActivityItemView>>;
  /** The oldest waiting item; null when none came in time. */
  pullActivity(request: PullRequest): Promise<WorkItem | null>;
  /** @throws AppError `activity_not_found` for an unknown or stale token */
  completeActivity(token: string, result: ReportedResult): Promise<void>;
  /** `leaseMs` null: as long as the item was taken for. @throws AppError `activity_not_found` */
  extendActivity(
    token: string,
    leaseMs: number | null,
  ): Promise<{ readonly tokenExpiresAt: number }>;
  /** @throws AppError `activity_not_found` */
  releaseActivity(token: string): Promise<void>;

  /** @throws AppError `invalid_script` with line and column, when strict also for warnings; `reserved_step_name` */
  putStepScript(name: string, source: string, strict?: boolean): Promise<StoredScript>;
  /** @throws AppError `step_not_found` */
  getStepScript(name: string, version: number | 'latest'): Promise<StepScriptView>;
  listStepScripts(page: PageRequest): Promise<Page<StepScriptSummary>>;
  /** Newest first. @throws AppError `step_not_found` */
  listStepScriptVersions(name: string, page: PageRequest): Promise<Page<StepScriptSummary>>;

  /** Every node that shares the store, ordered by id; one that died is kept for a while. */
  listNodes(): Promise<readonly NodeView[]>;
  info(): ServerInfo;
  readiness(): Readiness;
  /** Prometheus text and its media type. */
  metrics(): Promise<{ readonly text: string; readonly contentType: string }>;
}
