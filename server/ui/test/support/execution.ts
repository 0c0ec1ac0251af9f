import type { StepExecution } from '@stepwright/sdk';

/** An execution of step `a` that has completed, with other members as given. */
export function execution(parts: Partial<StepExecution>): StepExecution {
  return {
    executionId: 1,
    stepId: 'a',
    stepType: 'NoOp',
    name: null,
    status: 'Complete',
    attempt: 1,
    startTime: '2026-05-04T10:20:30.125Z',
    endTime: null,
    item: null,
    index: null,
    inputs: null,
    outputs: null,
    error: null,
    waitsFor: null,
    reason: null,
    childWorkflowId: null,
    compensates: null,
    ...parts,
  };
}
