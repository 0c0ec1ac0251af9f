/**
 * Random definitions and sequences of events, cleaned up at any moment: each step that has begun is compensated once, newest
 * first, open containers after the steps inside them, and the instance is Terminated (E10).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../support/property-runs.js';
import { Choices } from '../support/choices.js';
import { define, inOrder, type StepSource } from '../support/define.js';
import { EndlessLoopError, EngineDriver } from '../support/engine-driver.js';
import { answerEverything, Course, happenings, isModification } from '../support/random-course.js';
import { RANDOM_DATA, RANDOM_SLOTS, randomDefinition } from '../support/random-definition.js';
import { box, trace, work } from '../support/steps.js';

const runs = propertyRuns(200);
/** Takes some milliseconds each; a busy machine may need much longer. */
const timeout = 30_000 + runs.numRuns * 300;

/** A cancel condition that becomes true while the clean-up waits for the work inside the step. */
// prettier-ignore
const CONDITION_WHILE_ENDING = [
  0, 0, 55, 0, 0, 0, 485, 601, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 370, 475, 0, 0, 0, 0, 0, 75, 0, 55, 489, 0, 621, 0, 0,
];

const numbers = fc.array(fc.nat(999), { minLength: 5, maxLength: 120, size: 'max' });

/** Steps that can be compensated, in containers of which some are sagas. */
class UndoableSteps {
  /** The containers around each step. */
  readonly around = new Map<string, readonly string[]>();
  readonly #choices: Choices;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  sequences(path: readonly string[] = []): StepSource[][] {
    const count = 1 + this.#choices.below(3);
    return Array.from({ length: count }, () => this.#sequence(path));
  }

  #sequence(path: readonly string[]): StepSource[] {
    const steps = Array.from({ length: 1 + this.#choices.below(3) }, () => this.#step(path));
    return [...inOrder(...steps)];
  }

  #step(path: readonly string[]): StepSource {
    const id = `s${this.around.size}`;
    this.around.set(id, path);
    const undo = { compensateWith: [trace(`-${id}`)] };
    const nests = path.length < 4 && this.around.size < 20 && this.#choices.percent(40);
    if (!nests) return work(id, undo);
    const saga = this.#choices.percent(50);
    return box(id, this.sequences([...path, id]), { saga, ...undo });
  }
}

describe('a clean-up', { timeout }, () => {
  it('compensates exactly the begun steps, newest first', () => {
    fc.assert(
      fc.property(numbers, fc.array(fc.nat(99)), fc.boolean(), (list, picks, reload) => {
        const steps = new UndoableSteps(new Choices(list));
        const driver = new EngineDriver(define([box('all', steps.sequences())]), {
          data: { trail: [] },
          reload: () => reload,
        });
        for (const pick of picks) {
          if (driver.effects.length > 1) {
            driver.endEffect(driver.effects[pick % driver.effects.length]!);
          }
        }
        const completed = driver.ran;
        const open = driver.pointers
          .filter(({ state, stepId }) => state.kind === 'open' && stepId !== 'all')
          .map(({ stepId }) => stepId);
        driver.cleanUp();
        const inFlight = driver.effects.map(({ stepId }) => stepId);
        driver.advance(600);

        // Trails are lists of `-<id>` by the definition above.
        const undone = (driver.data['trail'] as string[]).map((text) => text.slice(1));
        const ended = [...completed, ...inFlight];
        expect(undone.filter((id) => !open.includes(id))).toEqual(ended.toReversed());
        expect(undone.filter((id) => open.includes(id)).toSorted()).toEqual(open.toSorted());
        for (const id of open) {
          const inside = undone.filter((other) => steps.around.get(other)!.includes(id));
          const last = Math.max(-1, ...inside.map((other) => undone.indexOf(other)));
          expect(undone.indexOf(id)).toBeGreaterThan(last);
        }
        expect(driver.instance.outcome).toBe('Terminated');
        expect(driver.open).toEqual([]);
      }),
      runs,
    );
  });

  it('ends any instance at any moment, and leaves nothing behind', () => {
    fc.assert(
      fc.property(numbers, happenings, happenings, (list, before, during) => {
        try {
          const world = { healthy: false };
          const { mayTerminate, members, steps } = randomDefinition(new Choices(list));
          const lives = [false, true].map((reload) => {
            const options = { data: RANDOM_DATA, world, reload: () => reload, slots: RANDOM_SLOTS };
            return new EngineDriver(define(steps, members), options);
          });
          for (const driver of lives) {
            world.healthy = false;
            const course = new Course(driver);
            for (const happening of before) course.take(happening);
            if (driver.status === 'Complete' || driver.status === 'Terminated') continue;
            driver.cleanUp();
            // A modification may stop a clean-up.
            const others = during.filter(({ kind }) => !isModification(kind));
            for (const happening of others) course.take(happening);
            world.healthy = true;
            answerEverything(driver);
            expect(driver.status).toBe('Terminated');
            expect(['Terminated', mayTerminate ? 'Failed' : '']).toContain(driver.instance.outcome);
            expect([driver.subscriptions, driver.activities, driver.effects]).toEqual([[], [], []]);
          }
          expect(lives[0]!.records).toEqual(lives[1]!.records);
        } catch (error) {
          // A definition that forks more branches than it ends is not a counterexample; it is skipped.
          if (error instanceof EndlessLoopError) fc.pre(false);
          throw error;
        }
      }),
      {
        ...runs,
        numRuns: Math.ceil(runs.numRuns / 2),
        examples: [[CONDITION_WHILE_ENDING, [], []]],
      },
    );
  });
});
