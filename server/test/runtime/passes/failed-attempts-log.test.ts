/** The log of failed attempts: a line for each, but at most one a minute for the same step of the same instance. */
import { describe, expect, it } from 'vitest';
import type { ParentLink, Instance } from '../../../src/engine/model/instance.js';
import type { FailedAttempt, NextAction } from '../../../src/engine/session/session.js';
import { FailedAttemptsLog } from '../../../src/runtime/passes/failed-attempts-log.js';
import { createLogRecorder } from '../../step-bodies/support/log-recorder.js';
import { ManualClock } from '../support/manual-clock.js';

function instance(id: string, parent: ParentLink | null = null): Instance {
  // The log reads no other members.
  return { id, definitionId: 'order', version: 3, parent } as Instance;
}

function failed(attempt: number, action: NextAction, stepId = 'pay'): FailedAttempt {
  const error = { stepId, pointerId: 7, type: 'Busy', message: 'no answer', traceback: null };
  return { action, error: { ...error, data: null, attempt, time: 0 } };
}

const retry: NextAction = { kind: 'retry', at: Date.UTC(2026, 0, 1, 12) };

function logOf() {
  const clock = new ManualClock();
  const { lines, logger } = createLogRecorder();
  const counted: string[] = [];
  const metrics = {
    attemptFailed: (definitionId: string, next: string) => counted.push(`${definitionId} ${next}`),
  };
  return { clock, counted, lines, log: new FailedAttemptsLog({ clock, logger, metrics }) };
}

describe('the log line of a failed attempt', () => {
  it.each<[NextAction, string, string]>([
    [retry, 'warn', 'retry at 2026-01-01T12:00:00.000Z'],
    [{ kind: 'suspended' }, 'error', 'suspended'],
    [{ kind: 'terminated' }, 'error', 'terminated'],
    [{ kind: 'compensating' }, 'warn', 'compensating'],
    [{ kind: 'goes-on' }, 'warn', 'goes on'],
  ])('has before %j the level %s', (action, level, next) => {
    const { counted, lines, log } = logOf();
    log.note(instance('w1'), [failed(2, action)]);
    expect(lines).toEqual([
      {
        level,
        message: 'a step attempt failed',
        fields: {
          code: 'step_attempt_failed',
          workflowId: 'w1',
          definitionId: 'order',
          version: 3,
          stepId: 'pay',
          executionId: 7,
          attempt: 2,
          errorType: 'Busy',
          errorMessage: 'no answer',
          next,
        },
      },
    ]);
    expect(counted).toEqual([`order ${action.kind}`]);
  });

  it.each<[NextAction, number, string]>([
    [{ kind: 'terminated' }, 1, 'warn'],
    [{ kind: 'terminated' }, 0, 'error'],
    [{ kind: 'suspended' }, 1, 'error'],
  ])('has before %j in a run that %i waits depend on the level %s', (action, waiting, level) => {
    const { lines, log } = logOf();
    log.note(instance('w1', { workflowId: 'p', pointerId: 1, attempt: 1, waiting }), [
      failed(1, action),
    ]);
    expect(lines).toMatchObject([{ level }]);
  });

  it('is written once a minute if it repeats, with the number of omitted lines', () => {
    const { clock, counted, lines, log } = logOf();
    for (let attempt = 1; attempt <= 130; attempt += 1) {
      log.note(instance('w1'), [failed(attempt, retry)]);
      clock.advance(1000);
    }
    const written = () => lines.map(({ fields }) => [fields['attempt'], fields['suppressed']]);
    expect(written()).toEqual([
      [1, undefined],
      [60, 58],
      [120, 59],
    ]);
    clock.advance(60_000);
    expect(written().at(-1)).toEqual([130, 9]);
    clock.advance(600_000);
    expect(lines).toHaveLength(4);
    expect(clock.pending).toBe(0);
    expect(counted).toHaveLength(130);
  });

  it('is separate for each step, instance and level', () => {
    const { lines, log } = logOf();
    log.note(instance('w1'), [failed(1, retry), failed(1, retry, 'ship')]);
    log.note(instance('w2'), [failed(1, retry)]);
    log.note(instance('w1'), [failed(2, retry), failed(3, { kind: 'suspended' })]);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { attempt: 3 } });
  });

  it('is written at shutdown if it was held back', () => {
    const { clock, lines, log } = logOf();
    for (const attempt of [1, 2, 3]) log.note(instance('w1'), [failed(attempt, retry)]);
    log.stop();
    expect(lines.map(({ fields }) => [fields['attempt'], fields['suppressed']])).toEqual([
      [1, undefined],
      [3, 1],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is counted even if more steps fail than the log remembers', () => {
    const { lines, log } = logOf();
    for (const attempt of [1, 2, 3]) log.note(instance('first'), [failed(attempt, retry)]);
    for (let index = 0; index < 10_000; index += 1) {
      log.note(instance(`w${index}`), [failed(1, retry)]);
    }
    const ofFirst = lines.filter(({ fields }) => fields['workflowId'] === 'first');
    expect(ofFirst.map(({ fields }) => fields['attempt'])).toEqual([1, 3]);
  });
});
