/**
 * The types of the API. All of them come from the schema that is generated from the server's API description; nothing is
 * defined twice.
 */
import type { components } from './generated/schema.js';

type Schemas = components['schemas'];

/** An object whose members the caller defines, such as the data of a run. */
export type DataObject = Schemas['DataObject'];
/** A definition, with its members in camelCase. */
export type DefinitionDocument = Schemas['DefinitionDocument'];
/** A step of a definition. */
export type StepDocument = Schemas['StepDocument'];
/** The result of validating a definition. */
export type DefinitionCheck = Schemas['DefinitionCheck'];
/** A definition in a list, in its latest version. */
export type DefinitionSummary = Schemas['DefinitionSummary'];
/** A stored definition, with the version that the server assigned. */
export type RegisteredDefinition = Schemas['RegisteredDefinition'];
/** The status of a run: `Runnable`, `Suspended`, `Complete` or `Terminated`. */
export type WorkflowStatus = Schemas['WorkflowStatus'];
/** How a run ended: `Succeeded`, `Compensated`, `Failed` or `Terminated`. */
export type WorkflowOutcome = Schemas['WorkflowOutcome'];
/** The order in which work waits: 1 goes first, 5 last. */
export type Priority = Schemas['Priority'];
/** A run in a list: everything except its data. */
export type WorkflowSummary = Schemas['WorkflowSummary'];
/** A run that has changed. Read the run for its tags and index fields. */
export type ChangedWorkflow = Omit<
  WorkflowSummary,
  'failure' | 'fairnessKey' | 'fairnessWeight' | 'index' | 'priority' | 'queued' | 'tags'
>;
/** The current steps of a definition's open runs. */
export type OpenSteps = Schemas['OpenSteps'];
/** Failed runs, grouped by cause. */
export type FailureGroups = Schemas['FailureGroups'];
/** Failed runs with the same cause. */
export type FailureGroup = Schemas['FailureGroup'];
export type WorkflowCount = Schemas['WorkflowCount'];
/** The runs found by a text search. */
export type WorkflowFindings = Schemas['WorkflowFindings'];
/** A run found by a text search, with its matches. */
export type FoundWorkflow = Schemas['FoundWorkflow'];
/** Where a text was found in a run. */
export type WorkflowMatch = Schemas['WorkflowMatch'];
/** Explanations of several runs. */
export type Explanations = Schemas['Explanations'];
/** A trigger of a definition. */
export type Trigger = Schemas['Trigger'];
/** The triggers that fire in the next hours. */
export type Schedule = Schemas['Schedule'];
/** A trigger with its times in the next hours. */
export type ScheduledTrigger = Schemas['ScheduledTrigger'];
/** A notification to set up: a target and the run changes to report to it. */
export type NotificationRequest = Schemas['NotificationRequest'];
/** A notification, without its secret. */
export type Notification = Schemas['Notification'];
/** A secret without its value. */
export type Secret = Schemas['Secret'];
/** A change made by a client. */
export type AuditEntry = Schemas['AuditEntry'];
/** An API key to create. */
export type ApiKeyRequest = Schemas['ApiKeyRequest'];
/** An API key, without the key itself. */
export type ApiKey = Schemas['ApiKey'];
/** A newly created API key. */
export type CreatedApiKey = Schemas['CreatedApiKey'];
/** A limit to set up. */
export type LimitRequest = Schemas['LimitRequest'];
/** A limit, with what steps hold of it and what waits for it. */
export type Limit = Schemas['Limit'];
/** The use of a limit by the steps with one key. */
export type LimitKey = Schemas['LimitKey'];
/** How many units of a limit begin in a time. */
export type LimitRate = Schemas['LimitRate'];
/** A limit that a step names. */
export type StepLimitDocument = Schemas['StepLimitDocument'];
/** A webhook to set up: what signed calls from another system do. */
export type WebhookRequest = Schemas['WebhookRequest'];
/** A webhook, without its secret. */
export type Webhook = Schemas['Webhook'];
/** A run change that notifications can report. */
export type NotifiedChange = Schemas['NotifiedChange'];
/** A message to the target of a notification. */
export type Delivery = Schemas['Delivery'];
/** The result of a delivery attempt. */
export type DeliveryAnswer = Schemas['DeliveryAnswer'];
/** Whether a delivery is waiting for an attempt, was accepted, or has failed. */
export type DeliveryState = Schemas['DeliveryState'];
/** A bulk job with its progress and its first failures. */
export type BulkJob = Schemas['BulkJob'];
/** A bulk job in a list: everything except its failures. */
export type BulkJobSummary = Schemas['BulkJobSummary'];
/** The runs that a bulk job would act on. */
export type BulkPreview = Schemas['BulkPreview'];

