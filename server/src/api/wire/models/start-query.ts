/** The wire type of the options of a start. */
import type { DebounceData } from './debounce.js';
import type { Time } from './time.js';
import type { FairnessWeight } from './fairness.js';
import type { ConflictScope, OnConflict, Priority } from './workflow.js';

/**
 * The options of a start.
 */
export interface StartQuery {
  /**
   * A name of your choice for finding the run. By default, the value of the definition's `Reference` expression
   */
  reference?: string;
  /**
   * The version of the definition to start; by default, the latest
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 2147483647 must be at most 2147483647
   */
  version?: number;
  /**
   * When the first step runs, as an ISO 8601 time; a time in the past means now. The run is accepted immediately
   */
  startAt?: Time;
  /**
   * How long after this request the first step runs: seconds, `hh:mm:ss`, `d.hh:mm:ss` or ISO 8601 such as `PT5M`.
   * Can't be combined with `startAt`
   */
  delay?: string;
  /**
   * Further starts of this definition with the same `debounceKey` join the run instead of starting another one: its first step
   * runs this long after the last of them, in the forms of `delay`. Can't be combined with `startAt` or `delay`
   */
  debounce?: string;
  /**
   * With `debounce`: which starts belong together, up to 256 characters. By default, all starts without a key
   */
  debounceKey?: string;
  /**
   * With `debounce`: how long after the first start the first step runs at the latest. By default, ten times `debounce`
   */
  debounceMax?: string;
  /**
   * With `debounce`: whose data the run gets. `last` (default) or `first` start, or `list` for all of them, as
   * `{"items": [...]}` in their order; with 1,000 of them, the run begins at once. The first start decides
   */
  debounceData?: DebounceData;
  /**
   * A tag of the run, as `name:value`. Can be repeated. Overrides the definition's tag with the same name
   */
  tag?: string[];
  /**
   * The order in which the work of the run waits, from 1 (first) to 5 (last). The default is the definition's `Priority`, or 3
   */
  priority?: Priority;
  /**
   * Whose work it is: among work of equal priority, keys take turns. At most 256 characters. An empty one means none. The default
   * is the `Key` of the definition's `Fairness`
   * @maxLength 256 must have at most 256 characters
   */
  fairnessKey?: string;
  /**
   * The share of the fairness key, from 0.01 to 100. The default is the `Weight` of the definition's `Fairness`, or 1. Requires a
   * fairness key
   */
  fairnessWeight?: FairnessWeight;
  /**
   * What happens if another run of the same definition has the same reference. `allow` starts another run.
   * `fail` responds with 409 and the id of the other run. `existing` returns the other run and starts none. `terminate`
   * terminates open runs and starts this one. `queue` accepts this one, and runs its first step when the runs that were open
   * before it have ended. All except `allow` require a reference. The default is the definition's `OnConflict`, or `allow`
   */
  onConflict?: OnConflict;
  /**
   * Which other runs count: only `open` ones, or all runs that the server still keeps (`kept`), including
   * ended ones. The default is the definition's `ConflictScope`, or `open`
   */
  conflictScope?: ConflictScope;
  /**
   * Seconds to wait for the end of the run, up to a limit of the server
   * @isLong must be a whole number of seconds
   * @minimum 0 must not be negative
   * @maximum 9007199254740991 must be at most 9007199254740991
   * @default 0
   */
  wait?: number;
}
