/**
 * Random sagas compared with a model: for any nesting, any interleaving of branches and any failure, exactly the
 * completed steps are compensated, once, level by level outwards from the failure and newest first on each level (E8).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { define, inOrder, type StepSource } from './support/define.js';
import { Choices } from './support/choices.js';
import { EngineDriver } from './support/engine-driver.js';
import { box, noOp, trace, work } from './support/steps.js';

const numRuns = Number(process.env['ENGINE_PROPERTY_RUNS'] ?? 700);
/** Takes some milliseconds each; a busy machine may need much longer. */
const timeout = 30_000 + numRuns * 300;

interface Node {
  readonly id: string;
  readonly undoable: boolean;
  /** Containers around it, outermost (the saga) first. */
  readonly path: readonly string[];
}

class SagaBuilder {
  readonly nodes = new Map<string, Node>();
  readonly #choices: Choices;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  sequences(path: readonly string[]): StepSource[][] {
    const count = 1 + this.#choices.below(3);
    return Array.from({ length: count }, () => this.#sequence(path));
  }

  #sequence(path: readonly string[]): StepSource[] {
    const steps = Array.from({ length: 1 + this.#choices.below(3) }, () => this.#step(path));
    return [...inOrder(...steps)];
  }

  #step(path: readonly string[]): StepSource {
    const id = `s${this.nodes.size}`;
    const undoable = !this.#choices.percent(25);
    this.nodes.set(id, { id, undoable, path });
    const undo = undoable ? { compensateWith: [trace(`-${id}`)] } : {};
    const nests = path.length < 4 && this.nodes.size < 20 && this.#choices.percent(35);
    return nests ? box(id, this.sequences([...path, id]), undo) : work(id, undo);
  }
}

/** What must be compensated, in order, when `failed` fails after `completed` have completed in this order. */
function expectedTrail(nodes: SagaBuilder['nodes'], completed: readonly string[], failed: string) {
  const trail: string[] = [];
  const undo = (id: string): void => {
    if (nodes.get(id)?.undoable !== false) trail.push(`-${id}`);
  };
  undo(failed);
  let remaining = completed.toReversed();
  for (const container of nodes.get(failed)!.path.toReversed()) {
    const isInside = (id: string) => nodes.get(id)!.path.includes(container);
    remaining.filter(isInside).forEach(undo);
    remaining = remaining.filter((id) => !isInside(id));
    undo(container);
  }
  return trail;
}

describe('any saga', { timeout }, () => {
  it('compensates exactly the completed steps, in order', () => {
    const numbers = fc.array(fc.nat(999), { minLength: 5, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(numbers, fc.array(fc.nat(99)), fc.boolean(), (list, picks, reload) => {
        const builder = new SagaBuilder(new Choices(list));
        const inside = builder.sequences(['saga']);
        const saga = box('saga', inside, { saga: true, compensateWith: [trace('-saga')] });
        const driver = new EngineDriver(define([{ ...saga, nextStepId: 'after' }, noOp('after')]), {
          data: { trail: [] },
          reload: () => reload,
        });
        for (const pick of picks) {
          if (driver.effects.length > 1) {
            driver.endEffect(driver.effects[pick % driver.effects.length]!);
          }
        }
        const completed = driver.ran;
        const failing = driver.effects[(picks[0] ?? 0) % driver.effects.length]!;
        driver.failEffect(failing);
        const trail = expectedTrail(builder.nodes, completed, failing.stepId);
        expect(driver.data['trail']).toEqual(trail);
        expect(driver.history.slice(-2)).toEqual(['saga Compensated', 'after Complete']);
        expect(driver.status).toBe('Complete');
      }),
      { numRuns },
    );
  });

  it('that does not fail compensates nothing', () => {
    const numbers = fc.array(fc.nat(999), { minLength: 5, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(numbers, fc.array(fc.nat(99)), (list, picks) => {
        const inside = new SagaBuilder(new Choices(list)).sequences(['saga']);
        const driver = new EngineDriver(define([box('saga', inside, { saga: true })]), {
          data: { trail: [] },
        });
        for (let step = 0; driver.effects.length > 0; step += 1) {
          const { effects } = driver;
          driver.endEffect(effects[(picks[step] ?? 0) % effects.length]!);
        }
        expect(driver.data['trail']).toEqual([]);
        expect(driver.status).toBe('Complete');
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    );
  });
});
