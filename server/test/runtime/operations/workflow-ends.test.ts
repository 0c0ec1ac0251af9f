/**
 * Goal: a wait for an ended run never shows what has changed since.
 * Method: an end that this node remembers, and a store that may have a newer state.
 */
import { expect, it } from 'vitest';
import { EndWaiters } from '../../../src/runtime/instances/end-waiters.js';
import { viewNew } from '../../../src/runtime/instance-state/instance-views.js';
import { InstanceEnds } from '../../../src/runtime/operations/instance-ends.js';
import { RequestGate } from '../../../src/runtime/operations/request-gate.js';
import { define } from '../../engine/support/define.js';
import { ManualClock } from '../support/manual-clock.js';

const REQUEST = { definitionId: 'd', data: {}, reference: null, fairness: null, idempotency: null };
const VIEW = viewNew('w', define([{ id: 'a', stepType: 'NoOp' }]), REQUEST, 0);
const SIGNAL = new AbortController().signal;

function scene() {
  const clock = new ManualClock();
  const gate = new RequestGate();
  gate.open();
  const endWaiters = new EndWaiters(clock);
  const state = { isShared: false };
  const stored = () => Promise.resolve({ ...VIEW, tags: { from: 'store' } });
  const ends = new InstanceEnds({
    clock,
    gate,
    endWaiters,
    runner: { isRunning: () => false },
    queries: { get: stored, getEnded: stored },
    isShared: () => state.isShared,
  });
  endWaiters.ended('w', VIEW);
  return { endWaiters, state, tags: async () => (await ends.wait('w', 5000, SIGNAL)).tags };
}

it('returns an end without a read while the node is alone', async () => {
  expect(await scene().tags()).toEqual({});
});

it('ignores late news of an end before the wait began', async () => {
  const clock = new ManualClock();
  const endWaiters = new EndWaiters(clock);
  const wait = () => endWaiters.wait('w', () => () => undefined, SIGNAL).over;
  const end = { ...VIEW, lastChangeTime: clock.now() };
  const early = wait();
  clock.advance(1);
  const late = wait();
  endWaiters.ended('w', end);
  expect(await early).toBe(end);
  expect(await late).toBeNull();
});

it('reads the store after a change on this node', async () => {
  const { endWaiters, tags } = scene();
  endWaiters.changed('w');
  expect(await tags()).toEqual({ from: 'store' });
});

it('reads the store while other nodes may change the run', async () => {
  const { state, tags } = scene();
  state.isShared = true;
  expect(await tags()).toEqual({ from: 'store' });
});
