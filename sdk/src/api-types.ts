/**
 * The words of the API as types. All of them come from the schema that is generated from the server's own description;
 * nothing is written down a second time.
 */
import type { components } from './generated/schema.js';

type Schemas = components['schemas'];

/** An object whose members are the caller's own, such as the data of a workflow. */
export type DataObject = Schemas['DataObject'];
/** A workflow definition with its members in camelCase. */
export type DefinitionDocument = Schemas['DefinitionDocument'];
/** A step of a definition. */
export type StepDocument = Schemas['StepDocument'];
/** What a check of a definition found. */
export type DefinitionCheck = Schemas['DefinitionCheck'];
/** A definition in a list: its newest version. */
export type DefinitionSummary = Schemas['DefinitionSummary'];
/** A definition that was stored, with the version it was given. */
export type RegisteredDefinition = Schemas['RegisteredDefinition'];
/** The state of a workflow: `Runnable`, `Suspended`, `Complete` or `Terminated`. */
export type WorkflowStatus = Schemas['WorkflowStatus'];
/** How a workflow ended: `Succeeded`, `Compensated`, `Failed` or `Terminated`. */
export type WorkflowOutcome = Schemas['WorkflowOutcome'];
/** A workflow in a list: everything but its data. */
export type WorkflowSummary = Schemas['WorkflowSummary'];
/** What can be done to many workflows at once. */
export type ControlAction = Schemas['ControlRequest']['action'];
/** What became of one of many workflows. */
export type ControlResult = Schemas['ControlResult'];
/** Something that was done to a workflow. */
export type WorkflowAction = Schemas['WorkflowAction'];
/** One execution of a step in a workflow. */
export type StepExecution = Schemas['StepExecution'];
/** Why a workflow stands where it stands. */
export type Explanation = Schemas['Explanation'];
/** One reason of an explanation. */
export type WaitReason = Schemas['WaitReason'];
/** One process of the server. */
export type ServerNode = Schemas['Node'];
/** The failure of a step. */
export type StepError = Schemas['StepError'];
/** An event that was stored. */
export type PublishedEvent = Schemas['PublishedEvent'];
/** An event in a list. */
export type EventSummary = Schemas['EventSummary'];
/** An event with all of its data. */
export type StoredEvent = Schemas['StoredEvent'];
/** A step that waits for an event. */
export type EventWaiter = Schemas['EventWaiter'];
/** The work of one name that is not done yet, in numbers. */
export type ActivityQueue = Schemas['ActivityQueue'];
/** A work item that is not done. */
export type ActivityItem = Schemas['ActivityItem'];
/** A lease that was extended. */
export type ExtendedLease = Schemas['ExtendedLease'];
/** A custom step in a list. */
export type StepSummary = Schemas['StepSummary'];
/** A custom step that was stored. */
export type StoredStep = Schemas['StoredStep'];
/** The server that answered. */
export type ServerInfo = Schemas['ServerInfo'];
/** An error as the server describes it (RFC 9457). */
export type Problem = Schemas['Problem'];
/** One thing that is wrong with a request or a posted document. */
export type ProblemItem = Schemas['ProblemItem'];

/** Every outcome but `Succeeded`. */
export type FailedOutcome = Exclude<WorkflowOutcome, 'Succeeded'>;

type WorkflowFields = Omit<Schemas['Workflow'], 'status' | 'outcome' | 'endTime' | 'data'>;

/** A workflow that is still open: `data` is what it started with and what its steps have set so far. */
export interface OpenWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Runnable' | 'Suspended';
  outcome: null;
  endTime: null;
  data: Partial<TData>;
}

/** A workflow that came to its end with everything done: only here `data` is sure to be whole. */
export interface SucceededWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Complete';
  outcome: 'Succeeded';
  endTime: string;
  data: TData;
}

/** A workflow that ended in another way: `data` is what its steps had set by then. */
export interface FailedWorkflow<TData extends object = DataObject> extends WorkflowFields {
  status: 'Complete' | 'Terminated';
  outcome: FailedOutcome;
  endTime: string;
  data: Partial<TData>;
}

/** A workflow that has ended; `outcome` says how. */
export type EndedWorkflow<TData extends object = DataObject> =
  SucceededWorkflow<TData> | FailedWorkflow<TData>;

/**
 * One run of a definition. `TData` is the type of its data when it has succeeded: `data` has that type where `outcome` is
 * `Succeeded`, and may lack members otherwise.
 */
export type Workflow<TData extends object = DataObject> =
  OpenWorkflow<TData> | EndedWorkflow<TData>;

/**
 * A workflow after it was suspended, resumed, terminated or retried. `data` and `lastError` are missing when the token does
 * not have the scope `conductor:viewer`.
 */
export type ControlledWorkflow<TData extends object = DataObject> = Omit<
  Schemas['ControlledWorkflow'],
  'data'
> & { data?: Partial<TData> };

/** Work for a worker, to be answered with its token. */
export type WorkItem<TName extends string = string, TParameters = unknown> = Omit<
  Schemas['WorkItem'],
  'activityName' | 'parameters'
> & { activityName: TName; parameters: TParameters };

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Gets the next page; null on the last one. */
  readonly nextCursor: string | null;
}
