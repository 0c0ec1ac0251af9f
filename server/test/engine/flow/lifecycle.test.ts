/** Suspend, resume and terminate in every kind of wait; the history; the end of a run. */
import { describe, expect, it } from 'vitest';
import {
  applyStatus,
  haltInstance,
  startSession,
  restoreSession,
} from '../../../src/engine/flow/lifecycle.js';
import { enterStep, leaveStep, failWork, nextWork } from '../../../src/engine/flow/step-work.js';
import { fireTimers, nextTimer } from '../../../src/engine/flow/timers.js';
import { define, inOrder, type StepSource } from '../support/define.js';
import { EngineDriver, START_MS } from '../support/engine-driver.js';
import { scenarios } from '../support/scenario.js';
import {
  activity,
  box,
  delay,
  failing,
  fork,
  noOp,
  subWorkflow,
  waitFor,
  work,
} from '../support/steps.js';

const WAITS: readonly {
  readonly kind: string;
  readonly step: StepSource;
  readonly answer: (driver: EngineDriver) => void;
}[] = [
  { kind: 'sleeping', step: delay('a', 5), answer: (driver) => driver.advance(5) },
  { kind: 'event', step: waitFor('a'), answer: (driver) => driver.publish('a', 'key') },
  {
    kind: 'activity',
    step: activity('a'),
    answer: (driver) => driver.succeed(driver.activity('a')),
  },
  { kind: 'effect', step: work('a'), answer: (driver) => driver.endEffect(driver.effect('a')) },
  { kind: 'child', step: subWorkflow('a'), answer: (driver) => driver.endChild('a', 'Complete') },
  {
    kind: 'open',
    step: box('a', [waitFor('x')]),
    answer: (driver) => driver.publish('x', 'key'),
  },
  {
    kind: 'compensating',
    step: failing('a', { compensateWith: [waitFor('x')] }),
    answer: (driver) => driver.publish('x', 'key'),
  },
  {
    kind: 'sleeping',
    step: failing('a', {
      retryInterval: 5,
      cancelCondition: 'context.Step.Attempt > 1 && data.ok',
    }),
    answer: (driver) => driver.terminate(),
  },
];

scenarios('suspend and resume', (start) => {
  it.each(WAITS)('continues a waiting step ($kind) where it was', ({ kind, step, answer }) => {
    const driver = start(inOrder(step, noOp('after')));
    driver.suspend();
    expect(driver.status).toBe('Suspended');
    expect(driver.pointer('a').state.kind).toBe(kind);
    const { open } = driver;
    driver.resume();
    expect(driver.status).toBe('Runnable');
    expect(driver.open).toEqual(open);
    answer(driver);
    expect(['Complete', 'Terminated']).toContain(driver.status);
  });

  it.each(WAITS.slice(0, 7))(
    'keeps a result that arrives while suspended ($kind), and runs nothing until the resume',
    ({ step, answer }) => {
      const driver = start(inOrder(step, noOp('after')));
      driver.suspend();
      answer(driver);
      expect(driver.ran).toEqual([]);
      driver.resume();
      expect(driver.ran).toContain('after');
      expect(driver.status).toBe('Complete');
    },
  );

  it('keeps timers from firing while suspended, and fires them at the resume', () => {
    const driver = start(inOrder(delay('a', 5), noOp('after')));
    driver.suspend();
    driver.advance(60);
    expect(driver.ran).toEqual([]);
    driver.resume();
    expect(driver.ran).toEqual(['a', 'after']);
  });

  it('works any number of times', () => {
    const driver = start(inOrder(waitFor('a'), noOp('after')));
    for (let round = 0; round < 5; round += 1) {
      driver.suspend();
      driver.suspend();
      driver.resume();
      driver.resume();
    }
    driver.publish('a', 'key');
    expect(driver.status).toBe('Complete');
  });

  it('completes an instance at the resume if its last branch ended while suspended', () => {
    const driver = start([work('a', { errorBehavior: 'Compensate' })]);
    const effect = driver.effect('a');
    driver.suspend();
    driver.failEffect(effect);
    expect(driver.open).toEqual([]);
    expect(driver.status).toBe('Suspended');
    driver.resume();
    expect(driver.status).toBe('Complete');
    expect(driver.instance.endTime).toBe(driver.now);
  });
});

