/** Sagas with a Timeout, and compensations that fail or are retried. */
import { expect, it } from 'vitest';
import { inOrder } from './support/define.js';
import { scenarios } from './support/scenario.js';
import {
  box,
  delay,
  failing,
  saga,
  undoable,
  noOp,
  trace,
  waitFor,
  work,
} from './support/steps.js';

const noTrail = { data: { trail: [] } };

scenarios('a failing saga', (start) => {
  it('is compensated when it times out, then its ErrorBehavior applies', () => {
    const driver = start(
      [
        saga(inOrder(undoable('a'), waitFor('never')), {
          timeout: 10,
          compensateWith: [trace('-saga')],
          errorBehavior: 'Terminate',
        }),
      ],
      noTrail,
    );
    driver.advance(10);
    expect(driver.data['trail']).toEqual(['-a', '-saga']);
    expect(driver.status).toBe('Terminated');
    expect(driver.instance.lastError?.type).toBe('Timeout');
  });

  it('runs its own chain if it times out before anything completed', () => {
    const driver = start(
      [
        saga([waitFor('never')], {
          timeout: 10,
          compensateWith: [trace('-saga')],
          errorBehavior: 'Retry',
          retryInterval: 1,
        }),
      ],
      noTrail,
    );
    driver.advance(10);
    expect(driver.data['trail']).toEqual(['-saga']);
    driver.advance(1);
    driver.publish('never', 'key');
    expect(driver.status).toBe('Complete');
  });

  it('has no Timeout for its compensation, and a full one for each retry', () => {
    const driver = start(
      [
        saga([waitFor('x', { compensateWith: [delay('-x', 60)] })], {
          timeout: 10,
          compensateWith: [delay('-saga', 60)],
          errorBehavior: 'Retry',
          retryInterval: 1,
        }),
      ],
      noTrail,
    );
    driver.advance(10 + 60 + 1);
    expect(driver.open).toEqual(['saga open', 'x event']);
    driver.advance(9.999);
    expect(driver.open).toEqual(['saga open', 'x event']);
    driver.advance(0.001);
    expect(driver.open).toEqual(['saga compensating', '-saga sleeping']);
  });

  it('continues with the other compensations when one of them is abandoned', () => {
    const driver = start(
      [
        saga(
          inOrder(
            undoable('a'),
            noOp('b', { compensateWith: [failing('-b', { errorBehavior: 'Compensate' })] }),
            failing('c'),
          ),
        ),
      ],
      noTrail,
    );
    expect(driver.history).toContain('-b Failed');
    expect(driver.data['trail']).toEqual(['-a', '-saga']);
    expect(driver.status).toBe('Complete');
  });

  it('waits for a compensation that is retried before it starts the next', () => {
    const driver = start(
      [
        saga(
          inOrder(
            undoable('a'),
            noOp('b', { compensateWith: [work('-b', { retryInterval: 5 })] }),
            failing('c'),
          ),
        ),
      ],
      noTrail,
    );
    driver.failEffect(driver.effect('-b'));
    driver.advance(4.999);
    expect(driver.data['trail']).toEqual([]);
    driver.advance(0.001);
    driver.endEffect(driver.effect('-b'));
    expect(driver.data['trail']).toEqual(['-a', '-saga']);
  });

  it('compensates a saga inside its compensation on its own', () => {
    const undo = box('undoSaga', inOrder(undoable('u'), failing('v')), { saga: true });
    const driver = start(
      [saga(inOrder(undoable('a'), noOp('b', { compensateWith: [undo] }), failing('c')))],
      noTrail,
    );
    expect(driver.data['trail']).toEqual(['-u', '-a', '-saga']);
    expect(driver.status).toBe('Complete');
  });
});
