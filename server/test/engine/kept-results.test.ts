/** E9: the result of a step is kept when its outputs or selectors fail; only these are evaluated again. */
import { describe, expect, it } from 'vitest';
import type { StepSource } from './support/define.js';
import type { EngineDriver } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import {
  activity,
  box,
  noOp,
  subWorkflow,
  waitFor,
  work,
  type StepMembers,
} from './support/steps.js';

/** Fails until the test sets `world.broken` to false. */
const fragile = { got: 'world.broken ? data.none : step' } as const;

const KINDS: readonly {
  readonly kind: string;
  readonly step: (members: StepMembers) => StepSource;
  readonly answer: (driver: EngineDriver) => void;
  readonly result: object;
}[] = [
  {
    kind: 'WaitFor',
    step: (members) => waitFor('a', members),
    answer: (driver) => void driver.publish('a', 'key', 7),
    result: { EventData: 7, TimedOut: false },
  },
  {
    kind: 'Activity',
    step: (members) => activity('a', members),
    answer: (driver) => driver.succeed(driver.activity('a'), 'paid'),
    result: { Result: 'paid' },
  },
  {
    kind: 'a custom step',
    step: (members) => work('a', members),
    answer: (driver) => driver.endEffect(driver.effect('a'), { n: 1 }),
    result: { n: 1 },
  },
  {
    kind: 'SubWorkflow',
    step: (members) => subWorkflow('a', members),
    answer: (driver) => {
      driver.endEffect(driver.effect('a'));
      driver.endChild('a', 'Complete');
    },
    result: { Status: 'Complete' },
  },
];

scenarios('the result of a step', (start) => {
  describe.each(KINDS)('of type $kind', ({ answer, result, step }) => {
    it('is kept for a retry when the outputs fail', () => {
      const world = { broken: true };
      const driver = start([step({ outputs: fragile, retryInterval: 10 })], { world });
      answer(driver);
      expect(driver.history).toEqual(['a Failed']);
      driver.advance(10);
      expect(driver.history).toEqual(['a Failed', 'a Failed #2']);
      world.broken = false;
      driver.advance(10);
      expect(driver.history).toEqual(['a Failed', 'a Failed #2', 'a Complete #3']);
      expect(driver.data['got']).toMatchObject(result);
      expect(driver.records.map(({ bodyAttempt }) => bodyAttempt)).toEqual([undefined, 1, 1]);
      expect(driver.asked.size).toBe(1);
    });

    it('is kept for a resume when a selector fails', () => {
      const world = { broken: true };
      const selectNextStep = { after: 'world.broken ? data.none : true' };
      const driver = start([step({ selectNextStep, errorBehavior: 'Suspend' }), noOp('after')], {
        world,
      });
      answer(driver);
      expect(driver.status).toBe('Suspended');
      world.broken = false;
      driver.resume();
      expect(driver.history).toEqual(['a Failed', 'a Complete #2', 'after Complete']);
      expect(driver.asked.size).toBe(1);
    });

    it('is kept until the retries, all of which count, are exhausted', () => {
      const driver = start(
        [
          step({
            outputs: fragile,
            retryInterval: 10,
            errorBehavior: 'Retry',
            maxRetries: 2,
            onRetriesExhausted: 'Suspend',
          }),
        ],
        { world: { broken: true } },
      );
      answer(driver);
      driver.advance(100);
      expect(driver.status).toBe('Suspended');
      expect(driver.history).toEqual(['a Failed', 'a Failed #2', 'a Failed #3']);
      expect(driver.asked.size).toBe(1);
    });

    it('is discarded when its saga runs again', () => {
      const world = { broken: true };
      const driver = start(
        [
          box('saga', [step({ outputs: fragile })], {
            saga: true,
            errorBehavior: 'Retry',
            retryInterval: 10,
          }),
        ],
        { world },
      );
      answer(driver);
      world.broken = false;
      driver.advance(10);
      expect(driver.asked.size).toBe(2);
      answer(driver);
      expect(driver.status).toBe('Complete');
    });
  });

  it('is kept whatever the Timeout of its step', () => {
    const world = { broken: true };
    const driver = start([waitFor('a', { outputs: fragile, timeout: 5, retryInterval: 10 })], {
      world,
    });
    driver.publish('a', 'key');
    driver.advance(25);
    expect(driver.history).toEqual(['a Failed', 'a Failed #2', 'a Failed #3']);
    expect(driver.records.map(({ error }) => error?.type)).not.toContain('Timeout');
  });

  it('is kept if it belongs to a container, whose steps do not run again', () => {
    const world = { broken: true };
    const driver = start([box('a', [work('in')], { outputs: fragile, retryInterval: 10 })], {
      world,
    });
    driver.endEffect(driver.effect('in'));
    world.broken = false;
    driver.advance(10);
    expect(driver.history).toEqual(['in Complete', 'a Failed', 'a Complete #2']);
  });

  it('keeps its schedule if it continues in the background', () => {
    const world = { broken: true };
    const schedule: StepSource = {
      id: 'a',
      stepType: 'Schedule',
      inputs: { interval: 30, background: true },
      outputs: fragile,
      retryInterval: 10,
      nextStepId: 'after',
      do: [noOp('in')],
    };
    const driver = start([schedule, noOp('after')], { world });
    world.broken = false;
    driver.advance(10);
    expect(driver.ran).toEqual(['after']);
    driver.advance(20);
    expect(driver.ran).toEqual(['after', 'in', 'a']);
  });
});
