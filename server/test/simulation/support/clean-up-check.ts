/** E10 and E14: what a termination with compensation has undone, compared with what was called outside. */
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { COMPENSATED_BY } from './definitions.js';
import type { StepTarget } from './step-target.js';
import { hold } from './violation.js';

interface CleanedUp {
  readonly record: InstanceRecord;
  readonly steps: readonly StepRecord[];
}

const UNDOING: ReadonlySet<string> = new Set(COMPENSATED_BY.values());

export function checkCleanUp({ record, steps }: CleanedUp, target: StepTarget): void {
  const { id, outcome, status } = record;
  hold(status === 'Terminated' && outcome === 'Terminated', 'E10 it is Terminated', () => id);
  const undone = steps
    .filter((step) => step.status === 'Complete' && UNDOING.has(step.stepId))
    .map(({ compensates = 0, stepId }) => ({ compensates, stepId }));
  const shown = (): string => `${id}: ${JSON.stringify(undone)}`;
  const executions = new Set(undone.map(({ compensates }) => compensates));
  hold(executions.size === undone.length, 'E10 an execution is undone once', shown);
  // The position of the last record of each execution: when it ended.
  const ends = new Map(steps.map(({ pointerId, stepId }, at) => [pointerId, { at, stepId }]));
  let before = Infinity;
  for (const { compensates, stepId } of undone) {
    const end = ends.get(compensates);
    hold(COMPENSATED_BY.get(end?.stepId ?? '') === stepId, 'E10 it is undone by its own', shown);
    hold((end?.at ?? 0) < before, 'E10 the last one to end is undone first', shown);
    before = end?.at ?? 0;
  }
  for (const step of steps) {
    if (step.status !== 'Complete' || !COMPENSATED_BY.has(step.stepId)) continue;
    const { pointerId } = step;
    hold(executions.has(pointerId), 'E10 a completed step is undone', () => `${id}/${pointerId}`);
  }
  for (const [key, { stepId, workflowId }] of target.entries) {
    if (workflowId !== id || !COMPENSATED_BY.has(stepId)) continue;
    hold(executions.has(Number(key.split('/')[1])), 'E14 what was called is undone', () => key);
  }
}
