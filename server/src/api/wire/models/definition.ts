/** Workflow definitions on the wire. */
import type { ProblemItem } from './problem.js';

/**
 * What happens when a step fails.
 */
export type ErrorBehavior = 'Retry' | 'Suspend' | 'Terminate' | 'Compensate';

/**
 * A Python expression; a number, boolean or null is that constant.
 */
export type Expression = string | number | boolean | null;

/**
 * A time span: seconds as a number, `hh:mm:ss[.fff]`, `d.hh:mm:ss`, or ISO 8601 such as `PT5S`.
 */
export type Duration = string | number | null;

/**
 * A step of a definition. Member names are accepted in any casing and answered as shown here.
 */
export interface StepDocument {
  /**
   * Unique in the whole definition, nested and compensation steps included.
   */
  id: string;
  /**
   * A built-in type (in any casing) or the name of a custom step.
   * @example "EmitLog"
   */
  stepType: string;
  /**
   * A label for people.
   */
  name?: string | null;
  /**
   * The step that follows; steps before this one are allowed and make a loop.
   */
  nextStepId?: string | null;
  /**
   * Further steps that follow, each when its expression is true; several run in parallel.
   */
  selectNextStep?: { [stepId: string]: Expression };
  /**
   * Inputs by name: expressions, or object graphs in which a key that starts with `@` has its value evaluated.
   */
  inputs?: { [name: string]: unknown };
  /**
   * Fields of the workflow's data, each with the expression for its new value.
   */
  outputs?: { [key: string]: Expression };
  /**
   * Of containers: the sequences inside.
   */
  do?: StepDocument[][];
  /**
   * While this is true, the step's open work is cancelled.
   */
  cancelCondition?: Expression;
  /**
   * Whether what follows the step still runs after a cancellation.
   */
  proceedOnCancel?: boolean;
  /**
   * What happens when the step fails; the definition's default otherwise.
   */
  errorBehavior?: ErrorBehavior | null;
  /**
   * Time between two tries.
   */
  retryInterval?: Duration;
  /**
   * How often a failed step is tried again; unlimited when left out.
   */
  maxRetries?: number | null;
  /**
   * Factor by which the interval grows from try to try.
   */
  retryBackoff?: number;
  /**
   * From 0 to 1: each pause is longer by a random part of it, up to this fraction.
   */
  retryJitter?: number;
  /**
   * What happens after the last retry, or when another attempt cannot succeed. When left out: what would happen without
   * retries, and Suspend where that would be a retry.
   */
  onRetriesExhausted?: 'Suspend' | 'Terminate' | 'Compensate';
  /**
   * Error types that are not retried, as errors show them.
   */
  nonRetryable?: string[];
  /**
   * How long one try may take.
   */
  timeout?: Duration;
  /**
   * The steps that undo this one.
   */
  compensateWith?: StepDocument[];
  /**
   * Whether a failure inside compensates everything that completed inside that is complete.
   */
  saga?: boolean;
}

/**
 * A workflow definition. The first step is the entry. Member names are accepted in any casing.
 *
 * @example {
 *   "id": "greeting",
 *   "description": "Greets whoever is in the data",
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
   * Assigned by the server: 1, 2, 3 …; ignored in requests.
   */
  version?: number;
  /**
   * A sentence for people.
   */
  description?: string | null;
  /**
   * What happens when a step fails that does not say it itself; Retry when left out.
   */
  defaultErrorBehavior?: ErrorBehavior;
  /**
   * Time between two tries of a step that does not say it itself; 60 seconds when left out.
   */
  defaultErrorRetryInterval?: Duration;
  /**
   * The steps, at least one; the first is where a workflow begins.
   */
  steps: StepDocument[];
}

/**
 * A definition that was stored.
 *
 * @example { "id": "greeting", "version": 1, "warnings": [] }
 */
export interface RegisteredDefinition {
  id: string;
  /**
   * The version that it was given.
   * @isInt
   */
  version: number;
  /**
   * What is odd about the document but not wrong.
   */
  warnings: ProblemItem[];
}

/**
 * What a check of a definition found.
 *
 * @example { "valid": true, "errors": [], "warnings": [] }
 */
export interface DefinitionCheck {
  /**
   * Whether it would be stored.
   */
  valid: boolean;
  errors: ProblemItem[];
  warnings: ProblemItem[];
}

/**
 * A definition in a list: its newest version.
 *
 * @example {
 *   "id": "greeting",
 *   "version": 2,
 *   "description": "Greets whoever is in the data",
 *   "createdAt": "2026-05-04T10:20:30.000Z"
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
  createdAt: string;
}

/**
 * Definitions, one page of them.
 */
export interface DefinitionPage {
  items: DefinitionSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
