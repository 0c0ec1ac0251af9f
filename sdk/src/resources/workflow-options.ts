/** What the calls on workflows take. */
import type { FailedOutcome, WorkflowOutcome, WorkflowStatus } from '../api-types.js';
import type { StartData } from '../json.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';

/** What `start` takes beside the data. */
export interface StartOptions extends IdempotentCallOptions {
  /** A text of your own, by which the workflow can be found. */
  readonly reference?: string;
}

/** Which workflows a list shows. */
export interface WorkflowFilter {
  readonly status?: WorkflowStatus;
  /** How it ended. */
  readonly outcome?: WorkflowOutcome;
  /** `none`: only those that no workflow started; an id: the children of that workflow. */
  readonly parent?: string;
  readonly definitionId?: string;
  readonly version?: number;
  readonly reference?: string;
  /** Started at this time or later. A text is ISO 8601. */
  readonly startedFrom?: Date | string;
  /** Started before this time. */
  readonly startedTo?: Date | string;
  /** Shows a step error of this time or later; the newest failure comes first. Not together with `unchangedSince`. */
  readonly failedFrom?: Date | string;
  /** Open, and not changed since this time; the longest unchanged comes first. Not together with `failedFrom`. */
  readonly unchangedSince?: Date | string;
  /** The size of a page. @default 50 */
  readonly limit?: number;
}

/** Which steps of a workflow a list shows, and in which order. */
export interface StepFilter {
  /** `desc`: what is open comes first, the newest before the others. @default 'asc' */
  readonly order?: 'asc' | 'desc';
  /** Only executions of this step of the definition. */
  readonly stepId?: string;
  /** The size of a page. @default 50 */
  readonly limit?: number;
}

/** How long `result` waits. */
export interface ResultOptions extends CallOptions {
  /**
   * How long to wait in all.
   *
   * @default without a limit
   */
  readonly timeoutMs?: number;
}

/** How long `wait` waits, and for what. */
export interface WaitOptions extends ResultOptions {
  /**
   * The outcomes that `wait` throws a `WorkflowFailedError` for; `any` is all but `Succeeded`.
   *
   * @default none: the workflow is returned however it ended, and its `outcome` says how
   */
  readonly failOn?: readonly FailedOutcome[] | 'any';
}

/** The data of a start and its options. Data that has to have members cannot be left out. */
export type StartArguments<TInput> =
  Partial<TInput> extends TInput
    ? [data?: StartData<TInput>, options?: StartOptions]
    : [data: StartData<TInput>, options?: StartOptions];
