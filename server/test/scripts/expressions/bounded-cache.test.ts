import { describe, expect, it } from 'vitest';
import { BoundedCache } from '../../../src/scripts/expressions/bounded-cache.js';

describe('BoundedCache', () => {
  it('forgets the oldest entries beyond its number of entries', () => {
    const cache = new BoundedCache<number>(2, 100);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('b', 3);
    cache.set('c', 4);
    expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([
      undefined,
      3,
      4,
      2,
    ]);
  });

  it('forgets the oldest entries beyond the length of their keys', () => {
    const cache = new BoundedCache<number>(100, 10);
    cache.set('12345', 1);
    cache.set('67890', 2);
    cache.set('x', 3);
    expect([cache.get('12345'), cache.get('67890'), cache.get('x')]).toEqual([undefined, 2, 3]);
    cache.set('longer than everything', 4);
    expect(cache.size).toBe(0);
  });
});
