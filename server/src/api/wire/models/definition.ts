/** The wire types of definitions. */
import type { ConcurrencyDocument } from './concurrency.js';
import type { FairnessDocument } from './fairness.js';
import type { ProblemItem } from './problem.js';
import type { StepLimitDocument } from './step-limit.js';
import type { Time } from './time.js';

/**
 * What happens when a step fails.
 */
export type ErrorBehavior = 'Retry' | 'Suspend' | 'Terminate' | 'Compensate';

/**
 * A Python expression. A number, boolean or null is a constant.
 */
export type Expression = string | number | boolean | null;

/**
 * A duration: seconds as a number, `hh:mm:ss[.fff]`, `d.hh:mm:ss`, or ISO 8601 such as `PT5S`.
 */
export type Duration = string | number | null;

/**
 * A step of a definition. The server accepts member names in any casing, and returns them as shown here.
 */
export interface StepDocument {
  /**
   * Unique in the whole definition, including nested steps and compensation steps.
   */
  id: string;
  /**
   * A built-in step type (in any casing), or the name of a custom step.
   * @example "EmitLog"
   */
  stepType: string;
  /**
   * A human-readable label.
   */
  name?: string | null;
  /**
   * The next step. An earlier step makes a loop.
   */
  nextStepId?: string | null;
  /**
   * Additional next steps. Each one runs if its expression is true; several can run in parallel.
   */
  selectNextStep?: { [stepId: string]: Expression };
  /**
   * Inputs by name: expressions, or maps in which a key that starts with `@` marks an expression.
   */
  inputs?: { [name: string]: unknown };
  /**
   * Fields of the run's data, each with an expression for its new value.
   */
  outputs?: { [key: string]: Expression };
  /**
   * For containers: their sequences.
   */
  do?: StepDocument[][];
  /**
   * Cancels the step when this expression is true.
   */
  cancelCondition?: Expression;
  /**
   * Whether the next steps run after the step has been canceled.
   */
  proceedOnCancel?: boolean;
  /**
   * What happens when the step fails. The default is the definition's error behavior.
   */
  errorBehavior?: ErrorBehavior | null;
  /**
   * The time between two attempts.
   */
  retryInterval?: Duration;
  /**
   * The maximum number of retries; unlimited by default.
   * @isInt
   */
  maxRetries?: number | null;
  /**
   * The factor by which the interval grows with each retry.
   */
  retryBackoff?: number;
  /**
   * From 0 to 1: each interval is extended by a random amount, up to this fraction of it.
   */
  retryJitter?: number;
  /**
   * What happens when the last retry has failed, or when the error is not retryable. The default is the behavior without retries,
   * or Suspend if that would be a retry.
   */
  onRetriesExhausted?: 'Suspend' | 'Terminate' | 'Compensate';
  /**
   * The error types that aren't retried.
   */
  nonRetryable?: string[];
  /**
   * The maximum time of one attempt.
   */
  timeout?: Duration;
  /**
   * At most 10 limits of the server that the step needs slots of; a text is the name of one. For Activity, HttpRequest,
   * SubWorkflow and custom steps.
   */
  limits?: (string | StepLimitDocument)[];
  /**
   * The steps that compensate this step.
   */
  compensateWith?: StepDocument[];
  /**
   * Whether a failure inside compensates every step that completed inside.
   */
  saga?: boolean;
}

/**
 * A trigger of a definition: exactly one of `cron` and `event`. `timeZone`, `overlap`, `catchUp` and `jitter` belong to
 * `cron`.
 */
export interface TriggerDocument {
  /**
   * Unique among the triggers of the definition.
   */
  name: string;
  /**
   * 5 fields, or 6 with seconds first, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
   * @example "0 2 * * *"
   */
  cron?: string | null;
  /**
   * An IANA time zone; by default, UTC.
   */
  timeZone?: string | null;
  /**
   * What happens when the previous run is still open. The default is Skip.
   */
  overlap?: 'Skip' | 'Allow' | 'Queue' | 'Terminate';
  /**
   * Missed due times up to this age still start a run. The default is one minute.
   */
  catchUp?: Duration;
  /**
   * Each start is delayed by up to this time.
   */
  jitter?: Duration;
  /**
   * The events that start a run; without a key, events with any key.
   */
  event?: { name: string; key?: string | null } | null;
  /**
   * Events that follow each other within `period` start one run. `key`, an expression over `context.Trigger`, says which
   * belong together; `max` is the longest time after the first one, ten times `period` by default.
   */
  debounce?: {
    period: Duration;
    key?: Expression;
    max?: Duration;
    data?: 'last' | 'first' | 'list';
  } | null;
  /**
   * The start data; expressions can use `context.Trigger`.
   */
  data?: unknown;
  /**
   * The reference of the run, an expression.
   */
  reference?: Expression;
}

/**
 * A definition. A run begins with the first step. The server accepts member names in any casing.
 *
 * @example {
 *   "id": "greeting",
 *   "description": "Greets the person in the data",
 *   "steps": [
 *     {
 *       "id": "greet",
 *       "stepType": "EmitLog",
 *       "inputs": { "Message": "\"Hello \" + data.name" },
 *       "outputs": { "greeted": "True" }
 *     }
 *   ]
 * }
 */
