/**
 * LL1, LL2: limits are read once, and changes count within a second.
 * Method: a list on a store whose reads are counted and can be held up, with a clock that only the test moves.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { writeLimit } from '../../../src/runtime/limits/limit-codec.js';
import { LimitList } from '../../../src/runtime/limits/limit-list.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import { ManualClock } from '../support/manual-clock.js';

let store: Store;
let clock: ManualClock;
let isShared: boolean;
let reads: number;
let before: () => Promise<void>;
let list: LimitList;

beforeEach(() => {
  store = createMemoryStore();
  clock = new ManualClock();
  isShared = false;
  reads = 0;
  before = () => Promise.resolve();
  list = new LimitList({
    store: {
      listResources: (...of) => store.listResources(...of),
      getResource: async (...of) => {
        reads += 1;
        const found = await store.getResource(...of);
        await before();
        return found;
      },
    },
    clock,
    isShared: () => isShared,
  });
});

/** As another node does: this one isn't told. */
async function set(name: string, concurrency: number): Promise<void> {
  const body = writeLimit({
    description: null,
    concurrency,
    rate: { count: 3, per: '90s', perMs: 90_000, burst: 2 },
    createdBy: 'ada',
    updatedAt: 0,
  });
  const known = await store.getResource('limit', name);
  const revision = (known?.revision ?? 0) + 1;
  const record = { kind: 'limit', name, revision, expiresAt: null, body } as const;
  await store.saveResource(record, known?.revision ?? null);
}

const concurrencyOf = async (name: string) => (await list.get(name))?.concurrency;

describe('LimitList', () => {
  it('gives the limit as it was set, with its period in milliseconds', async () => {
    await set('shop', 5);
    expect(await list.get('shop')).toMatchObject({
      name: 'shop',
      concurrency: 5,
      rate: { count: 3, per: '90s', perMs: 90_000, burst: 2 },
    });
  });

  it('reads a limit once while it is alone, for any number of callers', async () => {
    await set('shop', 5);
    await Promise.all(Array.from({ length: 10 }, () => list.get('shop')));
    clock.advance(3_600_000);
    expect(await concurrencyOf('shop')).toBe(5);
    expect(reads).toBe(1);
  });

  it('reads a limit again after less than a second if other nodes may change it', async () => {
    isShared = true;
    await set('shop', 5);
    await list.get('shop');
    clock.advance(500);
    await list.get('shop');
    expect(reads).toBe(1);
    await set('shop', 6);
    clock.advance(499);
    expect(await concurrencyOf('shop')).toBe(6);
  });

  it('reads a limit again if the clock was set back', async () => {
    isShared = true;
    await set('shop', 5);
    await list.get('shop');
    await set('shop', 6);
    clock.advance(-60_000);
    expect(await concurrencyOf('shop')).toBe(6);
  });

  it('reads a limit again after it was told of a change', async () => {
    await set('shop', 5);
    await list.get('shop');
    await set('shop', 6);
    list.forget('shop');
    expect(await concurrencyOf('shop')).toBe(6);
  });

  it('does not keep what it read before it was told of a change', async () => {
    await set('shop', 5);
    let release = (): void => undefined;
    before = () => new Promise((resolve) => (release = resolve));
    const old = list.get('shop');
    await expect.poll(() => reads).toBe(1);
    await set('shop', 6);
    list.forget('shop');
    before = () => Promise.resolve();
    expect(await concurrencyOf('shop')).toBe(6);
    release();
    await old;
    expect(await concurrencyOf('shop')).toBe(6);
    expect(reads).toBe(2);
  });

  it('finds a limit at once that was just added', async () => {
    expect(await list.get('shop')).toBeNull();
    await set('shop', 5);
    expect(await concurrencyOf('shop')).toBe(5);
  });

  it('reads again after a failed read', async () => {
    await set('shop', 5);
    before = () => Promise.reject(new Error('no store'));
    await expect(list.get('shop')).rejects.toThrow('no store');
    before = () => Promise.resolve();
    expect(await concurrencyOf('shop')).toBe(5);
  });

  it('lists the names of any number of limits', async () => {
    const names = Array.from({ length: 501 }, (_, at) => `l${String(at).padStart(3, '0')}`);
    for (const name of names) await set(name, 1);
    expect(await list.names(1000)).toEqual(names);
    expect(await list.names(10)).toEqual(names.slice(0, 10));
  });
});
