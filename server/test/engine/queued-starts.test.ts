/** Runs whose first step waits until those before it have ended, from both sides. */
import { expect, it } from 'vitest';
import { JOINED_BY_MAX } from '../../src/engine/session/end-instance.js';
import type { OutboxMessage } from '../../src/engine/model/instance.js';
import { readState, stateVersionOf, writeState } from '../../src/engine/model/snapshot.js';
import { inOrder } from './support/define.js';
import { type EngineDriver, START_MS } from './support/engine-driver.js';
import { scenarios, type Start } from './support/scenario.js';
import { columnsOf } from './support/columns-of.js';
import { box, delay, noOp, undoable, waitFor } from './support/steps.js';

const QUEUES = { waits: { queues: 'reference' } } as const;
const ASKS = {
  kind: 'take-place',
  pointerId: 1,
  attempt: 1,
  at: START_MS,
  reference: true,
} as const;

scenarios('a queued run', (start) => {
  const queued = (steps: Parameters<Start>[0] = [noOp('a')], options: Parameters<Start>[1] = {}) =>
    start(steps, { ...QUEUES, ...options });

  it('asks for its place, and begins when it has it', () => {
    const driver = queued(inOrder(noOp('a'), noOp('b')));
    expect(driver.open).toEqual(['a queued']);
    expect(driver.instance.outbox).toEqual([ASKS]);
    driver.advance(3600);
    expect(driver.ran).toEqual([]);
    driver.deliver({ kind: 'begin' });
    expect(driver.ran).toEqual(['a', 'b']);
    expect(driver.status).toBe('Complete');
    expect(driver.records[0]).toMatchObject({ startTime: START_MS + 3_600_000, attempt: 1 });
  });

  it('asks again when the run before it has ended', () => {
    const driver = queued();
    driver.instance.outbox = [];
    driver.deliver({ kind: 'place-free' });
    expect(driver.open).toEqual(['a queued']);
    expect(driver.instance.outbox).toEqual([ASKS]);
  });

  it('asks again if an earlier version announces the end of the run before it', () => {
    const driver = queued();
    driver.instance.outbox = [];
    const end = { workflowId: 'other', status: 'Complete', data: {} } as const;
    driver.deliver({ kind: 'child', pointerId: 1, attempt: 1, ...end });
    expect(driver.open).toEqual(['a queued']);
    expect(driver.instance.outbox).toEqual([ASKS]);
  });

  it('begins once', () => {
    const driver = queued([waitFor('a')]);
    for (let round = 0; round < 3; round += 1) driver.deliver({ kind: 'begin' });
    expect(driver.open).toEqual(['a event']);
    expect(driver.asked.size).toBe(1);
    driver.instance.outbox = [];
    driver.deliver({ kind: 'place-free' });
    expect(driver.open).toEqual(['a event']);
    expect(driver.instance.outbox).toEqual([]);
  });

  it('has no timeout and no cancel condition before it begins', () => {
    const members = { timeout: 5, cancelCondition: 'data.stop' };
    const driver = queued([waitFor('a', members)], { data: { stop: true } });
    driver.advance(60);
    expect(driver.open).toEqual(['a queued']);
    driver.modify({ data: { stop: false } });
    driver.deliver({ kind: 'begin' });
    expect(driver.open).toEqual(['a event']);
    driver.advance(4);
    expect(driver.open).toEqual(['a event']);
    driver.advance(1);
    expect(driver.history[0]).toBe('a Failed');
  });

  it('checks the cancel condition of its first step when it begins', () => {
    const driver = queued([waitFor('a', { cancelCondition: 'data.stop' })], {
      data: { stop: true },
    });
    driver.deliver({ kind: 'begin' });
    expect(driver.history).toEqual(['a Cancelled']);
  });

  it('waits with a container, too', () => {
    const driver = queued([box('a', [waitFor('x')])]);
    expect(driver.open).toEqual(['a queued']);
    driver.deliver({ kind: 'begin' });
    expect(driver.open).toEqual(['a open', 'x event']);
  });

  it('does not begin while it is suspended', () => {
    const driver = queued();
    driver.suspend();
    driver.deliver({ kind: 'place-free' });
    driver.deliver({ kind: 'begin' });
    expect(driver.ran).toEqual([]);
    driver.resume();
    expect(driver.ran).toEqual(['a']);
  });

  it('stays queued over a suspension and a retry', () => {
    const driver = queued();
    driver.suspend();
    driver.resume();
    driver.deliver({ kind: 'retry-now' });
    expect(driver.open).toEqual(['a queued']);
  });

  it('ends when it is terminated, and tells the run that waits for it', () => {
    const driver = queued();
    driver.deliver({ kind: 'join', workflowId: 'next', pointerId: 1, attempt: 1, queue: true });
    driver.instance.outbox = [];
    driver.terminate();
    expect(driver.history).toEqual(['a Cancelled']);
    expect(driver.instance.outbox).toMatchObject([{ kind: 'child-ended', queue: true }]);
  });

  it('ends without compensation', () => {
    const driver = queued([undoable('a')]);
    driver.cleanUp();
    expect(driver.status).toBe('Terminated');
    expect(driver.history).toEqual(['a Cancelled']);
  });

  it('gives up its place if a modification cancels the wait', () => {
    const driver = queued(inOrder(waitFor('a'), waitFor('b')));
    driver.modify({ cancel: 'all', start: [{ stepId: 'b', inside: null }] });
    driver.instance.outbox = [];
    driver.deliver({ kind: 'place-free' });
    driver.deliver({ kind: 'begin' });
    expect(driver.open).toEqual(['b event']);
    expect(driver.instance.outbox).toEqual([]);
  });

  it('stays queued if a modification leaves the wait', () => {
    const driver = queued([noOp('a')]);
    driver.modify({ data: { x: 1 } });
    expect(driver.open).toEqual(['a queued']);
    driver.deliver({ kind: 'begin' });
    expect(driver.ran).toEqual(['a']);
  });
});

