/** The options of the calls on runs. */
import type { FailedOutcome, WorkflowOutcome, WorkflowStatus } from '../api-types.js';
import type { StartData } from '../json.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';

/** The options of `start`. */
export interface StartOptions extends IdempotentCallOptions {
  /** A name that you choose, to find the run again. */
  readonly reference?: string;
}

/** Filters a list of runs. */
export interface WorkflowFilter {
  readonly status?: WorkflowStatus;
  /** How the run ended. */
  readonly outcome?: WorkflowOutcome;
  /** `none`: only runs without a parent. An id: the children of this run. */
  readonly parent?: string;
  readonly definitionId?: string;
  readonly version?: number;
  readonly reference?: string;
  /** Started at this time or later. Strings must be in ISO 8601 format. */
  readonly startedFrom?: Date | string;
  /** Started before this time. */
  readonly startedTo?: Date | string;
  /** Has a step error from this time or later. Sorts by the latest failure first. Excludes `unchangedSince`. */
  readonly failedFrom?: Date | string;
  /** Open, and unchanged since this time. Sorts by the longest unchanged first. Excludes `failedFrom`. */
  readonly unchangedSince?: Date | string;
  /** The page size. @default 50 */
  readonly limit?: number;
}

/** Filters and sorts the executions of a run. */
export interface StepFilter {
  /** `desc`: open executions come first, and the newest before older ones. @default 'asc' */
  readonly order?: 'asc' | 'desc';
  /** Only executions of this step of the definition. */
  readonly stepId?: string;
  /** The page size. @default 50 */
  readonly limit?: number;
}

/** The options of `result`. */
export interface ResultOptions extends CallOptions {
  /**
   * The maximum time to wait, in milliseconds.
   *
   * @default Infinity
   */
  readonly timeoutMs?: number;
}

/** The options of `wait`. */
export interface WaitOptions extends ResultOptions {
  /**
   * The outcomes for which `wait` throws a `WorkflowFailedError`. `any` means all except `Succeeded`.
   *
   * @default none: `wait` returns the run with any outcome
   */
  readonly failOn?: readonly FailedOutcome[] | 'any';
}

/** The start data and the options. Data with required members cannot be omitted. */
export type StartArguments<TInput> =
  Partial<TInput> extends TInput
    ? [data?: StartData<TInput>, options?: StartOptions]
    : [data: StartData<TInput>, options?: StartOptions];
