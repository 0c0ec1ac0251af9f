/** What a test sees of a run. */
import type { JsonObject } from '../engine/values/json.js';
import type { Host } from '../runtime/host.js';
import type { InstanceView, StepView } from '../runtime/model/instance-types.js';
import type { Explanation } from '../runtime/explain/explanation.js';

export interface TestRun extends Pick<
  InstanceView,
  | 'definitionId'
  | 'id'
  | 'lastError'
  | 'outcome'
  | 'queued'
  | 'reference'
  | 'startTime'
  | 'status'
  | 'tags'
  | 'trigger'
  | 'version'
> {
  readonly data: JsonObject;
  /** All executions, in the order in which they ended, followed by open ones. */
  readonly steps: readonly StepView[];
  /** The ids of the completed steps, in order. */
  readonly completed: readonly string[];
  /** The ids of the steps that the run waits for. */
  readonly waiting: readonly string[];
  /** Why the run does not advance. */
  readonly explanation: Explanation;
}

const PAGE = 1000;

export async function readRun(host: Host, workflowId: string): Promise<TestRun> {
  const view = await host.instances.get(workflowId);
  const steps = await allSteps(host, workflowId);
  const explanation = await host.instances.explain(workflowId, 'all');
  const { data, definitionId, id, lastError, outcome, reference, status, tags, version } = view;
  const { queued, startTime, trigger } = view;
  return {
    id,
    definitionId,
    version,
    reference,
    tags,
    startTime,
    trigger,
    status,
    outcome,
    queued,
    data,
    lastError,
    steps,
    completed: steps.flatMap((step) => (step.status === 'Complete' ? step.stepId : [])),
    // A saga that waits for work in flight is not what the run waits for.
    waiting: explanation.reasons.flatMap(({ kind, stepId }) =>
      kind === 'compensating' ? [] : (stepId ?? []),
    ),
    explanation,
  };
}

const ALL_STEPS = {
  order: 'asc',
  stepId: null,
  status: null,
  item: null,
  turn: null,
  search: null,
  limit: PAGE,
} as const;

async function allSteps(host: Host, workflowId: string): Promise<readonly StepView[]> {
  const steps: StepView[] = [];
  let cursor: string | null = null;
  do {
    const request = { ...ALL_STEPS, cursor };
    const page: Awaited<ReturnType<Host['instances']['listSteps']>> =
      await host.instances.listSteps(workflowId, request);
    steps.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return steps;
}
