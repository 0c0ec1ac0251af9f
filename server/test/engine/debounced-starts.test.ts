/** Runs whose first step waits, and which further starts join until it begins. */
import { expect, it } from 'vitest';
import { windowEnd } from '../../src/engine/flow/debounce.js';
import { COLLECTED_MAX, type StartDebounce } from '../../src/engine/model/debounce.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { inOrder } from './support/define.js';
import { START_MS, type EngineDriver } from './support/engine-driver.js';
import { scenarios, type Start } from './support/scenario.js';
import { noOp } from './support/steps.js';

const PERIOD_MS = 10_000;
const DEBOUNCE: StartDebounce = {
  key: 'k',
  periodMs: PERIOD_MS,
  maxMs: 3 * PERIOD_MS,
  data: 'last',
  lengthMax: 1000,
};

scenarios('a run with a window', (start) => {
  const open = (
    debounce: Partial<StartDebounce> = {},
    data: JsonObject = { n: 1 },
    steps: Parameters<Start>[0] = [noOp('a')],
  ): EngineDriver => {
    const waits = { startAt: START_MS + PERIOD_MS, debounce: { ...DEBOUNCE, ...debounce } };
    return start(steps, { data, waits });
  };
  const join = (driver: EngineDriver, id: string, data: JsonObject, periodMs = PERIOD_MS) =>
    driver.deliver({ kind: 'debounce', id, periodMs, data });
  const untilOf = ({ instance }: EngineDriver): number => (windowEnd(instance) ?? NaN) - START_MS;

  it('moves its time with each start, but not past the maximum', () => {
    const driver = open();
    expect(untilOf(driver)).toBe(PERIOD_MS);
    driver.advance(9);
    join(driver, 's2', { n: 2 });
    expect(untilOf(driver)).toBe(19_000);
    driver.advance(9);
    join(driver, 's3', { n: 3 });
    expect(untilOf(driver)).toBe(28_000);
    driver.advance(9);
    join(driver, 's4', { n: 4 });
    expect(untilOf(driver)).toBe(30_000);
    expect(driver.ran).toEqual([]);
    driver.advance(3);
    expect(driver.ran).toEqual(['a']);
    expect(driver.instance.data).toEqual({ n: 4 });
  });

  it('keeps the data of the first start', () => {
    const driver = open({ data: 'first' });
    join(driver, 's2', { n: 2 });
    driver.advance(10);
    expect(driver.instance).toMatchObject({ status: 'Complete', data: { n: 1 } });
    expect(driver.instance.debounce).toMatchObject({ starts: 2 });
  });

  it('collects the data of all starts, in their order', () => {
    const driver = open({ data: 'list' });
    join(driver, 's2', { n: 2 });
    join(driver, 's3', { n: 3 });
    driver.advance(10);
    expect(driver.instance.data).toEqual({ items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  });

  it('takes a start once', () => {
    const driver = open({ data: 'list' });
    join(driver, 's2', { n: 2 });
    driver.advance(5);
    join(driver, 's2', { n: 2 });
    expect(untilOf(driver)).toBe(PERIOD_MS);
    expect(driver.instance.debounce).toMatchObject({ starts: 2, joins: ['s2'] });
    expect(driver.instance.data).toEqual({ items: [{ n: 1 }, { n: 2 }] });
  });

  it('begins when it has as many starts as it can collect', () => {
    const driver = open({ data: 'list', lengthMax: 1_000_000 });
    for (let n = 2; n < COLLECTED_MAX; n += 1) join(driver, `s${n}`, { n });
    expect(driver.ran).toEqual([]);
    join(driver, 'last', { n: COLLECTED_MAX });
    expect(driver.ran).toEqual(['a']);
    expect(driver.instance.data['items']).toHaveLength(COLLECTED_MAX);
  });

  it('begins without a start that makes its list too large', () => {
    const driver = open({ data: 'list', lengthMax: 60 });
    join(driver, 's2', { text: 'x'.repeat(20) });
    join(driver, 's3', { text: 'x'.repeat(60) });
    expect(driver.ran).toEqual(['a']);
    expect(driver.instance.data['items']).toHaveLength(2);
    expect(driver.instance.debounce).toMatchObject({ starts: 2, joins: ['s2'] });
  });

  it('takes starts while it is suspended, and begins once it is resumed', () => {
    const driver = open();
    driver.suspend();
    join(driver, 's2', { n: 2 });
    driver.advance(60);
    join(driver, 's3', { n: 3 });
    expect(driver.ran).toEqual([]);
    driver.resume();
    driver.advance(60);
    expect(driver.instance).toMatchObject({ status: 'Complete', data: { n: 3 } });
  });

  it('takes nothing any more once a modification has begun another step', () => {
    const driver = open({}, { n: 1 }, inOrder(noOp('a'), noOp('b')));
    driver.modify({ start: [{ stepId: 'b', inside: null }] });
    expect(windowEnd(driver.instance)).toBeNull();
    join(driver, 's2', { n: 2 });
    expect(driver.instance.debounce).toMatchObject({ starts: 1, joins: [] });
    expect(driver.instance.data).toEqual({ n: 1 });
  });
});
