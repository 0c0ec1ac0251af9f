/**
 * What is retried and what is not: retry settings without an ErrorBehavior, Fail, and errors that are not retryable.
 */
import { expect, it } from 'vitest';
import { inOrder } from './support/define.js';
import { scenarios } from './support/scenario.js';
import { activity, box, noOp, trace, work, type StepMembers } from './support/steps.js';

const noTrail = { data: { trail: [] } };
const FINAL = { type: 'Declined', message: 'no funds', retryable: false };

function fail(id: string, members: StepMembers = {}) {
  return { id, stepType: 'Fail', inputs: { message: "'over the limit'" }, ...members };
}

/** A saga with a completed step `pay` and the tested step. */
function sagaOf(tested: ReturnType<typeof work>, members: StepMembers = {}) {
  const paid = noOp('pay', { compensateWith: [trace('-pay')] });
  return inOrder(box('saga', inOrder(paid, tested), { saga: true, ...members }), trace('after'));
}

scenarios('a step with retry settings but no ErrorBehavior', (start) => {
  it.each<StepMembers>([{ maxRetries: 2 }, { retryBackoff: 2 }])(
    'uses its retry settings first, also inside a saga: %o',
    (members) => {
      const driver = start(sagaOf(work('a', { retryInterval: 1, ...members })), noTrail);
      driver.failEffect(driver.effect('a'));
      expect(driver.pointer('a').state).toMatchObject({ kind: 'sleeping', reason: 'retry' });
      driver.advance(1);
      driver.endEffect(driver.effect('a'));
      expect(driver.data['trail']).toEqual(['after']);
      expect(driver.status).toBe('Complete');
    },
  );

  it('lets the saga compensate once the retries are exhausted', () => {
    const driver = start(sagaOf(work('a', { retryInterval: 1, maxRetries: 2 })), noTrail);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(driver.data['trail']).toEqual([]);
      driver.failEffect(driver.effect('a'));
      driver.advance(1);
    }
    expect(driver.data['trail']).toEqual(['-pay', 'after']);
  });

  it.each([
    { defaultErrorBehavior: 'Terminate', status: 'Terminated' },
    { defaultErrorBehavior: 'Suspend', status: 'Suspended' },
    { defaultErrorBehavior: 'Retry', status: 'Suspended' },
    { defaultErrorBehavior: 'Compensate', status: 'Complete' },
  ])('applies the DefaultErrorBehavior after the retries: $defaultErrorBehavior', (expected) => {
    const { defaultErrorBehavior } = expected;
    const driver = start([work('a', { retryInterval: 1, maxRetries: 1 })], {
      defaultErrorBehavior,
    });
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Runnable');
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe(expected.status);
  });

  it('applies OnRetriesExhausted after the retries, also inside a saga', () => {
    const members = { retryInterval: 1, maxRetries: 1, onRetriesExhausted: 'Suspend' };
    const driver = start(sagaOf(work('a', members)), noTrail);
    driver.failEffect(driver.effect('a'));
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.status).toBe('Suspended');
    expect(driver.data['trail']).toEqual([]);
  });

  it('ignores a RetryInterval alone, as Conductor does', () => {
    const driver = start(sagaOf(work('a', { retryInterval: 1 })), noTrail);
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-pay', 'after']);
  });

  it('retries before its CompensateWith, and not after it', () => {
    const undo = { compensateWith: [trace('-a')] };
    const driver = start(
      inOrder(work('a', { retryInterval: 1, maxRetries: 1, ...undo }), trace('after')),
      noTrail,
    );
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual([]);
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-a', 'after']);
    expect(driver.status).toBe('Complete');
  });

  it('runs the whole saga again if it is a saga, then its next steps', () => {
    const driver = start(sagaOf(work('a'), { retryInterval: 1, maxRetries: 1 }), noTrail);
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-pay']);
    driver.advance(1);
    driver.failEffect(driver.effect('a'));
    expect(driver.data['trail']).toEqual(['-pay', '-pay', 'after']);
  });
});

