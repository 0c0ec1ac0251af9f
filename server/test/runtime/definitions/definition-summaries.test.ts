import { describe, expect, it } from 'vitest';
import {
  DEFINITIONS_AT_ONCE,
  listSummaries,
} from '../../../src/runtime/definitions/definition-summaries.js';
import type { StoredDefinition } from '../../../src/store/records/definitions.js';

const COUNT = 3 * DEFINITIONS_AT_ONCE;

function storeOf(count: number) {
  const reads: number[] = [];
  const all = Array.from({ length: count }, (_, at): StoredDefinition => {
    const id = `order-${String(at).padStart(3, '0')}`;
    return { id, version: 1, description: null, createdAt: at, disabled: false, body: '{}' };
  });
  const listDefinitions = (after: string | null, limit: number) => {
    const found = all.filter(({ id }) => after === null || id > after).slice(0, limit);
    reads.push(found.length);
    return Promise.resolve(found);
  };
  return { listDefinitions, reads, ids: all.map(({ id }) => id) };
}

describe('the list of definitions', () => {
  it('reads a few definitions at a time, and keeps none of their bodies', async () => {
    const store = storeOf(COUNT);
    const found = await listSummaries(store, { after: null, limit: 500, allowed: 'all' });
    expect(found.map(({ id }) => id)).toEqual(store.ids);
    expect(Math.max(...store.reads)).toBe(DEFINITIONS_AT_ONCE);
    expect(found.some((each) => 'body' in each)).toBe(false);
  });

  it.for(['all', ['order-']] as const)(
    'begins after an id, and ends at the limit: %j',
    async (allowed) => {
      const store = storeOf(COUNT);
      const after = store.ids[4] ?? '';
      const limit = DEFINITIONS_AT_ONCE + 5;
      const found = await listSummaries(store, { after, limit, allowed });
      expect(found.map(({ id }) => id)).toEqual(store.ids.slice(5, 5 + limit));
      expect(store.reads).toHaveLength(2);
    },
  );

  it('leaves out definitions without one of the prefixes', async () => {
    const store = storeOf(COUNT);
    const found = await listSummaries(store, {
      after: null,
      limit: 500,
      allowed: ['order-00', 'x'],
    });
    expect(found.map(({ id }) => id)).toEqual(store.ids.slice(0, 10));
  });
});
