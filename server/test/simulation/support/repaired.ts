/**
 * A workflow that only its operator brings to an end: modifications cancel its steps, start others, move it between two
 * versions and resume it, while everything else happens. What they did must be in its history once.
 */
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type {
  ModifyRequest,
  RepairedInstance,
} from '../../../src/runtime/operations/repair/repair-types.js';
import { hold } from './violation.js';
import { call, step, type Workflow } from './workflow.js';

/** Without its operator, such a run waits forever. */
export const REPAIRED = 'repaired';

const NEVER: JsonObject = { EventName: '"never"', EventKey: 'data.key' };

/** The versions differ in the id of the step that waits. */
function documentWith(waiting: string): JsonObject {
  return {
    Id: REPAIRED,
    Steps: [
      step('begin', 'NoOp', { NextStepId: waiting }),
      step(waiting, 'WaitFor', { Inputs: NEVER }),
      call('bump', { Outputs: { bumps: 'data.bumps + 1' }, NextStepId: waiting }),
      step('finish', 'NoOp', { Outputs: { finished: '1' } }),
    ],
  };
}

export const REPAIRED_WORKFLOW: Workflow = {
  olderDocument: documentWith('hold'),
  document: documentWith('hold-2'),
  data: () => ({ bumps: 0 }),
  expect: () => ({ completed: { finish: 1 }, data: { finished: 1 } }),
};

type Round = Pick<ModifyRequest, 'cancel' | 'start' | 'version' | 'stepMap' | 'resume'>;

const bump = [{ stepId: 'bump', inside: null }];
/** What waits moves along. */
const toOlder = { version: 1, stepMap: { 'hold-2': 'hold' } };
const toNewer = { version: 2, stepMap: { hold: 'hold-2' } };

export const ROUNDS: readonly Round[] = [
  { start: bump, ...toOlder },
  { cancel: 'all', start: bump, version: 2, resume: true },
  { start: bump, ...toOlder },
  { start: bump, ...toNewer },
  { cancel: 'all', start: [{ stepId: 'finish', inside: null }], version: 1, resume: true },
];

/** An acknowledged modification. */
export interface AppliedRound extends Pick<RepairedInstance, 'cancelled' | 'started'> {
  readonly reason: string;
  readonly round: Round;
}

interface Repaired {
  readonly id: string;
  readonly version: number;
  readonly data: JsonObject;
  readonly steps: readonly StepRecord[];
}

/** I9: each acknowledged modification is in the history, once. */
export function checkRepairs(
  { data, id, steps, version }: Repaired,
  applied: readonly AppliedRound[],
): void {
  const executions = (stepId: string, status?: StepRecord['status']): number =>
    new Set(
      steps
        .filter((each) => each.stepId === stepId && (status ?? each.status) === each.status)
        .map(({ pointerId }) => pointerId),
    ).size;
  for (const { cancelled, reason, started } of applied) {
    for (const { executionId, stepId } of started) {
      const found = steps.some(
        (each) =>
          each.pointerId === executionId &&
          each.stepId === stepId &&
          // Another modification may have canceled it; then the record shows why.
          (each.reason === reason || each.status === 'Cancelled'),
      );
      hold(found, 'I9 a started step is in the history', () => `${id} ${reason} ${stepId}`);
    }
    for (const { executionId } of cancelled) {
      const records = steps.filter(
        (each) =>
          each.pointerId === executionId && each.status === 'Cancelled' && each.reason === reason,
      );
      const isOnce = records.length === 1;
      hold(isOnce, 'I9 a step is canceled once', () => `${id} ${reason} ${executionId}`);
    }
  }
  const starts = applied.filter(({ round }) => round.start === bump).length;
  hold(
    executions('bump') === starts,
    'I9 a modification starts its steps once',
    () => `${id}: ${executions('bump')} instead of ${starts}`,
  );
  hold(
    executions('bump', 'Complete') === data['bumps'],
    'I2 data is what the completed steps have made of it',
    () => `${id}: ${JSON.stringify(data['bumps'])}`,
  );
  const moved = applied.findLast(({ round }) => round.version !== undefined);
  const expected = moved?.round.version ?? 2;
  hold(version === expected, 'I9 a run is of the version that it was moved to', () => id);
}
