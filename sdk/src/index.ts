/**
 * The client for a Stepwright server.
 *
 * It provides typed calls with retries, timeouts and errors, and uses only web APIs. It holds no persistent state. It must not
 * know how the server works: its types come from the server's API description (`generated/schema.ts`).
 */
// Must come first: with an outdated Node.js, evaluating the other modules may fail.
import './check-node.js';

export { activity, defineActivities } from './activity-types.js';
export type {
  ActivityDeclaration,
  ActivityDeclarations,
  HandlerParameters,
  HandlerResult,
  SentParameters,
  SentResult,
  TypedActivity,
} from './activity-types.js';
export type {
  ActivityItem,
  ActivityQueue,
  BulkJob,
  BulkJobSummary,
  BulkPreview,
  CompensationPreview,
  ChangedWorkflow,
  ControlAction,
  ControlledWorkflow,
  ControlResult,
  CreatedBulkJob,
  DataObject,
  DefinitionCheck,
  DefinitionDocument,
  DefinitionSummary,
  Delivery,
  DeliveryAnswer,
  DeliveryState,
  EndedWorkflow,
  EventSummary,
  EventWaiter,
  Explanation,
  ExtendedLease,
  FailedOutcome,
  FailedWorkflow,
  FailureGroup,
  Explanations,
  FailureGroups,
  OpenSteps,
  ModificationRequest,
  Notification,
  NotificationRequest,
  ApiKey,
  AuditEntry,
  ApiKeyRequest,
  CreatedApiKey,
  Secret,
  Limit,
  LimitKey,
  LimitRate,
  LimitRequest,
  StepLimitDocument,
  Webhook,
  WebhookRequest,
  NotifiedChange,
  OpenWorkflow,
  Overview,
  OverviewBucket,
  Page,
  Problem,
  ProblemItem,
  PublishedEvent,
  RegisteredDefinition,
  RepairedWorkflow,
  RerunRequest,
  RestartRequest,
  WorkflowExport,
  ServerInfo,
  ServerNode,
  ServerWorker,
  StartedWorkflow,
  StepDocument,
  StepError,
  StepExecution,
  StepSummary,
  StoredStep,
  SucceededWorkflow,
  Schedule,
  ScheduledTrigger,
  Trigger,
  WaitReason,
  WorkerList,
  WorkItem,
  Workflow,
  WorkflowAction,
  FoundWorkflow,
  WorkflowCount,
  WorkflowFindings,
  WorkflowMatch,
  WorkflowOutcome,
  Priority,
  WorkflowStatus,
  WorkflowSummary,
} from './api-types.js';
export type { Change, StreamOptions } from './change-stream.js';
export { field, tag } from './conditions.js';
export type { ConditionsOn, ConditionValue } from './conditions.js';
export { createClient } from './client.js';
export type { StepwrightClient } from './client.js';
export {
  ApiError,
  InvalidAnswerError,
  isApiError,
  isNetworkError,
  isSdkError,
  isTimeoutError,
  isWorkflowFailedError,
  NetworkError,
  SdkError,
  TimeoutError,
  WorkflowFailedError,
} from './errors.js';
export { parseJson, stringifyJson } from './exact-json.js';
export type { LargeIntegers } from './exact-json.js';
export type { CallSubject } from './errors.js';
export type { Json, JsonResult, NotJson, StartData } from './json.js';
export type {
  CallOptions,
  ClientOptions,
  HeaderSource,
  IdempotentCallOptions,
  RetryOptions,
  TerminateOptions,
  TokenSource,
} from './options.js';
export type { PagedList } from './paged-list.js';
export { pause } from './pause.js';
export type {
  ActivitiesResource,
  FailOptions,
  PullOptions,
  WorkReference,
} from './resources/activities.js';
export type { BulkRequest, BulkResource, FollowOptions } from './resources/bulk.js';
export type { DefinitionsResource } from './resources/definitions.js';
export type { EventFilter, EventsResource, PublishOptions } from './resources/events.js';
export type { AuditFilter, AuditResource } from './resources/audit.js';
export type { KeysResource } from './resources/keys.js';
export type { SecretsResource } from './resources/secrets.js';
export type { LimitsResource } from './resources/limits.js';
export type { WebhooksResource } from './resources/webhooks.js';
export type { DeliveryListOptions, NotificationsResource } from './resources/notifications.js';
export type { BackfillPeriod, ScheduleOptions, TriggersResource } from './resources/triggers.js';
export type { NodesResource } from './resources/nodes.js';
export type { WorkerListOptions, WorkersResource } from './resources/workers.js';
export type { StepsResource } from './resources/steps.js';
export type { WorkflowHandle } from './resources/workflow-handle.js';
export type {
  CountFilter,
  FailureFilter,
  ResultOptions,
  RunArguments,
  RunOptions,
  StartArguments,
  StartOptions,
  StepFilter,
  WaitOptions,
  WorkflowFilter,
} from './resources/workflow-options.js';
export type { WorkflowsResource } from './resources/workflows.js';
