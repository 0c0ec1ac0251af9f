/** The memory budget: the cost of a text, the shares of a pool, and which instances are in memory. */
import { describe, expect, it } from 'vitest';
import { InstanceMemory } from '../../src/runtime/memory/instance-memory.js';
import { FollowedCost, memoryCost } from '../../src/engine/values/memory-cost.js';
import { MemoryPool } from '../../src/runtime/memory/memory-pool.js';

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const KB = 1024;

describe('the memory cost of a JSON text', () => {
  const repeated = (piece: string): string => `[${`${piece},`.repeat(100_000 / piece.length)}0]`;

  it.each(['{}', '[]', '[0]', '0', '0.5', '""', '{"a":0}', '{"id":1,"name":"x","open":true}'])(
    'is at least the size that V8 uses for a list of %s',
    (piece) => {
      const text = repeated(piece);
      const copies: unknown[] = [];
      const before = process.memoryUsage().heapUsed;
      for (let copy = 0; copy < 20; copy += 1) copies.push(JSON.parse(text));
      // Only earlier objects can be garbage-collected here, which makes the difference smaller.
      const taken = (process.memoryUsage().heapUsed - before) / copies.length;
      expect(memoryCost(text)).toBeGreaterThan(taken * 0.9);
    },
  );

  it('is about the text itself if it is a single string', () => {
    expect(memoryCost(JSON.stringify('x'.repeat(100_000)))).toBeLessThan(210_000);
  });

  it('is updated when the length changes', () => {
    const cost = new FollowedCost();
    cost.follow(repeated('{}'));
    expect(cost.value).toBe(memoryCost(repeated('{}')));
    cost.follow('{}');
    expect(cost.value).toBe(memoryCost('{}'));
  });
});

describe('a memory pool', () => {
  it('admits fitting entries in order, and a single entry of any size', async () => {
    const pool = new MemoryPool(100);
    const large = pool.tryTake(500);
    expect(large).not.toBeNull();
    expect(pool.tryTake(1)).toBeNull();
    const order: string[] = [];
    const enter = async (name: string, bytes: number) => {
      const share = await pool.enter(bytes);
      order.push(share === null ? `${name} closed` : name);
      return share;
    };
    const waiting = [enter('a', 60), enter('b', 60), enter('c', 1)];
    await settle();
    expect(order).toEqual([]);
    large?.release();
    large?.release();
    await settle();
    // `c` would fit, but `b` came first.
    expect(order).toEqual(['a']);
    expect(pool.used).toBe(60);
    (await waiting[0])?.resize(10);
    await settle();
    expect(order).toEqual(['a', 'b', 'c']);
    const late = enter('d', 100);
    pool.close();
    await late;
    expect(order).toEqual(['a', 'b', 'c', 'd closed']);
  });
});

