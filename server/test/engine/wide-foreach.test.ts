/**
 * A parallel Foreach with more items than are opened at once: its cost per item is constant, and all items run in
 * parallel.
 */
import { describe, expect, it } from 'vitest';
import { cancelStep, takeCancelChecks } from '../../src/engine/flow/cancel-conditions.js';
import type { StepRecord } from '../../src/engine/model/step-record.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { startSession, restoreSession } from '../../src/engine/flow/lifecycle.js';
import { noChanges, type Session } from '../../src/engine/session/session.js';
import { readState, writeState } from '../../src/engine/model/snapshot.js';
import { enterStep, leaveStep, failWork, nextWork } from '../../src/engine/flow/step-work.js';
import { fireTimers } from '../../src/engine/flow/timers.js';
import { define, type StepSource } from './support/define.js';
import { delay, foreach, noOp, work } from './support/steps.js';

const ITEMS = 1300;

/**
 * Drives a run without the checks of `EngineDriver`, which visit every pointer after every step. The inputs of steps
 * come from a table.
 */
class PlainDriver {
  run: Session;
  readonly records: StepRecord[] = [];
  /** Characters written to the state and the history, with a commit after every 1,000 steps. */
  written = 0;
  readonly #inputs: Readonly<Record<string, JsonObject>>;

  constructor(steps: readonly StepSource[], inputs: Readonly<Record<string, JsonObject>>) {
    this.#inputs = inputs;
    const options = { id: 'w', data: {}, reference: null, parent: null };
    this.run = startSession(define(steps), options, 0);
  }

  /** @param outputs the outputs of the step; null: it fails */
  pump(outputs: (stepId: string, index: number) => Json = () => 1, reloadEach = Infinity): this {
    for (let steps = 1; ; steps += 1) {
      for (const { pointer } of takeCancelChecks(this.run)) {
        if (this.run.instance.data['stop'] === true) cancelStep(this.run, pointer);
      }
      const next = nextWork(this.run);
      if (next === null) break;
      const { index = 0, stepId } = next.pointer;
      if (next.kind === 'inputs') {
        enterStep(this.run, next.pointer, { inputs: this.#inputs[stepId] ?? {}, shown: {} });
      } else {
        const value = outputs(stepId, index);
        if (value === null) failWork(this.run, next, { type: 'Test', message: 'failed' });
        else this.#leave(next.pointer, value);
      }
      if (steps % 1000 === 0) this.#commit();
      if (steps % reloadEach === 0) this.reload();
    }
    this.#commit();
    return this;
  }

  reload(): void {
    const instance = readState(this.run.instance, writeState(this.run.instance));
    this.run = restoreSession(this.run.definition, instance, this.run.now);
  }

  count(stepId: string): number {
    return this.records.filter((record) => record.stepId === stepId).length;
  }

  #leave(pointer: Parameters<typeof leaveStep>[1], value: Json): void {
    const outputs = value === true ? ([['stop', true]] as const) : [];
    leaveStep(this.run, pointer, { outputs, selected: [], shown: {} });
  }

  #commit(): void {
    this.records.push(...this.run.instance.recent);
    this.written += JSON.stringify(this.run.instance.recent).length;
    this.run.instance.recent = [];
    this.run.changes = { ...noChanges(), effects: this.run.changes.effects };
    this.written += writeState(this.run.instance).length;
  }
}

/** The most items that were open at once. */
function openMost(driver: PlainDriver): number {
  let most = 0;
  driver.pump(() => {
    most = Math.max(most, driver.run.instance.pointers.size - 1);
    return 1;
  });
  return most;
}

function list(count: number): JsonObject {
  return { Collection: Array.from({ length: count }, (_, n) => n) };
}

