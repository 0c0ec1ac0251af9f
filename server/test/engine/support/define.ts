/** Definitions for tests, through the same parser as posted documents. */
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';

/** A step as in a document; its expressions are JavaScript here, see `evaluate.ts`. */
export interface StepSource {
  readonly id: string;
  readonly stepType: string;
  readonly nextStepId?: string;
  readonly selectNextStep?: Readonly<Record<string, unknown>>;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** A flat list is one sequence, a list of lists is several. */
  readonly do?: readonly StepSource[] | readonly (readonly StepSource[])[];
  readonly cancelCondition?: string | boolean;
  readonly proceedOnCancel?: boolean;
  readonly errorBehavior?: string;
  readonly retryInterval?: number | string;
  readonly maxRetries?: number;
  readonly retryBackoff?: number;
  readonly retryJitter?: number;
  readonly onRetriesExhausted?: string;
  readonly nonRetryable?: readonly string[];
  readonly timeout?: number | string;
  readonly compensateWith?: readonly StepSource[];
  readonly saga?: boolean;
  readonly limits?: readonly (string | Readonly<Record<string, unknown>>)[];
}

export interface DefinitionMembers {
  readonly defaultErrorBehavior?: string;
  readonly defaultErrorRetryInterval?: number | string;
}

export function define(
  steps: readonly StepSource[],
  members: DefinitionMembers = {},
): WorkflowDefinition {
  const parsed = parseDefinition({ id: 'tested', ...members, steps }, { version: 1 });
  if (parsed.definition === null) {
    const problems = parsed.errors.map(({ pointer, message }) => `${pointer}: ${message}`);
    throw new Error(`the definition of the test is rejected:\n${problems.join('\n')}`);
  }
  return parsed.definition;
}

/** Steps of a sequence, each with the next one as its NextStepId. */
export function inOrder(...steps: readonly StepSource[]): readonly StepSource[] {
  return steps.map((step, index) => {
    const next = steps[index + 1];
    return next === undefined ? step : { nextStepId: next.id, ...step };
  });
}
