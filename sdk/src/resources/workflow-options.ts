/** Options for the calls on runs. */
import type { FailedOutcome, Priority, StepExecution } from '../api-types.js';
import type { paths } from '../generated/schema.js';
import type { StartData } from '../json.js';
import type { CallOptions, IdempotentCallOptions } from '../options.js';

/** The options of `start`. */
export interface StartOptions extends IdempotentCallOptions {
  /**
   * A name of your choice for finding the run.
   *
   * @default the value of the definition's `Reference`
   */
  readonly reference?: string;
  /**
   * The version of the definition to start.
   *
   * @default the latest
   */
  readonly version?: number;
  /** When the first step runs: a `Date`, or a string in ISO 8601 format. A time in the past means now. */
  readonly startAt?: Date | string;
  /** How long after the start the first step runs: seconds, or a string such as `PT5M`. Can't be combined with `startAt`. */
  readonly delay?: number | string;
  /**
   * Further starts of the definition with the same `debounceKey` join the run: its first step runs this long after the last of
   * them, in seconds or as a string such as `PT5M`. Can't be combined with `startAt` and `delay`.
   */
  readonly debounce?: number | string;
  /**
   * With `debounce`: which starts belong together, up to 256 characters.
   *
   * @default all starts without a key
   */
  readonly debounceKey?: string;
  /**
   * With `debounce`: how long after the first start the first step runs at the latest.
   *
   * @default ten times `debounce`
   */
  readonly debounceMax?: number | string;
  /**
   * With `debounce`: whose data the run gets. `list` collects the data of all starts, as `{ items: [...] }`. The first start
   * decides.
   *
   * @default 'last'
   */
  readonly debounceData?: 'last' | 'first' | 'list';
  /** Tags of the run. They override the tags of the definition with the same names. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * The order in which the work of the run waits: 1 goes first, 5 last.
   *
   * @default the `Priority` of the definition, or 3
   */
  readonly priority?: Priority;
  /**
   * Whose work it is: among work of equal priority, keys take turns. At most 256 characters. An empty key means none.
   *
   * @default the `Key` of the definition's `Fairness`
   */
  readonly fairnessKey?: string;
  /**
   * The share of the fairness key, from 0.01 to 100. Requires a fairness key.
   *
   * @default the `Weight` of the definition's `Fairness`, or 1
   */
  readonly fairnessWeight?: number;
  /**
   * What happens if another run of the same definition has the same `reference`. `allow` starts another run, `fail` throws
   * `ApiError` `reference_in_use`, `existing` joins the other run, `terminate` terminates open ones first, and `queue` starts the
   * run, whose first step waits until the runs that were open before it have ended. All except `allow` require a `reference`.
   *
   * @default the `OnConflict` of the definition, or `'allow'`
   */
  readonly onConflict?: 'allow' | 'fail' | 'existing' | 'terminate' | 'queue';
  /**
   * Which other runs count: only `open` ones, or all runs that the server still keeps (`kept`), including ended ones.
   *
   * @default the `ConflictScope` of the definition, or `'open'`
   */
  readonly conflictScope?: 'open' | 'kept';
}

type CountQuery = NonNullable<paths['/api/workflow/count']['get']['parameters']['query']>;

/** The options of `run`: those of `start` and `wait`. `timeoutMs` limits the start and the wait together. */
export interface RunOptions
  extends Omit<StartOptions, 'timeoutMs'>, Pick<WaitOptions, 'failOn' | 'timeoutMs'> {}

type ListQuery = NonNullable<paths['/api/workflow']['get']['parameters']['query']>;

/** Filters of times have one of these endings. */
type TimeName = `${string}${'From' | 'To' | 'Since'}`;

/**
 * Filters a list of runs. The members come from the API description. A time is a `Date`, or a string in ISO 8601 format.
 * Undefined members don't filter.
 */
export type WorkflowFilter = FilterOf<Omit<ListQuery, 'cursor'>>;

type FailureQuery = NonNullable<paths['/api/workflow/failures']['get']['parameters']['query']>;

/** Selects failed runs to group, and orders the groups. A time is a `Date`, or a string in ISO 8601 format. */
export type FailureFilter = FilterOf<FailureQuery>;

/** Selects the runs to count. */
export type CountFilter = FilterOf<CountQuery>;

/**
 * `where` takes conditions on tags and index fields, all of which must hold: as text such as `customer=C-17`, or built by `field`
 * and `tag`.
 */
type FilterOf<Query> = {
  readonly [Name in keyof Query]?:
    | (Query[Name] extends string[] | undefined ? string | readonly string[] : Query[Name])
    | (Name extends TimeName ? Date : never)
    | undefined;
};

/** Filters and sorts the executions of a run. An execution must match all filters. */
export interface StepFilter {
  /** `desc`: open executions come first, and the newest before older ones. @default 'asc' */
  readonly order?: 'asc' | 'desc';
  /** Only executions of this step of the definition. */
  readonly stepId?: string;
  /** Only executions with this status. `Retrying` means waiting for the next attempt, and `Waiting` includes it. */
  readonly status?: StepExecution['status'] | 'Retrying';
  /** Only executions for the item with this index, from 0, in the innermost Foreach around the step. */
  readonly item?: number;
  /**
   * Only this iteration, from 1, of the While or Recur `stepId`, with everything that ran inside it. If the step isn't a loop,
   * the execution with this number. Requires `stepId`, and can't be combined with `order: 'desc'`.
   */
  readonly turn?: number;
  /** Only executions with this text in inputs, outputs, item or error, ignoring case. At most 200 characters. */
  readonly search?: string;
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

/** The start data and the options of `run`. */
export type RunArguments<TInput> =
  Partial<TInput> extends TInput
    ? [data?: StartData<TInput>, options?: RunOptions]
    : [data: StartData<TInput>, options?: RunOptions];

/** The start data and the options. Data with required members cannot be omitted. */
export type StartArguments<TInput> =
  Partial<TInput> extends TInput
    ? [data?: StartData<TInput>, options?: StartOptions]
    : [data: StartData<TInput>, options?: StartOptions];