scenarios('termination', (start) => {
  it.each(WAITS)('ends any kind of wait ($kind)', ({ step }) => {
    const driver = start(inOrder(step, noOp('after')));
    driver.advance(1);
    driver.terminate();
    expect(driver.status).toBe('Terminated');
    expect(driver.instance.endTime).toBe(driver.now);
    expect(driver.open).toEqual([]);
    expect(driver.subscriptions).toEqual([]);
    expect(driver.activities).toEqual([]);
    expect(driver.effects).toEqual([]);
    driver.advance(100);
    expect(driver.ran).toEqual([]);
  });

  it('ends a suspended instance', () => {
    const driver = start([waitFor('a')]);
    driver.suspend();
    driver.terminate();
    expect(driver.status).toBe('Terminated');
    expect(driver.history).toEqual(['a Cancelled']);
  });

  it('runs no compensation', () => {
    const inside = inOrder(noOp('a', { compensateWith: [noOp('-a')] }), waitFor('b'));
    const driver = start([box('saga', inside, { saga: true })]);
    driver.terminate();
    expect(driver.ran).toEqual(['a']);
  });

  it('ends a compensation in progress too', () => {
    const driver = start([failing('a', { compensateWith: inOrder(waitFor('x'), noOp('y')) })]);
    driver.terminate();
    expect(driver.history).toEqual(['a Failed', 'x Cancelled', 'a Cancelled']);
  });
});

scenarios('the history', (start) => {
  it('has one record for each attempt, with its own times, inputs, outputs and error', () => {
    const driver = start([
      work('a', {
        inputs: { n: 'context.Step.Attempt' },
        outputs: { answer: 'step.x' },
        retryInterval: 10,
      }),
    ]);
    driver.advance(3);
    driver.failEffect(driver.effect('a'));
    driver.advance(10);
    driver.advance(2);
    driver.endEffect(driver.effect('a'), { x: 42 });
    expect(driver.records).toMatchObject([
      {
        stepId: 'a',
        status: 'Failed',
        attempt: 1,
        startTime: START_MS,
        endTime: START_MS + 3000,
        inputs: { n: 1 },
        outputs: null,
        error: { message: 'it failed', attempt: 1 },
      },
      {
        stepId: 'a',
        status: 'Complete',
        attempt: 2,
        startTime: START_MS + 13_000,
        endTime: START_MS + 15_000,
        inputs: { n: 2 },
        outputs: { answer: 42 },
        error: null,
      },
    ]);
    expect(driver.records[0]?.pointerId).toBe(driver.records[1]?.pointerId);
  });

  it('records a container after the steps that ran inside it', () => {
    const driver = start([box('a', [box('b', [noOp('c')])])]);
    expect(driver.history).toEqual(['c Complete', 'b Complete', 'a Complete']);
  });

  it('records when a canceled wait for a retry started', () => {
    const driver = start([work('a', { retryInterval: 60 })]);
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    driver.advance(5);
    driver.terminate();
    const { startTime, endTime, attempt } = driver.records.at(-1)!;
    expect([startTime, endTime, attempt]).toEqual([START_MS + 1000, START_MS + 6000, 2]);
  });
});

