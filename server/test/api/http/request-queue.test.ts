/** Goal: a turn of the event loop begins as many requests as fit into it, and callers alternate. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestQueue } from '../../../src/api/http/request-queue.js';

/** How many requests of one caller each turn begins, if each of them works for so long. */
async function requestsPerTurn(count: number, workMs: number): Promise<number[]> {
  let now = 0;
  const queue = new RequestQueue(() => now);
  const turns: number[] = [];
  let begun = 0;
  const requests = Array.from({ length: count }, async () => {
    await queue.enter('a');
    now += workMs;
    begun += 1;
  });
  while (begun < count) {
    const before = begun;
    await setImmediate();
    if (begun > before) turns.push(begun - before);
  }
  await Promise.all(requests);
  return turns;
}

describe('the request queue', () => {
  it('begins a request immediately if it finds no other', async () => {
    const queue = new RequestQueue();
    expect(queue.enter('a')).toBeNull();
    await setImmediate();
    expect(queue.enter('a')).toBeNull();
  });

  it('begins one request per turn if requests work for long', async () => {
    const [first, ...next] = await requestsPerTurn(40, 20);
    expect(first).toBeLessThanOrEqual(9);
    expect(Math.max(...next)).toBe(1);
  });

  it('begins more requests per turn while they are cheap, up to a limit', async () => {
    const turns = await requestsPerTurn(1000, 0.001);
    expect(turns.length).toBeLessThan(25);
    expect(Math.max(...turns)).toBe(64);
  });

  it('lets callers alternate', async () => {
    let now = 0;
    const queue = new RequestQueue(() => now);
    const begun: string[] = [];
    const request = async (caller: string): Promise<void> => {
      await queue.enter(caller);
      now += 20;
      begun.push(caller);
    };
    const flood = Array.from({ length: 100 }, () => request('flood'));
    await Promise.all([request('other'), request('third'), request('other')]);
    const others = begun.flatMap((caller, at) => (caller === 'flood' ? [] : [at]));
    // The first turn begins eight of the flood.
    expect(others).toEqual([9, 10, 12]);
    await Promise.all(flood);
    expect(begun).toHaveLength(103);
  });
});
