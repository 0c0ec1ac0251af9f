/**
 * A workflow definition in the form that the engine runs: validated, with canonical step types, durations in
 * milliseconds and every expression already found. `parse-definition.ts` makes it from a posted document.
 */
import type { BuiltInStepType } from '../definitions/step-type-names.js';
import type { Json } from '../values/json.js';

export const ERROR_BEHAVIORS = ['Retry', 'Suspend', 'Terminate', 'Compensate'] as const;
export type ErrorBehavior = (typeof ERROR_BEHAVIORS)[number];

/** What a retried step does once its retries are used up. */
export type ExhaustedBehavior = Exclude<ErrorBehavior, 'Retry'>;

/**
 * How one input gets its value.
 * - `constant`: a number, boolean, null or list in the document.
 * - `expression`: a Python expression.
 * - `graph` and `list`: literal structure in which only the parts marked with `@` are evaluated.
 */
export type InputValue =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'expression'; readonly source: string }
  | { readonly kind: 'graph'; readonly fields: readonly (readonly [string, InputValue])[] }
  | { readonly kind: 'list'; readonly items: readonly InputValue[] };

export interface StepDefinition {
  readonly id: string;
  /** A built-in type, or null for a custom step; then `typeName` names the script. */
  readonly type: BuiltInStepType | null;
  /** The type as shown to users: the canonical built-in name or the custom step's own. */
  readonly typeName: string;
  readonly name: string | null;
  readonly nextStepId: string | null;
  readonly selectNextStep: readonly { readonly stepId: string; readonly condition: InputValue }[];
  /** In document order; the names of a built-in step's inputs in their canonical spelling. */
  readonly inputs: readonly { readonly name: string; readonly value: InputValue }[];
  /** In document order, which is also the order of evaluation. */
  readonly outputs: readonly { readonly key: string; readonly value: InputValue }[];
  /** The entry step id of each sequence of Do. */
  readonly do: readonly string[];
  readonly cancelCondition: InputValue | null;
  readonly proceedOnCancel: boolean;
  /** Null: Compensate where something can be compensated, else the definition's default. */
  readonly errorBehavior: ErrorBehavior | null;
  readonly retryIntervalMs: number;
  /** Null: unlimited. */
  readonly maxRetries: number | null;
  readonly retryBackoff: number;
  /** From 0 to 1: the part of a pause by which it may be longer. */
  readonly retryJitter: number;
  /** Without an ErrorBehavior: it has MaxRetries or RetryBackoff, so it is retried before anything else is done. */
  readonly retriesFirst: boolean;
  /** Null: what would happen without retries; Suspend where that would be a retry. */
  readonly onRetriesExhausted: ExhaustedBehavior | null;
  /** Types of errors that another attempt cannot mend. */
  readonly nonRetryable: readonly string[];
  readonly timeoutMs: number | null;
  /** The entry step id of the compensation chain. */
  readonly compensateWith: string | null;
  readonly saga: boolean;
}

export interface WorkflowDefinition {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  readonly defaultErrorBehavior: ErrorBehavior;
  readonly entryStepId: string;
  /** Every step by id, nested and compensation steps included. */
  readonly steps: ReadonlyMap<string, StepDefinition>;
}

/** One thing that is wrong with (or odd about) a posted document. */
export interface DocumentProblem {
  /** Stable, machine readable, e.g. `unknown_step_type`. */
  readonly code: string;
  readonly message: string;
  /** JSON pointer (RFC 6901) into the document as it was posted, e.g. `/Steps/0/NextStepId`. */
  readonly pointer: string;
  /** Of a script, which has lines but no members: instead of the pointer, which is empty then. */
  readonly place?: { readonly line: number; readonly column: number };
  /** What to write there instead, where that is clear. */
  readonly suggestion?: string;
}

/** Retry interval where neither the step nor the definition gives one. */
export const DEFAULT_RETRY_INTERVAL_MS = 60_000;
