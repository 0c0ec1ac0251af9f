/** Slots for outgoing calls: limits, fair shares by definition, and calls that are canceled while they wait. */
import { describe, expect, it } from 'vitest';
import { CallSlots } from '../../../src/step-bodies/http-request/call-slots.js';
import { contextOf, useCalls, valuesOf } from '../support/call.js';

const { serve, body } = useCalls();
const never = new AbortController().signal;

/** Takes slots and records, in order, who got one. */
function queueAt(perHostMax: number, totalMax = 1000) {
  const slots = new CallSlots({ perHostMax, totalMax });
  const granted: { readonly by: string; readonly release: () => void }[] = [];
  const take = (by: string, host = 'http://a', signal: AbortSignal = never) => {
    const taken = slots.take(host, by, signal);
    taken.then(
      (release) => granted.push({ by, release }),
      () => undefined,
    );
    return taken;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const count = (by: string) => granted.filter((entry) => entry.by === by).length;
  return { count, granted, settle, take };
}

describe('a call permit', () => {
  it('remains available for a definition that has none', async () => {
    const { count, settle, take } = queueAt(32);
    for (let index = 0; index < 500; index += 1) void take('greedy');
    void take('other');
    await settle();
    expect(count('greedy')).toBe(24);
    expect(count('other')).toBe(1);
  });

  it('goes to the definitions in rotation', async () => {
    const { granted, settle, take } = queueAt(1);
    for (const by of ['x', 'a', 'a', 'a', 'b', 'b', 'c']) void take(by);
    for (let turn = 1; turn <= 7; turn += 1) {
      await settle();
      expect(granted).toHaveLength(turn);
      granted.at(-1)!.release();
    }
    expect(granted.map(({ by }) => by)).toEqual(['x', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('is limited over all hosts, and moves from one host to another', async () => {
    const { count, granted, settle, take } = queueAt(32, 8);
    for (let index = 0; index < 100; index += 1) void take('greedy', `http://host-${index}`);
    void take('other', 'http://other');
    await settle();
    expect(count('greedy')).toBe(6);
    expect(count('other')).toBe(1);
    for (let done = 0; done < 101; done += 1) {
      granted[done]!.release();
      await settle();
    }
    expect(granted).toHaveLength(101);
  });

  it('is released once, however often release is called', async () => {
    const { granted, settle, take } = queueAt(1);
    for (const by of ['a', 'b', 'c']) void take(by);
    await settle();
    granted[0]!.release();
    granted[0]!.release();
    await settle();
    expect(granted.map(({ by }) => by)).toEqual(['a', 'b']);
  });

  it('is not kept by a canceled call that was waiting', async () => {
    const { granted, settle, take } = queueAt(1);
    void take('a');
    const controller = new AbortController();
    const waiting = take('b', 'http://a', controller.signal);
    void take('c');
    controller.abort();
    await expect(waiting).rejects.toThrow(/canceled while it was queued/);
    await settle();
    granted[0]!.release();
    await settle();
    expect(granted.map(({ by }) => by)).toEqual(['a', 'c']);
    await expect(take('d', 'http://a', controller.signal)).rejects.toThrow();
  });
});

describe('S-40: a definition with hanging calls', () => {
  it('delays no other definition at that host, and its own calls end at the time limit', async () => {
    const server = await serve((request, response) => {
      if (request.url !== '/hang') response.end('ok');
    });
    const caller = body({ connectionsPerHost: 4, timeoutMs: 3000, timeoutMsMax: 3000 });
    const started = performance.now();
    const hanging = Array.from({ length: 8 }, () =>
      caller.run(
        { BaseUrl: server.url, Resource: 'hang', Timeout: 86_400 },
        contextOf({ definitionId: 'greedy' }),
      ),
    );
    const other = await caller.run({ BaseUrl: server.url }, contextOf({ definitionId: 'other' }));
    expect(valuesOf(other)).toMatchObject({ ResponseCode: 200 });
    // All of them, including those that never got a slot.
    for (const result of await Promise.all(hanging)) {
      expect(valuesOf(result)['ErrorMessage']).toMatch(/took longer than 3000 ms/);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
