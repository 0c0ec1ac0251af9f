/**
 * Random sagas compared with a model: for any nesting, any interleaving of branches and any failure, exactly what has begun
 * is compensated, once, the last one to end first, and open containers after the steps inside them (E8, E14). Calls in
 * flight end after the failure in any order: with a result, with a failure, with the grace, or with a crash.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../support/property-runs.js';
import { define, inOrder, type StepSource } from './support/define.js';
import { Choices } from './support/choices.js';
import { EngineDriver } from './support/engine-driver.js';
import { box, noOp, trace, work } from './support/steps.js';

const runs = propertyRuns(400);
/** Takes some milliseconds each; a busy machine may need much longer. */
const timeout = 30_000 + runs.numRuns * 300;

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

/**
 * What must be compensated, in order.
 * @param ended what had begun, in the order in which it ended
 * @param open the containers that were open at the failure, from the outside in
 */
function expectedTrail(
  nodes: SagaBuilder['nodes'],
  ended: readonly string[],
  open: readonly string[],
): readonly string[] {
  const isUndoable = (id: string) => nodes.get(id)!.undoable;
  const order = [...ended];
  for (const container of open.toReversed()) {
    const isInside = (id: string) => nodes.get(id)!.path.includes(container);
    const oldest = order.findIndex((id) => isInside(id) && isUndoable(id));
    // With nothing to undo inside, it ends with the last step in it.
    const at = oldest === -1 ? order.findLastIndex(isInside) + 1 : oldest;
    order.splice(at, 0, container);
  }
  return [...order.filter(isUndoable).toReversed(), 'saga'].map((id) => `-${id}`);
}

/** How the calls in flight end after the failure. */
const ENDINGS = ['result', 'failure', 'grace', 'crash'] as const;

/** Ends everything in flight. Returns the steps in the order in which they ended. */
function endInFlight(
  driver: EngineDriver,
  picks: readonly number[],
  ending: (typeof ENDINGS)[number],
): readonly string[] {
  const ended: string[] = [];
  for (let step = 0; step < picks.length && driver.effects.length > 0; step += 1) {
    const effect = driver.effects[picks[step]! % driver.effects.length]!;
    if (driver.open.includes('saga compensating')) break;
    ended.push(effect.stepId);
    if (ending === 'failure') driver.failEffect(effect);
    else driver.endEffect(effect);
  }
  const left = driver.effects.filter(({ stepId }) => !stepId.startsWith('-'));
  if (left.length === 0) return ended;
  if (ending === 'crash') driver.reload();
  else driver.advance(600);
  return [...ended, ...left.map(({ stepId }) => stepId)];
}

function openContainers(driver: EngineDriver): readonly string[] {
  return driver.pointers
    .filter(({ state, stepId }) => state.kind === 'open' && stepId !== 'saga')
    .map(({ stepId }) => stepId);
}

const turns = fc.array(fc.nat(99));
const ends = fc.record({ last: turns, end: fc.constantFrom(...ENDINGS) });

describe('any saga', { timeout }, () => {
  it('compensates exactly the begun steps, the last one to end first', () => {
    const numbers = fc.array(fc.nat(999), { minLength: 5, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(numbers, turns, ends, fc.boolean(), (list, picks, { end, last }, reload) => {
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
        const open = openContainers(driver);
        driver.failEffect(failing);
        const inFlight = endInFlight(driver, last, end);
        const ended = [...completed, failing.stepId, ...inFlight];
        expect(driver.data['trail']).toEqual(expectedTrail(builder.nodes, ended, open));
        expect(driver.history.slice(-2)).toEqual(['saga Compensated', 'after Complete']);
        expect(driver.status).toBe('Complete');
      }),
      runs,
    );
  });

  it('compensates nothing if it does not fail', () => {
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
      { ...runs, numRuns: Math.ceil(runs.numRuns / 4) },
    );
  });
});
