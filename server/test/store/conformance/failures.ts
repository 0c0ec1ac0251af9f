/** Contract cases: why instances failed, and counting them by that. */
import { describe, expect, it } from 'vitest';
import {
  FAILURES_COUNTED_MAX,
  FAILURES_SEARCHED_MAX,
  HOUR_MS,
  type FailureCount,
  type FailureFilter,
} from '../../../src/store/records/failures.js';
import type { InstancePosition } from '../../../src/store/records/instance-lists.js';
import type { InstanceFailure, InstanceRecord } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';
import { callsOn } from './instance-calls.js';

const NOW = 100 * HOUR_MS;

function failureOf(key: string, changes: Partial<InstanceFailure> = {}): InstanceFailure {
  return { key, stepId: 'pay', type: 'Timeout', message: 'too late', ...changes };
}

export function describeFailures(test: StoreUnderTest): void {
  const { insert, get } = callsOn(test);
  const fail = (id: string, key: string, errorAt: number, changes: Partial<InstanceRecord> = {}) =>
    insert(id, { failure: failureOf(key), errorAt, status: 'Suspended', ...changes });
  const list = async (failure: string, more: object = {}) => {
    const filter = { failure, ...more };
    const { items } = await test.store.listInstances({ filter, after: null, limit: 50 });
    const { count } = await test.store.countInstances({ filter, after: null, max: 50 });
    expect(count).toBe(items.length);
    return items.map(({ id }) => id);
  };
  const countAll = async (filter: FailureFilter = {}, now = NOW) => {
    const found: FailureCount[] = [];
    let after: InstancePosition | null = null;
    let calls = 0;
    do {
      const part = await test.store.countFailures({ filter, now, after });
      found.push(...part.counts);
      after = part.countedTo;
      calls += 1;
    } while (after !== null);
    const sorted = found.toSorted((left, right) => right.lastAt - left.lastAt);
    return { calls, counts: sorted };
  };

  describe('the failure of an instance', () => {
    const odd = { stepId: 'é\u0000', type: '\u0001', message: '"\ud800😀\\\u0000' };

    it('is kept by inserts and commits until a commit removes it', async () => {
      await fail('i', 'k', 7, { failure: failureOf('k', odd) });
      expect((await get('i')).failure).toEqual({ key: 'k', ...odd });
      await test.store.commitInstance(commitOf(await get('i'), { failure: failureOf('l') }));
      expect((await get('i')).failure).toEqual(failureOf('l'));
      expect(await list('l')).toEqual(['i']);
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await get('i')).toMatchObject({ failure: null, errorAt: null });
      expect(await list('l')).toEqual([]);
    });

    it("remains while the instance is suspended and resumed, and ends when it's terminated", async () => {
      await fail('i', 'k', 7, { status: 'Runnable' });
      for (const action of ['suspend', 'resume', 'compensate'] as const) {
        const result = await test.store.controlInstance('i', action, 8);
        expect(result).toMatchObject({ outcome: 'done', record: { failure: failureOf('k') } });
        expect(await list('k')).toEqual(['i']);
      }
      const result = await test.store.controlInstance('i', 'terminate', 9);
      expect(result).toMatchObject({ outcome: 'done', record: { failure: null, errorAt: 7 } });
      expect((await get('i')).failure).toBeNull();
      expect(await list('k')).toEqual([]);
      expect((await countAll()).counts).toEqual([]);
    });

    it("ends when an ended instance is restarted, and remains if it's open", async () => {
      const restart = { time: 9, actor: 'a', action: 'restart', detail: null } as const;
      await fail('open', 'k', 7);
      await fail('ended', 'k', 8, { status: 'Terminated', outcome: 'Failed', endTime: 8 });
      expect(await list('k')).toEqual(['open', 'ended']);
      for (const id of ['open', 'ended']) await test.store.linkRestart(id, 'new', restart);
      expect(await get('open')).toMatchObject({ failure: failureOf('k'), errorAt: 7 });
      expect(await get('ended')).toMatchObject({ failure: null, errorAt: 8, outcome: 'Failed' });
      expect(await list('k')).toEqual(['open']);
      expect((await countAll()).counts).toMatchObject([{ example: 'open', count: 1 }]);
    });

    it('ends when a start with the same reference terminates the instance', async () => {
      await fail('i', 'k', 7, { reference: 'r' });
      const audit = { time: 9, actor: 'a', action: 'terminate', detail: null } as const;
      const result = await test.store.insertInstance({
        record: instanceOf('j', { reference: 'r' }),
        side: NO_SIDE,
        conflict: { action: 'terminate', audit },
      });
      expect(result).toMatchObject({ terminated: [{ id: 'i', failure: null }] });
      expect(await list('k')).toEqual([]);
    });
  });

  describe('failingSince', () => {
    it('is kept by inserts, commits and control actions, and ends with the error', async () => {
      await fail('i', 'k', 70, { failingSince: 7 });
      await fail('first', 'k', 8);
      expect(await get('i')).toMatchObject({ errorAt: 70, failingSince: 7 });
      expect(await get('first')).toMatchObject({ errorAt: 8, failingSince: null });
      const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 5 });
      expect(items.find(({ id }) => id === 'i')).toMatchObject({ failingSince: 7 });
      const again = { failure: failureOf('k'), errorAt: 80, failingSince: 7 };
      await test.store.commitInstance(commitOf(await get('i'), again));
      expect(await get('i')).toMatchObject(again);
      for (const action of ['suspend', 'resume', 'terminate'] as const) {
        const result = await test.store.controlInstance('i', action, 90);
        expect(result).toMatchObject({ record: { errorAt: 80, failingSince: 7 } });
      }
      const other = { failure: failureOf('l'), errorAt: 90 };
      await test.store.commitInstance(commitOf(await get('first'), { ...other, failingSince: 8 }));
      await test.store.commitInstance(commitOf(await get('first'), other));
      expect(await get('first')).toMatchObject({ errorAt: 90, failingSince: null });
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await get('i')).toMatchObject({ errorAt: null, failingSince: null });
    });
  });

  describe('the failure filter', () => {
    it('finds the instances of a group in the order of the list', async () => {
      await fail('a', 'k', 9, { startTime: 1 });
      await fail('b', 'k', 8, { startTime: 2, status: 'Runnable', version: 2 });
      await fail('c', 'other', 9, { startTime: 3 });
      await fail('d', 'k', 7, { startTime: 4, tags: { team: 'x' }, definitionId: 'e' });
      expect(await list('k')).toEqual(['d', 'b', 'a']);
      expect(await list('k', { startedFrom: 2, startedTo: 4 })).toEqual(['b']);
      expect(await list('k', { status: 'Suspended' })).toEqual(['d', 'a']);
      expect(await list('k', { version: 2 })).toEqual(['b']);
      expect(await list('k', { definitionId: 'e' })).toEqual(['d']);
      expect(await list('k', { failedFrom: 8 })).toEqual(['a', 'b']);
      expect(await list('k', { unchangedSince: 9999, status: 'Suspended' })).toEqual(['a', 'd']);
      const team = { of: 'tag', name: 'team', operator: '=', values: ['x'] } as const;
      expect(await list('k', { where: [team] })).toEqual(['d']);
      expect(await list('K')).toEqual([]);
    });
  });

  describe('countFailures', () => {
    it('counts by key, status and hour', async () => {
      await fail('a', 'k', NOW - 5, { definitionId: 'order' });
      await fail('b', 'k', NOW - 3);
      await fail('c', 'k', NOW - 4, { status: 'Runnable' });
      await fail('d', 'k', NOW - HOUR_MS);
      await fail('e', 'l', NOW - 30 * HOUR_MS, { status: 'Terminated', endTime: 1 });
      await fail('f', 'l', NOW - 40 * HOUR_MS, { status: 'Terminated', endTime: 1 });
      // Ahead of this clock.
      await fail('g', 'm', NOW + 5 * HOUR_MS, { failure: failureOf('m', { message: 'other' }) });
      await insert('compensated', { errorAt: NOW - 1, status: 'Complete', endTime: 1 });
      const definitionId = 'order';
      const k = { definitionId, failure: failureOf('k') };
      expect((await countAll()).counts).toEqual([
        {
          definitionId,
          failure: failureOf('m', { message: 'other' }),
          status: 'Suspended',
          hoursAgo: 0,
          count: 1,
          firstAt: NOW + 5 * HOUR_MS,
          lastAt: NOW + 5 * HOUR_MS,
          example: 'g',
        },
        {
          ...k,
          status: 'Suspended',
          hoursAgo: 0,
          count: 2,
          firstAt: NOW - 5,
          lastAt: NOW - 3,
          example: 'b',
        },
        {
          ...k,
          status: 'Runnable',
          hoursAgo: 0,
          count: 1,
          firstAt: NOW - 4,
          lastAt: NOW - 4,
          example: 'c',
        },
        {
          ...k,
          status: 'Suspended',
          hoursAgo: 1,
          count: 1,
          firstAt: NOW - HOUR_MS,
          lastAt: NOW - HOUR_MS,
          example: 'd',
        },
        {
          definitionId,
          failure: failureOf('l'),
          status: 'Terminated',
          hoursAgo: 24,
          count: 2,
          firstAt: NOW - 40 * HOUR_MS,
          lastAt: NOW - 30 * HOUR_MS,
          example: 'e',
        },
      ]);
    });

    it.each([
      { how: 'as a whole', filter: {} },
      {
        how: 'with conditions',
        filter: { where: [{ of: 'tag', name: 't', operator: '=', values: ['x'] }] },
      },
    ] as const)(
      'reports when the first instance began to fail, counted $how',
      async ({ filter }) => {
        const tags = { t: 'x' };
        await fail('a', 'k', NOW - 4, { failingSince: NOW - 2 * HOUR_MS, tags });
        await fail('b', 'k', NOW - 3, { tags });
        await fail('c', 'l', NOW - 2, { failingSince: NOW - 9, tags });
        await fail('d', 'm', NOW - 1, { tags });
        const { counts } = await countAll(filter);
        expect(
          counts.map(({ count, firstAt, lastAt }) => [count, firstAt - NOW, lastAt - NOW]),
        ).toEqual([
          [1, -1, -1],
          [1, -9, -2],
          [2, -2 * HOUR_MS, -3],
        ]);
        // By the hour of their newest error.
        expect(counts.map(({ hoursAgo }) => hoursAgo)).toEqual([0, 0, 0]);
      },
    );

    it('filters by prefix of the key, status and time of the error', async () => {
      await fail('a', 'aa1', 10);
      await fail('b', 'aa2', 20, { status: 'Runnable' });
      await fail('c', 'ab1', 30);
      const examples = async (filter: FailureFilter) =>
        (await countAll(filter)).counts.map(({ example }) => example);
      expect(await examples({})).toEqual(['c', 'b', 'a']);
      expect(await examples({ keyPrefix: 'aa' })).toEqual(['b', 'a']);
      expect(await examples({ keyPrefix: 'aa', status: 'Suspended' })).toEqual(['a']);
      expect(await examples({ failedFrom: 20 })).toEqual(['c', 'b']);
      expect(await examples({ failedFrom: 10, failedTo: 30 })).toEqual(['b', 'a']);
      expect(await examples({ keyPrefix: 'x' })).toEqual([]);
    });

    it('filters by prefixes of definition ids', async () => {
      for (const definitionId of ['order', 'order-b', 'billing', 'Order']) {
        await fail(definitionId, definitionId, NOW - 1, { definitionId });
      }
      const within = async (...definitionPrefixes: readonly string[]) =>
        (await countAll({ definitionPrefixes })).counts.map(({ example }) => example).toSorted();
      expect(await within()).toEqual([]);
      expect(await within('order')).toEqual(['order', 'order-b']);
      expect(await within('order-', 'b')).toEqual(['billing', 'order-b']);
    });

    it('filters by conditions on tags and index fields', async () => {
      await fail('a', 'k', 10, { tags: { team: 'x' }, index: { amount: 5, names: ['p', 'q'] } });
      await fail('b', 'k', 20, { tags: { team: 'y' }, index: { amount: 50 } });
      await fail('c', 'l', 30, { tags: { team: 'x' }, index: { amount: 500, names: ['q'] } });
      await fail('d', 'l', 40);
      const team = (operator: '=' | '!=') =>
        ({ of: 'tag', name: 'team', operator, values: ['x'] }) as const;
      const amount = { of: 'field', name: 'amount', operator: '<', values: [100] } as const;
      const names = { of: 'field', name: 'names', operator: '=', values: ['q'] } as const;
      const examples = async (filter: FailureFilter) =>
        (await countAll(filter)).counts.map(({ count, example }) => `${example} ${count}`);
      expect(await examples({ where: [team('=')] })).toEqual(['c 1', 'a 1']);
      expect(await examples({ where: [team('!=')] })).toEqual(['b 1']);
      expect(await examples({ where: [amount] })).toEqual(['b 2']);
      expect(await examples({ where: [names, amount] })).toEqual(['a 1']);
      expect(await examples({ where: [names], keyPrefix: 'l' })).toEqual(['c 1']);
      expect(await examples({ where: [names], failedTo: 30 })).toEqual(['a 1']);
      expect(await examples({ where: [names], status: 'Runnable' })).toEqual([]);
      const [group] = (await countAll({ where: [amount] })).counts;
      const expected = { failure: failureOf('k'), firstAt: 10, lastAt: 20, status: 'Suspended' };
      expect(group).toMatchObject(expected);
    });

    it('reads a bounded number of instances at once to check conditions, and counts each once', async () => {
      const total = FAILURES_SEARCHED_MAX + 20;
      const inserts = Array.from({ length: total }, (_, at) =>
        fail(`i${at}`, 'k', Math.floor(at / 100), { tags: { even: String(at % 2 === 0) } }),
      );
      await Promise.all(inserts);
      const even = { of: 'tag', name: 'even', operator: '=', values: ['true'] } as const;
      const { calls, counts } = await countAll({ where: [even] });
      expect(calls).toBe(2);
      expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(total / 2);
    });

    it('counts a bounded number of instances at once, and each once', async () => {
      const total = FAILURES_COUNTED_MAX + 10;
      for (let first = 0; first < total; first += 500) {
        const inserts = Array.from({ length: Math.min(500, total - first) }, (_, at) =>
          // Many have the same time, also where the first call stops.
          fail(`i${first + at}`, 'k', Math.floor((first + at) / 100)),
        );
        await Promise.all(inserts);
      }
      const { calls, counts } = await countAll();
      expect(calls).toBe(2);
      expect(counts.map(({ count }) => count)).toEqual([FAILURES_COUNTED_MAX, 10]);
      expect(counts[1]).toMatchObject({ firstAt: 0 });
    });
  });
}