describe('the memory budget of instances', () => {
  const comer = (id: string, bytes: number, rootId: string | null = null) => ({
    id,
    bytes,
    rootId,
  });

  function memoryOf(
    bytesMax: number,
    countMax = 1000,
  ): { memory: InstanceMemory; evicted: string[] } {
    const evicted: string[] = [];
    const memory = new InstanceMemory({
      bytesMax,
      parkedMax: countMax,
      concurrencyMax: 1,
      evict: (id) => {
        evicted.push(id);
        memory.forget(id);
      },
    });
    return { memory, evicted };
  }

  it('evicts parked instances, least recently used first, and only as many as needed', () => {
    const { evicted, memory } = memoryOf(2048 * KB);
    for (const id of ['a', 'b', 'c', 'd']) expect(memory.tryEnter(comer(id, 200 * KB))).toBe(true);
    for (const id of ['b', 'c', 'd']) memory.parked(id);
    expect(memory.tryEnter(comer('e', 350 * KB))).toBe(true);
    expect(evicted).toEqual(['b']);
    // A working instance stays.
    expect(memory.tryEnter(comer('f', 900 * KB))).toBe(false);
    expect(evicted).toEqual(['b', 'c', 'd']);
  });

  it('accounts for small and large instances separately', () => {
    const { memory } = memoryOf(2048 * KB);
    expect(memory.tryEnter(comer('large', 1024 * KB))).toBe(true);
    expect(memory.tryEnter(comer('another', 100 * KB))).toBe(false);
    expect(memory.tryEnter(comer('small', KB))).toBe(true);
    // The instance has become large.
    memory.set('small', 100 * KB);
    memory.forget('large');
    expect(memory.used).toBeLessThan(110 * KB);
    memory.forget('small');
    expect(memory.used).toBe(0);
  });

  it('lets an instance that needs more leave, and reserves all of it for its return', async () => {
    const { memory } = memoryOf(2048 * KB);
    memory.tryEnter(comer('busy', 900 * KB));
    memory.tryEnter(comer('waits', KB));
    expect(memory.mayGrow('waits', 500 * KB)).toBe(false);
    memory.forget('waits');
    // It is still small, but returns for more.
    expect(memory.tryEnter(comer('waits', KB))).toBe(false);
    const entering = memory.enter(comer('waits', KB));
    await settle();
    expect(memory.waiting).toBe(1);
    memory.forget('busy');
    expect(await entering).toBe(true);
    memory.seat(comer('waits', KB));
    expect(memory.used).toBeGreaterThan(500 * KB);
    expect(memory.mayGrow('waits', 500 * KB)).toBe(true);
    memory.set('waits', KB);
    expect(memory.used).toBeLessThan(10 * KB);
  });

  it('evicts parked instances if there are too many, and lets others wait', async () => {
    const { evicted, memory } = memoryOf(2048 * KB, 2);
    for (const id of ['a', 'b']) expect(memory.tryEnter(comer(id, KB, 'root'))).toBe(true);
    expect(memory.tryEnter(comer('c', KB, 'root'))).toBe(false);
    memory.parked('a');
    expect(memory.tryEnter(comer('c', KB, 'root'))).toBe(true);
    expect(evicted).toEqual(['a']);
    const entering = [memory.enter(comer('d', KB, 'root')), memory.enter(comer('e', KB, 'root'))];
    await settle();
    expect(memory.waiting).toBe(2);
    memory.parked('b');
    expect(await entering[0]).toBe(true);
    memory.forget('c');
    expect(await entering[1]).toBe(true);
    expect(evicted).toEqual(['a', 'b']);
    for (const id of ['d', 'e']) memory.notComing(id);
    expect(memory).toMatchObject({ used: 0, waiting: 0, hasFreePlace: true });
  });

  it('applies the limit on instances only to roots with many', async () => {
    const { evicted, memory } = memoryOf(2048 * KB, 100);
    for (let n = 0; n < 100; n += 1) memory.tryEnter(comer(`bomb ${n}`, 100, 'bomb'));
    const waiting = memory.enter(comer('one more', 100, 'bomb'));
    for (let n = 0; n < 64; n += 1) {
      expect(memory.tryEnter(comer(`other ${n}`, 100, 'other'))).toBe(true);
    }
    expect(memory.tryEnter(comer('65 others', 100, 'other'))).toBe(false);
    expect(memory.tryEnter(comer('of a client', 100))).toBe(true);
    // Instances admitted beyond the limit leave first.
    for (let n = 0; n < 64; n += 1) memory.parked(`other ${n}`);
    await settle();
    expect(memory.waiting).toBe(1);
    memory.forget('of a client');
    memory.parked('bomb 0');
    expect(await waiting).toBe(true);
    expect(evicted).toHaveLength(65);
  });

  it('frees the slot of an instance that does not fit in memory', () => {
    const { memory } = memoryOf(2048 * KB, 1);
    memory.tryEnter(comer('busy', 1024 * KB));
    expect(memory.tryEnter(comer('large', 1024 * KB, 'root'))).toBe(false);
    memory.forget('busy');
    expect(memory.tryEnter(comer('small', KB, 'root'))).toBe(true);
  });

  it('leaves no caller waiting when the node stops', async () => {
    const { memory } = memoryOf(2048 * KB);
    memory.tryEnter(comer('busy', 1024 * KB));
    const entering = memory.enter(comer('waits', 1024 * KB));
    memory.stop();
    expect(await entering).toBe(false);
    expect(await memory.enter(comer('late', 1024 * KB))).toBe(false);
    expect(memory.mayGrow('busy', 10_000 * KB)).toBe(true);
  });
});