scenarios('an error that is not retryable', (start) => {
  it.each([
    { members: {}, status: 'Suspended' },
    { members: { errorBehavior: 'Retry' }, status: 'Suspended' },
    { members: { maxRetries: 5 }, status: 'Suspended' },
    { members: { maxRetries: 5, onRetriesExhausted: 'Terminate' }, status: 'Terminated' },
    { members: { errorBehavior: 'Terminate' }, status: 'Terminated' },
    { members: { errorBehavior: 'Compensate' }, status: 'Complete' },
  ])('skips the retries: $members', ({ members, status }) => {
    const driver = start([work('a', members)]);
    driver.failEffect(driver.effect('a'), FINAL);
    expect(driver.status).toBe(status);
    expect(driver.records[0]?.error).toMatchObject({ type: 'Declined', retryable: false });
    expect(driver.history).toEqual(['a Failed']);
  });

  it.each([
    { named: ['Declined'], isRetried: false },
    { named: ['declined', 'Decline'], isRetried: true },
  ])("matches a type in the step's NonRetryable list: $named", ({ isRetried, named }) => {
    const driver = start([work('a', { maxRetries: 1, nonRetryable: named })]);
    driver.failEffect(driver.effect('a'), { type: 'Declined', message: 'no funds' });
    expect(driver.status).toBe(isRetried ? 'Runnable' : 'Suspended');
  });

  it.each(['type', 'name'])(
    "matches the step's NonRetryable list by %s in the data from the worker",
    (member) => {
      const driver = start([activity('a', { maxRetries: 1, nonRetryable: ['CardDeclined'] })]);
      driver.reject(driver.activity('a'), { [member]: 'CardDeclined', message: 'no funds' });
      expect(driver.status).toBe('Suspended');
      expect(driver.instance.lastError).toMatchObject({ type: 'ActivityFailed', retryable: false });
    },
  );

  it('includes any error that a worker reports as not retryable', () => {
    const driver = start([activity('a', { retryInterval: 1 })]);
    const answer = (retryable: boolean): void => {
      const { id } = driver.activity('a');
      driver.deliver({ kind: 'activity', activityId: id, succeeded: false, data: 'no', retryable });
    };
    answer(true);
    expect(driver.status).toBe('Runnable');
    driver.advance(1);
    answer(false);
    expect(driver.status).toBe('Suspended');
  });

  it('compensates the saga and prevents its retry', () => {
    const saga = { errorBehavior: 'Retry', maxRetries: 5, onRetriesExhausted: 'Terminate' };
    const driver = start(sagaOf(work('a'), saga), noTrail);
    driver.failEffect(driver.effect('a'), FINAL);
    expect(driver.data['trail']).toEqual(['-pay']);
    expect(driver.status).toBe('Terminated');
  });

  it("matches a type in the saga's NonRetryable list", () => {
    const saga = { errorBehavior: 'Retry', retryInterval: 1, nonRetryable: ['Declined'] };
    const driver = start(sagaOf(work('a'), saga), noTrail);
    driver.failEffect(driver.effect('a'));
    driver.advance(1);
    driver.failEffect(driver.effect('a'), { type: 'Declined', message: 'no funds' });
    expect(driver.status).toBe('Suspended');
  });
});

scenarios('a Fail step', (start) => {
  it.each([
    { members: {}, status: 'Suspended' },
    { members: { errorBehavior: 'Retry', maxRetries: 3 }, status: 'Suspended' },
    { members: { onRetriesExhausted: 'Terminate' }, status: 'Terminated' },
    { members: { errorBehavior: 'Terminate' }, status: 'Terminated' },
    { members: { errorBehavior: 'Compensate' }, status: 'Complete' },
  ])('is not retried: $members', ({ members, status }) => {
    const driver = start([fail('f', members)]);
    expect(driver.status).toBe(status);
    expect(driver.history).toEqual(['f Failed']);
  });

  it('fails with the type, message and data from its inputs', () => {
    const inputs = { message: "'over ' + 5", type: "'Limit'", data: { '@n': 'data.n' } };
    const driver = start([fail('f', { inputs })], { data: { n: 7 } });
    expect(driver.instance.lastError).toMatchObject({
      type: 'Limit',
      message: 'over 5',
      data: { n: 7 },
      attempt: 1,
      retryable: false,
    });
    const plain = start([fail('f')]);
    expect(plain.instance.lastError).toMatchObject({ type: 'Failed', data: null });
  });

  it('compensates the saga around it', () => {
    const driver = start(sagaOf(fail('f')), noTrail);
    expect(driver.data['trail']).toEqual(['-pay', 'after']);
  });

  it('fails again after a resume', () => {
    const driver = start([fail('f')]);
    driver.resume();
    expect(driver.status).toBe('Suspended');
    expect(driver.history).toEqual(['f Failed', 'f Failed #2']);
  });
});

scenarios('a pause requested by a remote server', (start) => {
  it.each([
    { asked: 30_000, waits: 30 },
    { asked: 2000, waits: 10 },
    { asked: 3 * 86_400_000, waits: 86_400 },
  ])('makes the step wait for $waits s after a request of $asked ms', ({ asked, waits }) => {
    const driver = start([work('a', { retryInterval: 10 })]);
    const failure = { type: 'HttpError', message: 'busy', retryAfterMs: asked };
    driver.failEffect(driver.effect('a'), failure);
    expect(driver.pointer('a').state).toMatchObject({ until: driver.now + waits * 1000 });
  });
});