export interface DefinitionDocument {
  /**
   * The name of the definition.
   */
  id: string;
  /**
   * Assigned by the server: 1, 2, 3 … Ignored in requests.
   * @isInt
   */
  version?: number;
  /**
   * Whether the definition is disabled, so none of its versions can be started. Ignored in requests.
   */
  disabled?: boolean;
  /**
   * Where this version comes from, such as a commit: the `origin` that it was stored with. Ignored in requests.
   */
  origin?: string | null;
  /**
   * A human-readable description.
   */
  description?: string | null;
  /**
   * What happens when a step without its own error behavior fails. The default is Retry.
   */
  defaultErrorBehavior?: ErrorBehavior;
  /**
   * The time between two attempts of a step without its own retry interval. The default is 60 seconds.
   */
  defaultErrorRetryInterval?: Duration;
  /**
   * The JSON Schema (draft 2020-12) of the start data, an object or a boolean. Invalid data is rejected; defaults are filled
   * in.
   */
  input?: { [keyword: string]: unknown } | boolean | null;
  /**
   * At most 16 data fields for finding runs, each with a path such as `data.customer.id`.
   */
  index?: { [name: string]: string } | null;
  /**
   * Tags of every run. A start can add tags and override them.
   */
  tags?: { [name: string]: string } | null;
  /**
   * The default reference of runs: an expression over the start data. If it evaluates to None, the run has no reference.
   */
  reference?: string | number | null;
  /**
   * What happens if another run has the same reference: `allow`, `fail`, `existing`, `terminate` or `queue`, in any casing. A
   * start can override it.
   */
  onConflict?: string | null;
  /**
   * Which other runs count for `onConflict`: `Open` ones, or all `Kept` ones, in any casing. A start can override it.
   */
  conflictScope?: string | null;
  /**
   * The order in which the work of runs waits: 1 goes first, 5 last. The default is 3. A start can override it.
   */
  priority?: number | null;
  /** Work of equal priority is handed out in turns, in proportion to the weights of its keys. A start can override it. */
  fairness?: FairnessDocument | null;
  /**
   * How many runs of all versions are open at a time, for each key. The newest version's holds.
   */
  concurrency?: ConcurrencyDocument | null;
  /**
   * How long ended runs are kept, at least 1 second. Overrides the server's `instance_retention_seconds`.
   */
  retention?: Duration;
  /**
   * Starts runs without a client.
   */
  triggers?: TriggerDocument[] | null;
  /**
   * The steps, at least one. A run begins with the first.
   */
  steps: StepDocument[];
}

/**
 * A stored definition.
 *
 * @example { "id": "greeting", "version": 1, "warnings": [] }
 */
export interface RegisteredDefinition {
  id: string;
  /**
   * The version that the server assigned.
   * @isInt
   */
  version: number;
  /**
   * Probable mistakes in an otherwise valid definition.
   */
  warnings: ProblemItem[];
}

/**
 * The result of checking a definition.
 *
 * @example {
 *   "valid": true,
 *   "errors": [],
 *   "warnings": [],
 *   "triggers": [{ "name": "nightly", "nextTimes": ["2026-05-05T02:00:00.000Z"] }]
 * }
 */
export interface DefinitionCheck {
  /**
   * Whether the server would store the definition.
   */
  valid: boolean;
  errors: ProblemItem[];
  warnings: ProblemItem[];
  /**
   * The triggers; empty if there are errors.
   */
  triggers: TriggerTimes[];
}

/**
 * When a trigger would start runs.
 */
export interface TriggerTimes {
  name: string;
  /**
   * The next five times, ISO 8601, UTC. None for an event trigger.
   */
  nextTimes: Time[];
}

/**
 * A definition in a list, in its latest version.
 *
 * @example {
 *   "id": "greeting",
 *   "version": 2,
 *   "description": "Greets the person in the data",
 *   "createdAt": "2026-05-04T10:20:30.000Z",
 *   "disabled": false,
 *   "origin": "github.com/acme/shop/flows@3f2c1a9",
 *   "createdBy": "ada"
 * }
 */
export interface DefinitionSummary {
  id: string;
  /**
   * @isInt
   */
  version: number;
  description: string | null;
  /**
   * ISO 8601, UTC.
   */
  createdAt: Time;
  /**
   * Whether no version of the definition can be started.
   */
  disabled: boolean;
  /**
   * Where this version comes from, such as a commit: the `origin` that it was stored with; null if there was none.
   */
  origin: string | null;
  /**
   * Who stored this version: the subject (`sub`) of the caller's token, or the name of its API key; `anonymous` if it had
   * none; null if unknown, as for versions that an older server stored.
   */
  createdBy: string | null;
}

/**
 * A page of definitions.
 */
export interface DefinitionPage {
  items: DefinitionSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}

/**
 * The current steps of a definition's open runs.
 *
 * @example { "items": [{ "stepId": "approve", "count": 12 }], "count": 12, "exact": true }
 */
export interface OpenSteps {
  /**
   * The step with the most runs first. A run counts once for each of its open steps, including the containers around them.
   */
  items: OpenStep[];
  /**
   * The number of open runs that were counted.
   * @isInt
   */
  count: number;
  /**
   * False if the server stopped counting: the numbers cover only the runs that haven't changed for the longest time.
   */
  exact: boolean;
}

/**
 * A step with open runs.
 */
export interface OpenStep {
  stepId: string;
  /**
   * The number of runs.
   * @isInt
   */
  count: number;
}
