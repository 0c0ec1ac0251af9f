/** Since when a step has been failing: for the same cause, in each attempt of the same execution. */
import { expect, it } from 'vitest';
import { continueFailing } from '../../../src/engine/failure/cause.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import type { StepError } from '../../../src/engine/model/step-record.js';
import type { EngineDriver } from '../support/engine-driver.js';
import { inOrder } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { box, foreach, noOp, trace, work } from '../support/steps.js';

const answered = (status: number, order: number) => ({
  type: 'HttpError',
  message: `POST https://pay.example.com/orders/${order} answered ${status}`,
});
const times = ({ instance }: EngineDriver) => {
  const { since, time } = instance.lastError!;
  return { failedFor: since === undefined ? 0 : (time - since) / 1000 };
};

scenarios('since when a step has been failing', (start) => {
  const failing = work('a', { retryInterval: 40 });

  it('is the time of its first failure while every retry fails for the same cause', () => {
    const driver = start([failing]);
    driver.failEffect(driver.effect('a'), answered(503, 1));
    expect(driver.instance.lastError).not.toHaveProperty('since');
    for (let attempt = 2; attempt <= 13; attempt += 1) {
      driver.advance(40);
      // Numbers and ids are no part of the cause.
      driver.failEffect(driver.effect('a'), answered(503, attempt));
    }
    expect(times(driver)).toEqual({ failedFor: 480 });
    expect(driver.records.map(({ error }) => error!.since ?? error!.time)).toEqual(
      new Array(13).fill(driver.records[0]!.error!.time),
    );
  });

  it.each([
    ['another message', { type: 'HttpError', message: 'no answer' }],
    ['another status', answered(500, 1)],
    ['another type', { ...answered(503, 1), type: 'Timeout' }],
  ])('starts again with another cause: %s', (_what, other) => {
    const driver = start([failing]);
    const fail = (failure: typeof other, failedFor: number) => {
      driver.failEffect(driver.effect('a'), failure);
      expect(times(driver)).toEqual({ failedFor });
      driver.advance(40);
    };
    fail(answered(503, 1), 0);
    fail(answered(503, 1), 40);
    fail(other, 0);
    fail(other, 40);
    fail(answered(503, 1), 0);
  });

  it('continues after a resume', () => {
    const driver = start([work('a', { errorBehavior: 'Suspend' })]);
    driver.failEffect(driver.effect('a'));
    driver.advance(100);
    driver.resume();
    driver.failEffect(driver.effect('a'));
    expect(times(driver)).toEqual({ failedFor: 100 });
  });

  it('ends with the success of the step: the next execution starts again', () => {
    const inputs = { condition: 'data.n < 2' };
    const turn = work('a', { retryInterval: 40, outputs: { n: 'data.n + 1' } });
    const loop = { id: 'loop', stepType: 'While', inputs, do: [[turn]] };
    const driver = start([loop], { data: { n: 0 } });
    const failTwice = () => {
      driver.failEffect(driver.effect('a'));
      expect(times(driver)).toEqual({ failedFor: 0 });
      driver.advance(40);
      driver.failEffect(driver.effect('a'));
      expect(times(driver)).toEqual({ failedFor: 40 });
      driver.advance(40);
    };
    failTwice();
    driver.endEffect(driver.effect('a'));
    expect(driver.instance.lastError).toBeNull();
    failTwice();
    driver.endEffect(driver.effect('a'));
    expect(driver.status).toBe('Complete');
  });

  it('belongs to each execution of a step', () => {
    const driver = start([foreach('each', '[1, 2]', [[failing]])]);
    const [first, second] = driver.effects;
    driver.failEffect(first!);
    driver.advance(10);
    driver.failEffect(second!);
    expect(times(driver)).toEqual({ failedFor: 0 });
    driver.advance(30);
    driver.failEffect(driver.effect('a'));
    expect(times(driver)).toEqual({ failedFor: 40 });
  });

  it('continues while a saga is retried as a whole', () => {
    const saga = box('saga', inOrder(noOp('b', { compensateWith: [trace('-b')] }), work('a')), {
      saga: true,
      errorBehavior: 'Retry',
      retryInterval: 40,
    });
    const driver = start([saga], { data: { trail: [] } });
    for (const failedFor of [0, 40, 80]) {
      driver.failEffect(driver.effect('a'));
      expect(times(driver)).toEqual({ failedFor });
      driver.advance(40);
    }
    // Each round ran the step anew.
    expect(driver.data['trail']).toEqual(['-b', '-b', '-b']);
    const failures = driver.records.filter(
      ({ stepId, status }) => stepId === 'a' && status === 'Failed',
    );
    expect(failures.map(({ error }) => error!.since)).toEqual([undefined, undefined, undefined]);
    driver.failEffect(driver.effect('a'), { type: 'Test', message: 'otherwise' });
    expect(times(driver)).toEqual({ failedFor: 0 });
  });

  it('ends with a round of a loop whose condition failed', () => {
    const inputs = { condition: 'data.ok[data.n]' };
    const turn = work('a', { outputs: { n: 'data.n + 1', ok: 'step.ok' } });
    const loop = { id: 'loop', stepType: 'While', inputs, retryInterval: 40, do: [[turn]] };
    const driver = start([loop], { data: { n: 0, ok: [true] } });
    driver.endEffect(driver.effect('a'), { ok: [true] });
    expect(driver.instance.lastError?.stepId).toBe('loop');
    driver.advance(40);
    expect(times(driver)).toEqual({ failedFor: 40 });
    driver.modify({ data: { ok: [true, true] } });
    driver.advance(40);
    driver.advance(500);
    driver.endEffect(driver.effect('a'), { ok: [true, true] });
    expect(times(driver)).toEqual({ failedFor: 0 });
    driver.advance(40);
    expect(times(driver)).toEqual({ failedFor: 40 });
  });

  it('continues while a loop takes too long in each attempt', () => {
    const inputs = { condition: 'true' };
    const members = { timeout: 100, retryInterval: 40, do: [[work('a')]] };
    const driver = start([{ id: 'loop', stepType: 'While', inputs, ...members }]);
    for (const failedFor of [0, 140]) {
      driver.advance(50);
      driver.endEffect(driver.effect('a'));
      driver.advance(50);
      expect(driver.instance.lastError?.type).toBe('Timeout');
      expect(times(driver)).toEqual({ failedFor });
      driver.advance(40);
    }
  });
});

it('is not later than the error if the clock of the next node is behind', () => {
  const at = (time: number, since?: number): StepError => ({
    stepId: 'a',
    pointerId: 1,
    type: 'T',
    message: 'm',
    traceback: null,
    data: null,
    attempt: 1,
    time,
    ...(since !== undefined && { since }),
  });
  const pointer = (error: StepError) => ({ error }) as Pointer;
  expect(continueFailing(pointer(at(50)), at(40))).toEqual(at(40));
  expect(continueFailing(pointer(at(50, 30)), at(40))).toEqual(at(40, 30));
});