/** A preview of a termination with compensation. */
export type CompensationPreview = Schemas['CompensationPreview'];
/** The body of a request for a bulk job. */
export type BulkRequestBody = Schemas['BulkRequest'];
/** A newly created bulk job. */
export type CreatedBulkJob = Schemas['CreatedBulkJob'];
/** An action that applies to many runs at once. */
export type ControlAction = Schemas['ControlRequest']['action'];
/** The result of an action for one of many runs. */
export type ControlResult = Schemas['ControlResult'];
/** An action applied to a run. */
export type WorkflowAction = Schemas['WorkflowAction'];
/** One execution of a step in a run. */
export type StepExecution = Schemas['StepExecution'];
/** Why a run is in its current state. */
export type Explanation = Schemas['Explanation'];
/** One reason in an explanation. */
export type WaitReason = Schemas['WaitReason'];
/** One node: a server process. */
export type ServerNode = Schemas['Node'];
/** A client that polls for work items or holds any. */
export type ServerWorker = Schemas['Worker'];
/** The workers of all nodes. */
export type WorkerList = Schemas['WorkerList'];
/** Statistics for the whole server. */
export type Overview = Schemas['Overview'];
/** What happened in one minute or hour. */
export type OverviewBucket = Schemas['OverviewBucket'];
/** The failure of a step. */
export type StepError = Schemas['StepError'];
/** The result of publishing an event. */
export type PublishedEvent = Schemas['PublishedEvent'];
/** An event in a list. */
export type EventSummary = Schemas['EventSummary'];
/** A stored event with all of its data. */
export type StoredEvent = Schemas['StoredEvent'];
/** A step that is waiting for an event. */
export type EventWaiter = Schemas['EventWaiter'];
/** The number of open work items of one activity, by state. */
export type ActivityQueue = Schemas['ActivityQueue'];
/** An open work item. */
export type ActivityItem = Schemas['ActivityItem'];
/** An extended lease. */
export type ExtendedLease = Schemas['ExtendedLease'];
/** A custom step in a list. */
export type StepSummary = Schemas['StepSummary'];
/** A stored custom step. */
export type StoredStep = Schemas['StoredStep'];
/** The node that responded: its name, version, store and environment. */
export type ServerInfo = Schemas['ServerInfo'];
/** The problem document of an error (RFC 9457). */
export type Problem = Schemas['Problem'];
/** One problem in a request or a posted document. */
export type ProblemItem = Schemas['ProblemItem'];

/** Every outcome except `Succeeded`. */
export type FailedOutcome = Exclude<WorkflowOutcome, 'Succeeded'>;

type WorkflowFields = Omit<Schemas['Workflow'], 'status' | 'outcome' | 'endTime' | 'data'>;

/** An open run: `data` is the start data plus what its steps have set so far. */
export interface OpenWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Runnable' | 'Suspended';
  outcome: null;
  endTime: null;
  data: Partial<TData>;
}

/** A run that has succeeded. Only here is `data` guaranteed to be complete. */
export interface SucceededWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Complete';
  outcome: 'Succeeded';
  endTime: string;
  data: TData;
}

/** A run that ended with another outcome: `data` is what its steps had set by then. */
export interface FailedWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Complete' | 'Terminated';
  outcome: FailedOutcome;
  endTime: string;
  data: Partial<TData>;
}

/** A run that has ended; `outcome` says how. */
export type EndedWorkflow<TData extends object = DataObject> =
  SucceededWorkflow<TData> | FailedWorkflow<TData>;

/**
 * One run of a definition. `TData` is the type of the data of a successful run: `data` has this type if `outcome` is
 * `Succeeded`; otherwise, members may be missing.
 */
export type Workflow<TData extends object = DataObject> =
  OpenWorkflow<TData> | EndedWorkflow<TData>;

/**
 * A run after it was suspended, resumed, terminated or retried. `data` and `lastError` are missing if the token does not have
 * the scope `conductor:viewer`.
 */
export type ControlledWorkflow<TData extends object = DataObject> = Omit<
  Schemas['ControlledWorkflow'],
  'data'
> & { data?: Partial<TData> };

/** A run after a start: `joined` is true if an existing run was joined. */
export type StartedWorkflow<TData extends object = DataObject> = ControlledWorkflow<TData> & {
  readonly joined: boolean;
};

/** Changes to a run. */
export type ModificationRequest = Schemas['ModificationRequest'];
/** A rerun of a run from a step. */
export type RerunRequest = Schemas['RerunRequest'];
/** Options for starting a run again. */
export type RestartRequest = Schemas['RestartRequest'];
/** Everything that the server knows about a run. */
export type WorkflowExport = Schemas['WorkflowExport'];
/** The result of a repair. */
export type RepairedWorkflow<TData extends object = DataObject> = Omit<
  Schemas['RepairedWorkflow'],
  'workflow'
> & { workflow: ControlledWorkflow<TData> };

/** A work item for a worker. The worker returns its token with the result. */
export type WorkItem<TName extends string = string, TParameters = unknown> = Omit<
  Schemas['WorkItem'],
  'activityName' | 'parameters'
> & { activityName: TName; parameters: TParameters };

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass this to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}
