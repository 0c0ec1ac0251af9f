/** Work in flight when a saga fails or an instance is cleaned up: it is waited for, and undone with its outcome (E14). */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from '../support/define.js';
import type { EngineDriver } from '../support/engine-driver.js';
import { scenarios } from '../support/scenario.js';
import { activity, box, delay, foreach, saga, trace, waitFor, work } from '../support/steps.js';

const noTrail = { data: { trail: [] } };

/** Its compensation notes the step with the outcome that it learns. */
function undoneBy(id: string): readonly StepSource[] {
  const note = '`${context.Compensating.StepId} ${context.Compensating.Outcome}`';
  return [{ id: `-${id}`, stepType: 'NoOp', outputs: { trail: `[...data.trail, ${note}]` } }];
}

function call(id: string, members: Partial<StepSource> = {}): StepSource {
  return work(id, { compensateWith: undoneBy(id), ...members });
}

function book(id: string, members: Partial<StepSource> = {}): StepSource {
  return activity(id, { compensateWith: undoneBy(id), ...members });
}

function trailOf(driver: EngineDriver): unknown {
  return driver.data['trail'];
}

scenarios('a saga with work in flight', (start) => {
  it('waits for the work, and undoes the last completed step first', () => {
    const driver = start([saga([[call('bad')], [call('a')], [call('slow')]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual([]);
    driver.endEffect(driver.effect('a'), { x: 1 });
    driver.endEffect(driver.effect('slow'));
    expect(trailOf(driver)).toEqual(['slow Completed', 'a Completed', 'bad Failed', '-saga']);
    expect(driver.instance.outcome).toBe('Compensated');
  });

  it('applies the outputs of a step in flight, and does not continue after it', () => {
    const slow = call('slow', { outputs: { booked: 'step.id' }, nextStepId: 'never' });
    const driver = start([saga([[call('bad')], [slow, trace('never')]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.endEffect(driver.effect('slow'), { id: 7 });
    expect(driver.data['booked']).toBe(7);
    expect(trailOf(driver)).toEqual(['slow Completed', 'bad Failed', '-saga']);
  });

  it('does not retry a step in flight that fails', () => {
    const slow = call('slow', { errorBehavior: 'Retry', retryInterval: 0 });
    const driver = start([saga([[call('bad')], [slow]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.failEffect(driver.effect('slow'));
    expect(trailOf(driver)).toEqual(['slow Failed', 'bad Failed', '-saga']);
    expect(driver.history).toContain('slow Failed');
  });

  it('counts a step whose outputs fail as completed', () => {
    const slow = call('slow', { outputs: { x: 'data.noSuchField' } });
    const driver = start([saga([[call('bad')], [slow]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.endEffect(driver.effect('slow'));
    expect(trailOf(driver)).toEqual(['slow Completed', 'bad Failed', '-saga']);
  });

  it('cancels waiting steps at once, and does not undo them', () => {
    const waits = [[waitFor('e', undo('e'))], [delay('d', 5, undo('d'))]];
    const paths = [...waits, [book('unheld')], [call('bad')]];
    const driver = start([saga(paths)], noTrail);
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual(['bad Failed', '-saga']);
    expect(driver.subscriptions).toEqual([]);
    expect(driver.activities).toEqual([]);
  });

  it('undoes a step that waits for its next attempt', () => {
    const retried = call('retried', { errorBehavior: 'Retry', retryInterval: 60 });
    const driver = start([saga([[retried], [call('bad')]])], noTrail);
    driver.failEffect(driver.effect('retried'));
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual(['retried Failed', 'bad Failed', '-saga']);
  });

  it('reports Unknown if any attempt timed out', () => {
    const bad = call('bad', {
      errorBehavior: 'Retry',
      retryInterval: 0,
      maxRetries: 1,
      timeout: 5,
    });
    const last = { ...bad, onRetriesExhausted: 'Compensate' };
    const driver = start([saga([last])], noTrail);
    driver.advance(5);
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual(['bad Unknown', '-saga']);
  });

  it('waits for the worker that holds an item', () => {
    const driver = start([saga([[call('bad')], [book('held')]])], noTrail);
    const offer = driver.activity('held');
    driver.hold(offer, driver.now + 30_000);
    driver.failEffect(driver.effect('bad'));
    expect(driver.outside.withdrawn).toEqual(new Set([offer.id]));
    driver.advance(29);
    driver.succeed(offer);
    expect(trailOf(driver)).toEqual(['held Completed', 'bad Failed', '-saga']);
  });

  it('reports Unknown for an item whose lease ends', () => {
    const driver = start([saga([[call('bad')], [book('held')]])], noTrail);
    driver.hold(driver.activity('held'), driver.now + 30_000);
    driver.failEffect(driver.effect('bad'));
    driver.advance(30);
    expect(trailOf(driver)).toEqual(['held Unknown', 'bad Failed', '-saga']);
    expect(driver.activities).toEqual([]);
  });

  it('keeps waiting for a lease that was extended', () => {
    const driver = start([saga([[call('bad')], [book('held')]])], noTrail);
    const offer = driver.activity('held');
    driver.hold(offer, driver.now + 30_000);
    driver.failEffect(driver.effect('bad'));
    driver.extend(offer, driver.now + 60_000);
    driver.advance(59);
    expect(trailOf(driver)).toEqual([]);
    driver.advance(1);
    expect(trailOf(driver)).toEqual(['held Unknown', 'bad Failed', '-saga']);
  });

  it('reports Unknown for an item that its worker gives back', () => {
    const driver = start([saga([[call('bad')], [book('held')]])], noTrail);
    const offer = driver.activity('held');
    driver.hold(offer);
    driver.failEffect(driver.effect('bad'));
    driver.giveBack(offer);
    expect(trailOf(driver)).toEqual(['held Unknown', 'bad Failed', '-saga']);
  });

  it('gives up at the end of its grace, also while it is suspended', () => {
    const grace = { grace: 20, compensateWith: [trace('-saga')] };
    const driver = start([saga([[call('bad')], [call('slow')], [book('held')]], grace)], noTrail);
    driver.hold(driver.activity('held'));
    driver.failEffect(driver.effect('bad'));
    driver.advance(10);
    driver.suspend();
    driver.advance(10);
    expect(driver.effects).toEqual([]);
    expect(driver.activities).toEqual([]);
    expect(trailOf(driver)).toEqual([]);
    driver.resume();
    expect(trailOf(driver)).toEqual(['held Unknown', 'slow Unknown', 'bad Failed', '-saga']);
  });

  it('waits for ten minutes unless it says otherwise', () => {
    const driver = start([saga([[call('bad')], [call('slow')]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.advance(599);
    expect(trailOf(driver)).toEqual([]);
    driver.advance(1);
    expect(trailOf(driver)).toEqual(['slow Unknown', 'bad Failed', '-saga']);
  });

  it('reports Unknown for a call that a crash interrupts', () => {
    const driver = start([saga([[call('bad')], [call('slow')]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.reload();
    expect(trailOf(driver)).toEqual(['slow Unknown', 'bad Failed', '-saga']);
    expect(driver.effects).toEqual([]);
  });

  it('does not start a call that the failure overtakes', () => {
    const failsAtOnce = { id: 'bad', stepType: 'Fail', inputs: { message: "'no'" } };
    const driver = start([saga([[call('fresh')], [failsAtOnce]])], noTrail);
    // In memory, the call was entered before the branch beside it failed, and before any commit.
    const begun = driver.asked.has('effect w/2/1');
    if (begun) driver.endEffect(driver.effect('fresh'));
    expect(trailOf(driver)).toEqual(begun ? ['fresh Completed', '-saga'] : ['-saga']);
  });

  it('undoes an open saga inside it after the steps in it', () => {
    const inner = box('inner', [call('x'), waitFor('later')], { saga: true, ...undo('inner') });
    const linked = { ...inner, do: inOrder(call('x'), waitFor('later')) };
    const driver = start([saga([[call('bad')], [linked]])], noTrail);
    driver.endEffect(driver.effect('x'));
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual(['bad Failed', 'x Completed', 'inner Unknown', '-saga']);
  });

  it('lets a compensation inside it run to its end first', () => {
    const inner = box('inner', [[call('x')], [call('y')]], { saga: true });
    const undoY = [activity('-y')];
    const slow = { ...inner, do: [[call('x')], [work('y', { compensateWith: undoY })]] };
    const driver = start([saga([[call('bad')], [slow]])], noTrail);
    driver.failEffect(driver.effect('y'));
    driver.endEffect(driver.effect('x'));
    expect(driver.data['trail']).toEqual(['x Completed']);
    driver.failEffect(driver.effect('bad'));
    expect(driver.data['trail']).toEqual(['x Completed']);
    driver.succeed(driver.activity('-y'));
    expect(driver.data['trail']).toEqual(['x Completed', 'bad Failed', '-saga']);
  });

  it('undoes every item of a Foreach that had begun', () => {
    const each = foreach('each', "['a', 'bad', 'slow']", [call('book')]);
    const driver = start([saga([each])], noTrail);
    const [a, bad, slow] = driver.effects;
    driver.failEffect(bad!);
    driver.endEffect(a!);
    driver.endEffect(slow!);
    expect(trailOf(driver)).toEqual(['book Completed', 'book Completed', 'book Failed', '-saga']);
    const undone = driver.records.filter(({ stepId }) => stepId === '-book');
    expect(undone.map(({ item }) => item)).toEqual(['slow', 'a', 'bad']);
    expect(undone.map(({ compensates }) => compensates)).toEqual(
      [slow!, a!, bad!].map(({ pointerId }) => pointerId),
    );
  });

  it('makes new calls after everything is undone if it retries as a whole', () => {
    const retry = { errorBehavior: 'Retry', retryInterval: 1, maxRetries: 1 };
    const driver = start([saga([[call('bad')], [call('slow')]], retry)], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.endEffect(driver.effect('slow'));
    expect(trailOf(driver)).toEqual(['slow Completed', 'bad Failed']);
    driver.advance(1);
    expect(driver.effects).toHaveLength(2);
  });
});

function undo(id: string): Partial<StepSource> {
  return { compensateWith: undoneBy(id) };
}

scenarios('a canceled container with compensations inside', (start) => {
  const canceled = (members: Partial<StepSource> = {}): StepSource =>
    box('c', [[call('x')], [waitFor('w')]], { cancelCondition: 'data.stop === true', ...members });
  const stopper = waitFor('stop', { outputs: { stop: 'true' } });

  it('waits for the work in flight, and then proceeds', () => {
    const proceeding = canceled({ proceedOnCancel: true, nextStepId: 'next' });
    const driver = start([saga([[proceeding, trace('next')], [stopper]])], noTrail);
    driver.publish('stop', 'key');
    expect(driver.open).toContain('x effect');
    expect(trailOf(driver)).toEqual([]);
    driver.endEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual(['next']);
    expect(driver.status).toBe('Complete');
  });

  it('is undone with the saga that fails in the meantime', () => {
    const driver = start([saga([[canceled()], [stopper], [call('bad')]])], noTrail);
    driver.publish('stop', 'key');
    driver.failEffect(driver.effect('bad'));
    driver.endEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual(['x Completed', 'bad Failed', '-saga']);
  });

  it('is undone with the saga that fails later', () => {
    const driver = start([saga([[canceled()], [stopper], [call('bad')]])], noTrail);
    driver.publish('stop', 'key');
    driver.endEffect(driver.effect('x'));
    driver.failEffect(driver.effect('bad'));
    expect(trailOf(driver)).toEqual(['bad Failed', 'x Completed', '-saga']);
  });

  it('waits for a step that is canceled by its own condition', () => {
    const step = call('x', { cancelCondition: 'data.stop === true', proceedOnCancel: true });
    const driver = start([saga([inOrder(step, trace('next')), [stopper]])], noTrail);
    driver.publish('stop', 'key');
    expect(trailOf(driver)).toEqual([]);
    driver.failEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual(['next']);
    expect(driver.history).toContain('x Cancelled');
  });

  it('does not continue after a step whose own condition becomes true at the same time', () => {
    const step = call('x', { cancelCondition: 'data.stop === true', proceedOnCancel: true });
    const both = box('c', [inOrder(step, trace('next'))], {
      cancelCondition: 'data.stop === true',
    });
    const driver = start([saga([[both], [stopper]])], noTrail);
    driver.publish('stop', 'key');
    driver.endEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual([]);
    expect(driver.status).toBe('Complete');
  });
});

scenarios('a container with compensations inside that times out', (start) => {
  it('waits for the work in flight before it is retried', () => {
    const retry = { timeout: 5, errorBehavior: 'Retry', retryInterval: 1, maxRetries: 1 };
    const driver = start([saga([box('c', [[call('x')]], retry)])], noTrail);
    driver.advance(5);
    const [first] = driver.effects;
    expect(driver.open).toEqual(['saga open', 'c open', 'x effect']);
    driver.endEffect(first!);
    expect(driver.open).toEqual(['saga open', 'c sleeping']);
    driver.advance(1);
    driver.failEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual(['x Failed', 'x Completed', '-saga']);
  });

  it('is undone with the saga around it', () => {
    const driver = start([saga([box('c', [[call('x')]], { timeout: 5, ...undo('c') })])], noTrail);
    driver.advance(5);
    expect(trailOf(driver)).toEqual([]);
    driver.endEffect(driver.effect('x'));
    expect(trailOf(driver)).toEqual(['x Completed', 'c Unknown', '-saga']);
  });
});

scenarios('a clean-up with work in flight', (start) => {
  it('waits for it up to the grace, and undoes it', () => {
    const driver = start([box('all', [[call('a')], [call('b')], [book('held')]])], noTrail);
    driver.hold(driver.activity('held'));
    driver.cleanUp(30);
    driver.endEffect(driver.effect('a'));
    driver.advance(29);
    expect(trailOf(driver)).toEqual([]);
    driver.advance(1);
    expect(trailOf(driver)).toEqual(['held Unknown', 'b Unknown', 'a Completed']);
    expect(driver.instance.outcome).toBe('Terminated');
  });

  it('takes over a saga that is waiting for work in flight', () => {
    const driver = start([saga([[call('bad')], [call('slow')]])], noTrail);
    driver.failEffect(driver.effect('bad'));
    driver.cleanUp(30);
    driver.endEffect(driver.effect('slow'));
    expect(trailOf(driver)).toEqual(['slow Completed', 'bad Failed', '-saga']);
    expect(driver.instance.outcome).toBe('Terminated');
  });

  it('undoes a step with a canceled compensation only once', () => {
    const x = work('x', {
      compensateWith: [activity('-x')],
      cancelCondition: 'data.stop === true',
    });
    const stopper = waitFor('stop', { outputs: { stop: 'true' } });
    const driver = start([box('all', [[x], [stopper], [waitFor('w')]])], noTrail);
    driver.failEffect(driver.effect('x'));
    expect(driver.open).toContain('-x activity');
    driver.publish('stop', 'key');
    driver.cleanUp();
    driver.succeed(driver.activity('-x'));
    expect(driver.instance.outcome).toBe('Terminated');
  });
});
