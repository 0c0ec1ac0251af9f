/** Goal: responses of HttpRequest steps take a limited share of the memory, and no call waits forever. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { CallMemory } from '../../src/step-bodies/call-memory.js';
import { contextOf, useCalls, valuesOf } from './support/call.js';

const KB = 1024;
/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(limit: number) {
  const memory = new CallMemory(limit);
  const never = new AbortController().signal;
  const begin = (definitionId: string, signal = never) => memory.begin(definitionId, signal);
  /** Whether a response has got what it requested, by now. */
  const wanted = (growing: Promise<void>) => {
    const state = { isDone: false, error: '' };
    growing.then(
      () => (state.isDone = true),
      (error: unknown) => (state.error = String(error)),
    );
    return state;
  };
  return { memory, begin, wanted };
}

describe('the memory of calls', () => {
  it('makes large responses wait for each other, but never small ones (CM1, CM2)', async () => {
    const { begin, memory, wanted } = setUp(1000 * KB);
    const first = begin('greedy');
    await first.grow(700 * KB);
    const second = begin('greedy');
    const growing = wanted(second.grow(100 * KB));
    const small = begin('greedy');
    await small.grow(64 * KB);
    // Another definition still finds a slot.
    await begin('other').grow(100 * KB);
    expect(growing.isDone).toBe(false);
    expect(memory).toMatchObject({ used: 864 * KB, waiting: 1 });
    first.release();
    await settle();
    expect(growing.isDone).toBe(true);
    expect(memory).toMatchObject({ used: 264 * KB, waiting: 0 });
  });

  it('continues with the oldest response each time, so that all are read (CM3)', async () => {
    const { begin, memory, wanted } = setUp(1000 * KB);
    const answers = Array.from({ length: 4 }, () => begin('same'));
    for (const answer of answers) await answer.grow(180 * KB);
    const growing = answers.map((answer) => wanted(answer.grow(900 * KB)));
    for (const [at, answer] of answers.entries()) {
      await settle();
      expect(growing.map(({ isDone }) => isDone)).toEqual(answers.map((_, other) => other <= at));
      answer.release();
      answer.release();
    }
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });

  it('counts a response until it is released, and lets the next one continue (CM5)', async () => {
    const { begin, memory, wanted } = setUp(1000 * KB);
    const [first, second] = [begin('same'), begin('same')];
    await first.grow(900 * KB);
    const growing = wanted(second.grow(500 * KB));
    await settle();
    expect(growing.isDone).toBe(false);
    first.complete();
    await settle();
    expect(growing.isDone).toBe(true);
    expect(memory).toMatchObject({ used: 1400 * KB, waiting: 0 });
    first.release();
    second.release();
    expect(memory.used).toBe(0);
  });

  it('makes everything wait while results that no run has saved exceed the limit (CM6)', async () => {
    const { begin, memory, wanted } = setUp(1000 * KB);
    const kept = [begin('a'), begin('b')];
    for (const answer of kept) {
      await answer.grow(900 * KB);
      answer.complete();
    }
    const large = begin('c');
    const growing = wanted(large.grow(900 * KB));
    const small = begin('d');
    const growingSmall = wanted(small.grow(KB));
    const result = begin('e');
    expect(result.become(KB)).toBe(false);
    await settle();
    expect([growing.isDone, growingSmall.isDone]).toEqual([false, false]);
    expect(memory).toMatchObject({ used: 1800 * KB, waiting: 2 });
    // A run has saved one of them.
    kept[0]!.release();
    await settle();
    expect([growing.isDone, growingSmall.isDone]).toEqual([true, true]);
    expect(result.become(KB)).toBe(true);
    for (const answer of [...kept, large, small, result]) answer.release();
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });

  it('exceeds the limit by at most one result, however long nothing is saved', async () => {
    const { begin, memory } = setUp(1000 * KB);
    const answers = Array.from({ length: 50 }, (_, at) => begin(`definition ${at}`));
    for (const answer of answers) {
      void answer.grow(400 * KB).then(() => answer.complete());
      await settle();
    }
    expect(memory).toMatchObject({ used: 1200 * KB, waiting: 47 });
    for (const answer of answers) {
      answer.release();
      await settle();
      expect(memory.used).toBeLessThanOrEqual(1200 * KB);
    }
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });

  it('blocks no other call if a waiting one is canceled (CM4)', async () => {
    const { begin, memory, wanted } = setUp(100 * KB);
    const oldest = begin('d');
    await oldest.grow(500 * KB);
    const controller = new AbortController();
    const answer = begin('d', controller.signal);
    const growing = wanted(answer.grow(100 * KB));
    await settle();
    expect(memory.waiting).toBe(1);
    controller.abort();
    await settle();
    expect(growing.error).toContain('canceled');
    await expect(answer.grow(100 * KB)).rejects.toThrow('canceled');
    answer.release();
    oldest.release();
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });
});

describe('each of many calls with large responses', () => {
  const { body, serve } = useCalls();

  it('succeeds, one after the other if they need much memory', async () => {
    // 300 kB that become about 9 MB of objects, as plain text or compressed.
    const text = `[${'{},'.repeat(100_000)}0]`;
    const server = await serve((request, response) => {
      const isZipped = request.url === '/zipped';
      response.setHeader('content-type', 'application/json');
      if (isZipped) response.setHeader('content-encoding', 'gzip');
      response.end(isZipped ? gzipSync(text) : text);
    });
    const memory = new CallMemory(4 * 1024 * KB);
    const worst = { waiting: 0, used: 0 };
    const begin = memory.begin.bind(memory);
    vi.spyOn(memory, 'begin').mockImplementation((...args) => {
      const share = begin(...args);
      return {
        ...share,
        grow: (bytes) => {
          const grown = share.grow(bytes);
          worst.used = Math.max(worst.used, memory.used);
          worst.waiting = Math.max(worst.waiting, memory.waiting);
          return grown;
        },
      };
    });
    const caller = body({ memory });
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        caller.run(
          { BaseUrl: server.url, Resource: at % 2 === 0 ? 'zipped' : 'plain' },
          contextOf({ definitionId: 'large' }),
        ),
      ),
    );
    for (const result of results) {
      expect(valuesOf(result)).toMatchObject({ ResponseCode: 200, IsSuccessful: true });
    }
    expect(worst.waiting).toBeGreaterThan(0);
    // The oldest response is read beyond the limit.
    expect(worst.used).toBeLessThan((4 + 12) * 1024 * KB);
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });
});