scenarios('a queued run that starts later', (start) => {
  const later = (seconds: number) =>
    start([noOp('a')], { waits: { queues: 'reference', startAt: START_MS + seconds * 1000 } });

  it('asks for the place of its start time', () => {
    const driver = later(5);
    expect(driver.open).toEqual(['a sleeping']);
    driver.deliver({ kind: 'begin' });
    driver.deliver({ kind: 'place-free' });
    driver.deliver({ kind: 'retry-now' });
    expect(driver.open).toEqual(['a sleeping']);
    expect(driver.instance.outbox).toEqual([]);
    driver.oversleep(60);
    expect(driver.open).toEqual(['a queued']);
    expect(driver.instance.outbox).toEqual([{ ...ASKS, at: START_MS + 5000 }]);
    driver.deliver({ kind: 'begin' });
    expect(driver.ran).toEqual(['a']);
  });

  it('asks at once if that time is over', () => {
    expect(later(-5).instance.outbox).toEqual([ASKS]);
  });

  it('asks only when it is resumed', () => {
    const driver = later(5);
    driver.suspend();
    driver.advance(10);
    expect(driver.instance.outbox).toEqual([]);
    driver.resume();
    expect(driver.instance.outbox).toEqual([{ ...ASKS, at: START_MS + 5000 }]);
  });
});

scenarios('the stored state of a queued run', (start) => {
  const copyOf = ({ instance }: EngineDriver) =>
    readState(columnsOf(instance), writeState(instance));

  it('is left alone by servers that know no queues, until it begins', () => {
    const driver = start([waitFor('a')], {
      waits: { queues: 'reference', startAt: START_MS + 5000 },
    });
    expect(stateVersionOf(driver.instance)).toBe(3);
    driver.advance(5);
    expect(stateVersionOf(driver.instance)).toBe(3);
    driver.deliver({ kind: 'begin' });
    expect(stateVersionOf(driver.instance)).toBe(1);
  });

  it('keeps its place', () => {
    const driver = start([waitFor('a')], QUEUES);
    driver.reload();
    const state = { kind: 'queued', at: START_MS, reference: true };
    expect(driver.pointer('a').state).toEqual(state);
    expect(copyOf(driver).outbox).toEqual([ASKS]);
  });
});

scenarios('a run that a queued run waits for', (start) => {
  const next = (n: number) =>
    ({ workflowId: `w${n}`, pointerId: 1, attempt: 1, queue: true }) as const;
  const ended = { kind: 'child-ended', pointerId: 1, attempt: 1, joined: 'ended', queue: true };

  function followedBy(count: number): EngineDriver {
    const driver = start([delay('wait', 5)]);
    for (let n = 0; n < count; n += 1) driver.deliver({ kind: 'join', ...next(n) });
    return driver;
  }

  it('tells it of its end once', () => {
    const driver = followedBy(1);
    driver.deliver({ kind: 'join', ...next(0) });
    expect(stateVersionOf(driver.instance)).toBe(1);
    driver.advance(5);
    expect(driver.instance.outbox).toEqual([{ ...ended, parentId: 'w0' }]);
  });

  it('tells it also if it is suspended at its last step, and when it is terminated', () => {
    const driver = followedBy(1);
    driver.suspend();
    driver.terminate();
    expect(driver.instance.outbox).toEqual([{ ...ended, parentId: 'w0' }]);
  });

  it('tells it again at the next end after a repair, and does not warn', () => {
    const driver = followedBy(1);
    driver.advance(5);
    driver.instance.outbox = [];
    const result = driver.modify({ start: [{ stepId: 'wait', inside: null }] });
    expect(result).toMatchObject({ outcome: 'applied', warnings: [] });
    driver.advance(5);
    expect(driver.instance.outbox).toEqual([{ ...ended, parentId: 'w0' }]);
  });

  it('forgets those that have been terminated when there are many, and loses none that waits', () => {
    const driver = followedBy(JOINED_BY_MAX);
    expect(driver.instance.outbox).toEqual([]);
    driver.deliver({ kind: 'join', workflowId: 'step', pointerId: 7, attempt: 1, left: true });
    driver.deliver({ kind: 'join', ...next(JOINED_BY_MAX) });
    expect(driver.instance.joinedBy).toEqual([next(JOINED_BY_MAX)]);
    const told = driver.instance.outbox as Extract<OutboxMessage, { kind: 'child-ended' }>[];
    expect(told).toHaveLength(JOINED_BY_MAX);
    expect(told.at(-1)).toEqual({ ...ended, joined: 'refused', parentId: `w${JOINED_BY_MAX - 1}` });
    // A suspension that is merged later withdraws no message.
    driver.suspend();
    expect(driver.instance.outbox).toHaveLength(JOINED_BY_MAX);
  });
});
