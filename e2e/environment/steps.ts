/** Helpers to write the steps of a definition, and to wait until a step is reached. */
import type { DataObject, StepExecution, WorkflowHandle } from '@stepwright/sdk';
import { setTimeout } from 'node:timers/promises';
import type { TestEnvironment } from './test-environment.js';

export interface Step {
  readonly Id: string;
  readonly StepType: string;
  readonly [member: string]: unknown;
}

/** A step that only writes outputs. */
export function assign(
  id: string,
  outputs: Readonly<Record<string, unknown>>,
  more: object = {},
): Step {
  return { Id: id, StepType: 'NoOp', Outputs: outputs, ...more };
}

export function waitFor(id: string, name: string, more: object = {}): Step {
  const inputs = { EventName: `"${name}"`, EventKey: 'context.Workflow.Id' };
  return {
    Id: id,
    StepType: 'WaitFor',
    Inputs: inputs,
    Outputs: { [id]: 'step.EventData' },
    ...more,
  };
}

export function activity(id: string, name: string, more: object = {}): Step {
  return {
    Id: id,
    StepType: 'Activity',
    Inputs: { ActivityName: `"${name}"`, Parameters: { '@from': 'context.Workflow.Id' } },
    Outputs: { [id]: 'step.Result' },
    ...more,
  };
}

/** Registers the steps as a new definition and starts it. */
export async function run(
  environment: TestEnvironment,
  steps: readonly Step[],
  options: { readonly data?: DataObject; readonly definition?: object } = {},
): Promise<WorkflowHandle> {
  const id = environment.unique('definition');
  // The SDK's type is the exact form of the API; tests also use the casing of Conductor.
  await environment.client.definitions.register(
    JSON.stringify({ Id: id, Steps: steps, ...options.definition }),
  );
  return environment.client.workflows.start(id, options.data ?? {});
}

const REACH_MS_MAX = 20_000;

/** Resolves once the step is in one of the statuses. */
export async function reached(
  handle: WorkflowHandle,
  stepId: string,
  ...statuses: readonly StepExecution['status'][]
): Promise<StepExecution> {
  const wanted = statuses.length === 0 ? ['Waiting'] : statuses;
  for (const deadline = Date.now() + REACH_MS_MAX; Date.now() < deadline;) {
    for await (const step of handle.steps()) {
      if (step.stepId === stepId && wanted.includes(step.status)) return step;
    }
    await setTimeout(25);
  }
  throw new Error(`step ${stepId} of ${handle.id} did not become ${wanted.join(' or ')}`);
}
