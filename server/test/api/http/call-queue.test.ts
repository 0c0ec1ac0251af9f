import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CallQueue } from '../../../src/api/http/call-queue.js';

describe('the queue of calls', () => {
  it('begins a call that finds no other immediately', async () => {
    const queue = new CallQueue();
    expect(queue.enter('a')).toBeNull();
    await setImmediate();
    expect(queue.enter('a')).toBeNull();
  });

  it('begins one call in each turn of the event loop', async () => {
    const queue = new CallQueue();
    void queue.enter('a');
    let turn = 0;
    const turns: number[] = [];
    const calls = Array.from({ length: 20 }, async () => {
      await queue.enter('a');
      turns.push(turn);
    });
    while (turns.length < calls.length) {
      await setImmediate();
      turn += 1;
    }
    await Promise.all(calls);
    expect(new Set(turns).size).toBe(calls.length);
  });

  it('lets callers alternate', async () => {
    const queue = new CallQueue();
    const begun: string[] = [];
    const call = async (caller: string): Promise<void> => {
      await queue.enter(caller);
      begun.push(caller);
    };
    const flood = Array.from({ length: 100 }, () => call('flood'));
    await Promise.all([call('other'), call('third'), call('other')]);
    expect(begun).toEqual(['flood', 'flood', 'other', 'third', 'flood', 'other']);
    await Promise.all(flood);
    expect(begun).toHaveLength(103);
  });
});