describe('a wide Foreach', () => {
  it('runs each item once, with its own item and index', () => {
    const steps = [foreach('each', '0', [noOp('in')], { nextStepId: 'after' }), noOp('after')];
    const driver = new PlainDriver(steps, { each: list(ITEMS) }).pump();
    const items = driver.records.filter(({ stepId }) => stepId === 'in');
    expect(items.map(({ item }) => Number(item)).toSorted((a, b) => a - b)).toEqual(
      list(ITEMS)['Collection'],
    );
    expect(items.every(({ index, item }) => index === item)).toBe(true);
    expect(driver.count('after')).toBe(1);
    expect(driver.run.instance.status).toBe('Complete');
  });

  it('lets all items wait in parallel', () => {
    const steps = [foreach('each', '0', [delay('in', 10)])];
    const driver = new PlainDriver(steps, { each: list(ITEMS), in: { Period: 10 } }).pump();
    expect(driver.run.instance.pointers.size).toBe(ITEMS + 1);
    driver.run.now = 10_000;
    fireTimers(driver.run);
    expect(driver.pump().run.instance.status).toBe('Complete');
  });

  it('starts all effects before any has ended', () => {
    const driver = new PlainDriver([foreach('each', '0', [work('in')])], { each: list(ITEMS) });
    expect(driver.pump().run.changes.effects).toHaveLength(ITEMS);
  });

  it('runs the same way when it is stored and read in between, several items at a time', () => {
    const inner = foreach('inner', '0', [noOp('in')]);
    const steps = [foreach('each', '0', [inner], { nextStepId: 'after' }), noOp('after')];
    const inputs = { each: list(3), inner: list(ITEMS) };
    const driver = new PlainDriver(steps, inputs).pump();
    const other = new PlainDriver(steps, inputs).pump(() => 1, 97);
    expect(driver.count('in')).toBe(3 * ITEMS);
    expect(other.records.length).toBe(driver.records.length);
    expect(writeState(other.run.instance)).toBe(writeState(driver.run.instance));
  });

  it('opens no further items if it is compensated', () => {
    const broken = noOp('in', { errorBehavior: 'Compensate' });
    const each = foreach('each', '0', [broken], { compensateWith: [noOp('undo')] });
    const driver = new PlainDriver([each], { each: list(ITEMS) });
    driver.pump((stepId, index) => (stepId === 'in' && index === 5 ? null : 1));
    expect(driver.count('undo')).toBe(1);
    expect(driver.count('in')).toBeLessThan(ITEMS);
    expect(driver.run.instance.status).toBe('Complete');
  });

  it('starts with all of its items when it is retried', () => {
    const broken = noOp('in', { errorBehavior: 'Compensate' });
    const each = foreach('each', '0', [broken], {
      compensateWith: [noOp('undo')],
      errorBehavior: 'Retry',
      retryInterval: 0,
    });
    const driver = new PlainDriver([each], { each: list(ITEMS) });
    let isBroken = true;
    driver.pump((stepId, index) => {
      const fails = isBroken && stepId === 'in' && index === 700;
      if (fails) isBroken = false;
      return fails ? null : 1;
    });
    fireTimers(driver.run);
    driver.pump();
    const second = driver.records.slice(
      driver.records.findIndex(({ stepId }) => stepId === 'undo'),
    );
    expect(second.filter(({ stepId }) => stepId === 'in')).toHaveLength(ITEMS);
    expect(driver.run.instance.status).toBe('Complete');
  });

  it('ends when it is canceled even if most items were never opened', () => {
    const members = { cancelCondition: 'data.stop', proceedOnCancel: true, nextStepId: 'after' };
    const steps = [foreach('each', '0', [noOp('in')], members), noOp('after')];
    const driver = new PlainDriver(steps, { each: list(ITEMS) });
    driver.pump((stepId, index) => stepId === 'in' && index === 3);
    expect(driver.count('after')).toBe(1);
    expect(driver.count('in')).toBeLessThan(ITEMS);
    expect(driver.run.instance.status).toBe('Complete');
  });

  it('writes less than three times as much per item with 20,000 items as with 1,000', () => {
    const written = (count: number): number => {
      const driver = new PlainDriver([foreach('each', '0', [noOp('in')])], { each: list(count) });
      expect(driver.pump().run.instance.status).toBe('Complete');
      return driver.written / count;
    };
    expect(written(20_000)).toBeLessThan(3 * written(1000));
  });

  it('runs more items than can be open at once with MaxParallel', () => {
    const inputs = { each: { ...list(30_000), MaxParallel: 100 } };
    const driver = new PlainDriver([foreach('each', '0', [noOp('in')])], inputs);
    expect(openMost(driver)).toBe(100);
    expect(driver.count('in')).toBe(30_000);
    expect(driver.run.instance.status).toBe('Complete');
  });

  it('rejects a MaxParallel that lets too many sequences be open at once', () => {
    const each = foreach('each', '0', [[noOp('in')], [noOp('beside')]], {
      errorBehavior: 'Terminate',
    });
    const inputs = { each: { ...list(30_000), MaxParallel: 10_001 } };
    const { instance } = new PlainDriver([each], inputs).pump().run;
    expect(instance.lastError?.message).toContain('MaxParallel is 10001, but at most 10000');
  });

  it('does not visit a Foreach again until one of its items has ended', () => {
    const inner = foreach('inner', '0', [delay('in', 10)]);
    const inputs = { each: list(500), inner: { ...list(3), MaxParallel: 2 }, in: { Period: 10 } };
    const driver = new PlainDriver([foreach('each', '0', [inner])], inputs).pump();
    expect(driver.run.instance.pointers.size).toBe(1 + 500 * 3);
    expect(driver.run.opening.size).toBe(0);
    driver.run.now = 10_000;
    fireTimers(driver.run);
    driver.pump();
    driver.run.now = 20_000;
    fireTimers(driver.run);
    expect(driver.pump().run.instance.status).toBe('Complete');
    expect(driver.count('in')).toBe(1500);
  });

  it('finds steps with a cancel condition without visiting the others', () => {
    const driver = new PlainDriver([foreach('each', '0', [delay('in', 10)])], {
      each: list(ITEMS),
      in: { Period: 10 },
    });
    driver.pump();
    expect(driver.run.cancelable.size).toBe(0);
    driver.run.cancelCheckDue = true;
    expect(takeCancelChecks(driver.run)).toEqual([]);
  });
});
