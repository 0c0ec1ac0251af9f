/**
 * Random definitions and random sequences of events. The driver checks the invariants of `pointer.ts` after every call
 * of the engine; this file checks what must hold for a whole run.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../support/property-runs.js';
import { Choices } from './support/choices.js';
import { define } from './support/define.js';
import { EndlessLoopError, EngineDriver } from './support/engine-driver.js';
import { answerEverything, Course, happenings, isModification } from './support/random-course.js';
import { RANDOM_DATA, RANDOM_SLOTS, randomDefinition } from './support/random-definition.js';

const runs = propertyRuns(400);
/** Each takes a few milliseconds; a busy machine may need much longer. */
const timeout = 30_000 + runs.numRuns * 300;

const numbers = fc.array(fc.nat(999), { minLength: 20, maxLength: 250, size: 'max' });

interface Life {
  readonly driver: EngineDriver;
  readonly world: { healthy: boolean };
  readonly course: Course;
}

function live(
  definition: ReturnType<typeof randomDefinition>,
  reload: () => boolean = () => false,
): Life {
  const world = { healthy: false };
  const driver = new EngineDriver(define(definition.steps, definition.members), {
    data: RANDOM_DATA,
    world,
    reload,
    slots: RANDOM_SLOTS,
  });
  return { driver, world, course: new Course(driver) };
}

/** A definition that forks more branches than it ends is not a counterexample; it is skipped. */
function skippingExplosions(property: () => void): void {
  try {
    property();
  } catch (error) {
    if (error instanceof EndlessLoopError) fc.pre(false);
    throw error;
  }
}

describe('any instance', { timeout }, () => {
  it('reaches the same result whether it stays in memory or is read back at any time (E4)', () => {
    fc.assert(
      fc.property(numbers, happenings, fc.array(fc.boolean()), (list, course, reloads) => {
        skippingExplosions(() => {
          const definition = randomDefinition(new Choices(list));
          let asked = 0;
          const sometimes = () => reloads[(asked += 1) % Math.max(1, reloads.length)] ?? false;
          const lives = [
            live(definition),
            live(definition, () => true),
            live(definition, sometimes),
          ];
          for (const happening of course) {
            for (const { course: taken } of lives) taken.take(happening);
            const [first, ...others] = lives.map(({ driver }) => driver);
            for (const other of others) {
              expect(other.text).toBe(first!.text);
              expect(other.status).toBe(first!.status);
            }
          }
          const [first, ...others] = lives.map(({ driver }) => driver);
          for (const other of others) {
            expect(other.records).toEqual(first!.records);
            expect(other.asked).toEqual(first!.asked);
          }
        });
      }),
      runs,
    );
  });

  it('ends Complete once all its answers have arrived, with everything recorded and nothing pending', () => {
    fc.assert(
      fc.property(numbers, happenings, fc.boolean(), (list, course, reload) => {
        skippingExplosions(() => {
          const definition = randomDefinition(new Choices(list));
          const { driver, world, course: taken } = live(definition, () => reload);
          for (const happening of course) taken.take(happening);
          world.healthy = true;
          answerEverything(driver);
          expect(['Complete', definition.mayTerminate ? 'Terminated' : '']).toContain(
            driver.status,
          );
          expect(driver.subscriptions).toEqual([]);
          expect(driver.activities).toEqual([]);
          expect(driver.effects).toEqual([]);
          expect(driver.outside.slots.left).toEqual([]);
          checkOutcome(driver);
        });
      }),
      runs,
    );
  });

  it('has nothing open, requests nothing and changes only by modification once terminated', () => {
    fc.assert(
      fc.property(numbers, happenings, happenings, (list, before, after) => {
        skippingExplosions(() => {
          const { driver, course } = live(randomDefinition(new Choices(list)));
          for (const happening of before) course.take(happening);
          if (driver.status === 'Complete') return;
          driver.terminate();
          const { text } = driver;
          expect(driver.open).toEqual([]);
          expect(driver.subscriptions).toEqual([]);
          expect(driver.activities).toEqual([]);
          expect(driver.effects).toEqual([]);
          expect(driver.outside.slots.left).toEqual([]);
          const unmodified = after.filter(({ kind }) => !isModification(kind));
          for (const happening of unmodified) course.take(happening);
          expect(driver.text).toBe(text);
          expect(driver.status).toBe('Terminated');
        });
      }),
      runs,
    );
  });
});

/** An ended instance has an error exactly if something failed that never succeeded later. */
function checkOutcome({ instance, records, status }: EngineDriver): void {
  const { lastError, outcome } = instance;
  const failures = records.filter((record) => record.status === 'Failed');
  const madeGood = new Set(
    records.filter((record) => record.status === 'Complete').map(({ pointerId }) => pointerId),
  );
  if (status === 'Complete') expect(['Succeeded', 'Compensated']).toContain(outcome);
  else expect(['Failed', 'Compensated']).toContain(outcome);
  if (failures.length === 0)
    expect({ outcome, lastError }).toEqual({ outcome: 'Succeeded', lastError: null });
  if (outcome !== 'Succeeded') expect(lastError).not.toBeNull();
  if (lastError !== null) expect(madeGood).not.toContain(lastError.pointerId);
}