describe('an instance', () => {
  const definition = define([waitFor('a')]);
  const begin = (startedBy: Parameters<typeof startSession>[1]['parent'] = null) =>
    startSession(definition, { id: 'w', data: {}, reference: 'ref', parent: startedBy }, START_MS);

  it('has its definition, version, reference and start time', () => {
    expect(begin().instance).toMatchObject({
      definitionId: 'tested',
      version: 1,
      reference: 'ref',
      startTime: START_MS,
      endTime: null,
      status: 'Runnable',
    });
  });

  const parent = { workflowId: 'p', pointerId: 7, attempt: 2 };
  const news = [{ kind: 'child-ended', parentId: 'p', pointerId: 7, attempt: 2 }];

  it('notifies its parent of its end, if it has one', () => {
    const run = begin(parent);
    expect(run.instance.outbox).toEqual([]);
    applyStatus(run, 'Terminated', START_MS);
    expect(run.instance.outbox).toEqual(news);
    const orphan = begin();
    applyStatus(orphan, 'Terminated', START_MS);
    expect(orphan.instance.outbox).toEqual([]);
  });

  it('notifies its parent once, at its real end, if a suspension supersedes an earlier end', () => {
    const run = startSession(
      define([noOp('a')]),
      { id: 'w', data: {}, reference: null, parent },
      0,
    );
    enterStep(run, nextWork(run)!.pointer, { inputs: {}, shown: {} });
    leaveStep(run, nextWork(run)!.pointer, { outputs: [], selected: [], shown: {} });
    expect(run.instance.status).toBe('Complete');
    expect(run.instance.outbox).toEqual(news);
    applyStatus(run, 'Suspended', 5);
    expect(run.instance.outbox).toEqual([]);
    applyStatus(run, 'Runnable', 6);
    expect(run.instance.status).toBe('Complete');
    expect(run.instance.outbox).toEqual(news);
  });

  it('notifies its parent once if a termination supersedes its end', () => {
    const run = startSession(
      define([noOp('a')]),
      { id: 'w', data: {}, reference: null, parent },
      0,
    );
    enterStep(run, nextWork(run)!.pointer, { inputs: {}, shown: {} });
    leaveStep(run, nextWork(run)!.pointer, { outputs: [], selected: [], shown: {} });
    applyStatus(run, 'Terminated', 5);
    expect(run.instance.status).toBe('Terminated');
    expect(run.instance.outbox).toEqual(news);
  });

  it.each(['Suspended', 'Runnable'] as const)(
    'stays Terminated after a step error has terminated it, whatever status is requested: %s',
    (status) => {
      const run = startSession(
        define([failing('a', { errorBehavior: 'Terminate' })]),
        { id: 'w', data: {}, reference: null, parent },
        START_MS,
      );
      failWork(run, nextWork(run)!, { type: 'Test', message: 'it failed' });
      expect(run.instance.status).toBe('Terminated');
      applyStatus(run, status, START_MS + 5);
      expect(run.instance.status).toBe('Terminated');
      expect(run.instance.endTime).toBe(START_MS);
      expect(run.instance.outbox).toEqual(news);
    },
  );

  it('schedules and fires no timer while suspended', () => {
    const run = startSession(
      define([delay('a', 5)]),
      { id: 'w', data: {}, reference: null, parent: null },
      START_MS,
    );
    enterStep(run, nextWork(run)!.pointer, { inputs: { Period: 5 }, shown: {} });
    expect(nextTimer(run)).toBe(START_MS + 5000);
    applyStatus(run, 'Suspended', START_MS);
    expect(nextTimer(run)).toBeNull();
    run.now += 60_000;
    fireTimers(run);
    expect(run.instance.pointers.get(1)?.state.kind).toBe('sleeping');
  });

  it('is cleaned up when it is next loaded if it was terminated while not in memory', () => {
    const driver = new EngineDriver(define([fork('f', 'a', 'b'), waitFor('a'), activity('b')]));
    const terminated = { ...driver.instance, status: 'Terminated', endTime: START_MS + 9 } as const;
    const run = restoreSession(driver.definition, terminated, START_MS + 20);
    expect(run.instance.pointers.size).toBe(0);
    expect(run.changes.removedSubscriptions).toEqual(['w/2/1']);
    expect(run.changes.removedActivities).toEqual(['w/3/1']);
    expect(run.instance.endTime).toBe(START_MS + 9);
    expect(run.instance.recent.map(({ status }) => status)).toEqual(['Cancelled', 'Cancelled']);
  });

  it('completes if it was resumed while not in memory, with nothing left to do', () => {
    const driver = new EngineDriver(define([work('a', { errorBehavior: 'Compensate' })]));
    const effect = driver.effect('a');
    driver.suspend();
    driver.failEffect(effect);
    const resumed = { ...driver.instance, status: 'Runnable' } as const;
    expect(restoreSession(driver.definition, resumed, START_MS).instance.status).toBe('Complete');
  });

  it('announces its end if it was terminated while not in memory, with nothing left to do', () => {
    const driver = new EngineDriver(define([work('a', { errorBehavior: 'Compensate' })]));
    const effect = driver.effect('a');
    driver.suspend();
    driver.failEffect(effect);
    const joinedBy = [{ workflowId: 'other', pointerId: 7, attempt: 1 }];
    // As the node that suspended it has written it.
    const stored = { ...driver.instance, joinedBy, told: 'suspended' } as const;
    const terminated = { ...stored, status: 'Terminated', outcome: 'Terminated' } as const;
    const run = restoreSession(driver.definition, terminated, START_MS);
    expect(run.instance.outbox).toMatchObject([{ kind: 'child-ended', parentId: 'other' }]);
    expect(run.dirty).toBe(true);
    run.instance.told = 'terminated';
    run.instance.outbox = [];
    const again = restoreSession(driver.definition, run.instance, START_MS);
    expect(again.instance.outbox).toEqual([]);
  });

  it('records the reason when it is halted, and continues after a resume', () => {
    const run = begin();
    haltInstance(run, 'StepLimit', 'too many steps');
    expect(run.instance.status).toBe('Suspended');
    expect(run.instance.lastError).toMatchObject({ type: 'StepLimit', stepId: 'a' });
    applyStatus(run, 'Runnable', START_MS);
    expect(run.instance.status).toBe('Runnable');
    expect([...run.queue]).toEqual([1]);
  });
});

scenarios('an instance with several branches', (start) => {
  it('completes when the last branch has ended, however the others ended', () => {
    const driver = start([
      fork('f', 'fails', 'canceled', 'waits'),
      failing('fails', { errorBehavior: 'Compensate' }),
      waitFor('canceled', { cancelCondition: 'true' }),
      waitFor('waits'),
    ]);
    expect(driver.status).toBe('Runnable');
    driver.publish('waits', 'key');
    expect(driver.status).toBe('Complete');
    expect(driver.instance).toMatchObject({
      outcome: 'Compensated',
      lastError: { stepId: 'fails' },
    });
  });
});
