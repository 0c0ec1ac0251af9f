/** Contract cases: tags and index fields, and the lists and counts that they select. */
import { describe, expect, it } from 'vitest';
import type { IndexFields, IndexValue } from '../../../src/engine/values/index-fields.js';
import { AUDIT_ENTRIES_MAX } from '../../../src/store/records/control.js';
import type { IndexCondition, IndexOperator } from '../../../src/store/records/index-conditions.js';
import type {
  InstanceFilter,
  InstanceList,
  InstancePosition,
} from '../../../src/store/records/instance-lists.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf } from '../records.js';
import { callsOn } from './instance-calls.js';

/** `field` or `tag.name`. */
function condition(
  name: string,
  operator: IndexOperator,
  ...values: readonly IndexValue[]
): IndexCondition {
  const isTag = name.startsWith('tag.');
  return { of: isTag ? 'tag' : 'field', name: isTag ? name.slice(4) : name, operator, values };
}

const ACTOR = { time: 5, actor: 'ada', action: 'set-tags', detail: 'why' } as const;

export function describeInstanceSearch(test: StoreUnderTest): void {
  const { insert, get } = callsOn(test);

  const search = async (
    filter: InstanceFilter,
    after: InstancePosition | null = null,
    limit = 50,
  ): Promise<readonly string[]> => {
    const { items, searchedTo } = await test.store.listInstances({ filter, after, limit });
    expect(searchedTo).toBeNull();
    return items.map(({ id }) => id);
  };
  const where = (...conditions: readonly IndexCondition[]) => search({ where: conditions });
  const count = async (filter: InstanceFilter, max = 100): Promise<number> =>
    (await test.store.countInstances({ filter, after: null, max })).count;

  describe('tags and index fields', () => {
    it('stores tags and index fields with any names and values', async () => {
      const tags = { team: 'billing', __proto__x: '', 'a.b $c': 'é\u{1f600}' };
      const index: IndexFields = {
        customer: 'C-17',
        amounts: [1, 0.5, -3, true, 'x'],
        long: 2n ** 64n + 1n,
        float: 1e21,
      };
      await insert('i', { tags, index });
      expect(await get('i')).toMatchObject({ tags, index });
      const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 5 });
      expect(items[0]).toMatchObject({ tags, index });
    });

    it('finds an instance by each of a thousand elements, also after a change', async () => {
      const numbers = Array.from({ length: 1000 }, (_, at) => at);
      await insert('i', { index: { n: numbers } });
      const foundBy = (elements: readonly number[]) =>
        Promise.all(elements.map(async (n) => (await where(condition('n', '=', n))).length));
      expect(await foundBy([0, 511, 512, 999, 1000])).toEqual([1, 1, 1, 1, 0]);
      expect(await where(condition('n', '>', 998))).toEqual(['i']);
      const change = { before: { n: numbers }, after: { n: numbers.map((n) => n + 500) } };
      const done = commitOf(await get('i'), { indexChange: change });
      expect(await test.store.commitInstance(done)).toBe('committed');
      expect(await foundBy([499, 500, 1499])).toEqual([0, 1, 1]);
    });

    it('changes index fields together with the commit, or not at all', async () => {
      await insert('i', { index: { a: 1, b: 'x' } });
      const change = { before: { a: 1, b: 'x' }, after: { a: 2, c: ['y', 'z'] } };
      const lost = commitOf({ ...(await get('i')), revision: 9 }, { indexChange: change });
      expect(await test.store.commitInstance(lost)).toBe('lost');
      expect(await where(condition('a', '=', 1))).toEqual(['i']);
      expect(await where(condition('a', '=', 2))).toEqual([]);
      const done = commitOf(await get('i'), { indexChange: change });
      expect(await test.store.commitInstance(done)).toBe('committed');
      expect(await get('i')).toMatchObject({ index: change.after });
      expect(await where(condition('a', '=', 1))).toEqual([]);
      expect(await where(condition('b', '=', 'x'))).toEqual([]);
      for (const value of ['y', 'z'])
        expect(await where(condition('c', '=', value))).toEqual(['i']);
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await where(condition('a', '=', 2))).toEqual(['i']);
    });

    it('merges and records tags, and makes the owner read the instance again', async () => {
      await insert('i', { tags: { a: '1', b: '2' }, status: 'Complete', endTime: 9 });
      const before = await get('i');
      const changes = { a: null, b: '3', c: '4' };
      const result = await test.store.patchTags('i', changes, ACTOR);
      expect(result).toMatchObject({ outcome: 'done', record: { tags: { b: '3', c: '4' } } });
      const record = await get('i');
      expect(record).toEqual({ ...before, tags: { b: '3', c: '4' }, inSeq: before.inSeq + 1 });
      expect(await test.store.listAudit('i')).toEqual([ACTOR]);
      expect(await where(condition('tag.a', '=', '1'))).toEqual([]);
      expect(await where(condition('tag.b', '=', '2'))).toEqual([]);
      expect(await where(condition('tag.c', '=', '4'))).toEqual(['i']);
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      await test.store.patchTags('i', { b: null, c: null }, ACTOR);
      expect(await get('i')).toMatchObject({ tags: {} });
      expect(await where(condition('tag.c', '=', '4'))).toEqual([]);
      expect(await test.store.patchTags('nobody', {}, ACTOR)).toEqual({ outcome: 'missing' });
    });

    it('refuses one tag too many', async () => {
      const tags = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`t${at}`, 'x']));
      await insert('i', { tags });
      const refused = await test.store.patchTags('i', { more: 'x' }, ACTOR);
      expect(refused).toMatchObject({ outcome: 'too-many', record: { inSeq: 0 } });
      expect(await test.store.listAudit('i')).toEqual([]);
      expect(await test.store.patchTags('i', { more: 'x', t0: null }, ACTOR)).toMatchObject({
        outcome: 'done',
      });
    });

    it('keeps the tags of all concurrent writers', async () => {
      await insert('i');
      const names = Array.from({ length: 8 }, (_, at) => `t${at}`);
      await Promise.all(names.map((name) => test.store.patchTags('i', { [name]: name }, ACTOR)));
      const { inSeq, tags } = await get('i');
      expect({ inSeq, names: Object.keys(tags).sort() }).toEqual({ inSeq: 8, names });
      expect((await test.store.listAudit('i'))?.length).toBeLessThanOrEqual(AUDIT_ENTRIES_MAX);
    });

    it('replaces index fields between two commits, unless the instance has changed', async () => {
      await insert('i', { index: { a: 1 } });
      const record = await get('i');
      const change = { before: { a: 1 }, after: { b: 2 } };
      const outdated = [
        { ...record, inSeq: 7 },
        { ...record, revision: 7 },
        { ...record, id: 'nobody' },
      ];
      for (const each of outdated) expect(await test.store.replaceIndex(each, change)).toBe(false);
      expect(await where(condition('a', '=', 1))).toEqual(['i']);
      expect(await test.store.replaceIndex(record, change)).toBe(true);
      expect(await get('i')).toEqual({ ...record, index: { b: 2 }, inSeq: record.inSeq + 1 });
      expect(await where(condition('a', '=', 1))).toEqual([]);
      expect(await where(condition('b', '=', 2))).toEqual(['i']);
    });

    it('removes the tags and index fields of a purged instance', async () => {
      const ended = { status: 'Complete', endTime: 5, outcome: 'Succeeded' } as const;
      await insert('i', { ...ended, tags: { a: 'b' }, index: { c: 'd' } });
      await test.store.purge({
        instancesEndedBefore: 9,
        untoldEndedBefore: 9,
        eventsPublishedBefore: 0,
        activitiesDoneBefore: 0,
        limit: 5,
      });
      expect(await where(condition('tag.a', '=', 'b'))).toEqual([]);
      await insert('i', { startTime: 1000 });
      expect(await where(condition('c', '=', 'd'))).toEqual([]);
      expect(await count({ where: [condition('tag.a', '=', 'b')] })).toBe(0);
    });
  });

  describe('search conditions', () => {
    it('compares numbers with numbers and text with text, each in its own order', async () => {
      const values: readonly IndexValue[] = [
        -(2n ** 70n),
        -7.5,
        -7,
        0,
        5e-324,
        0.1,
        7,
        9,
        10,
        2 ** 53 - 1,
        2n ** 53n,
        2n ** 53n + 1n,
        1e300,
      ];
      for (const [at, value] of values.entries()) {
        await insert(`n${String(at).padStart(2, '0')}`, {
          startTime: 100 - at,
          index: { v: value },
        });
      }
      const texts = ['', '10', '9', 'A', 'a', 'ab', 'b', '\uffff', '\u{1f600}'];
      for (const [at, value] of texts.entries()) {
        await insert(`t${at}`, { startTime: 50 - at, index: { v: value } });
      }
      const ids = [...values.map((_, at) => `n${String(at).padStart(2, '0')}`)];
      for (const [at, value] of values.entries()) {
        expect(await where(condition('v', '=', value))).toEqual([ids[at]]);
        expect(await where(condition('v', '<', value))).toEqual(ids.slice(0, at));
        expect(await where(condition('v', '<=', value))).toEqual(ids.slice(0, at + 1));
        expect(await where(condition('v', '>', value))).toEqual(ids.slice(at + 1));
        expect(await where(condition('v', '>=', value))).toEqual(ids.slice(at));
      }
      for (const [at, value] of texts.entries()) {
        const all = texts.map((_, each) => `t${each}`);
        expect(await where(condition('v', '<', value))).toEqual(all.slice(0, at));
        expect(await where(condition('v', '>=', value))).toEqual(all.slice(at));
      }
      expect(await where(condition('v', '^=', 'a'))).toEqual(['t4', 't5']);
      expect(await where(condition('v', '^=', ''))).toHaveLength(texts.length);
      expect(await where(condition('v', '=', 10, '10'))).toEqual(['n08', 't1']);
      expect(await where(condition('v', '=', 10), condition('v', '=', '10'))).toEqual([]);
    });

    it('matches any element of a list, and != only if the field exists and no element is equal', async () => {
      await insert('a', { startTime: 3, index: { v: ['x', 5, true] } });
      await insert('b', { startTime: 2, index: { v: 'y' } });
      await insert('c', { startTime: 1, index: { w: 'x' }, tags: { v: 'x' } });
      expect(await where(condition('v', '=', 'x'))).toEqual(['a']);
      expect(await where(condition('v', '=', true, 'true'))).toEqual(['a']);
      expect(await where(condition('v', '>', 4))).toEqual(['a']);
      // No single element is in between.
      expect(await where(condition('v', '>', 6))).toEqual([]);
      expect(await where(condition('v', '!=', 'x'))).toEqual(['b']);
      expect(await where(condition('v', '!=', 'z'))).toEqual(['a', 'b']);
      expect(await where(condition('tag.v', '=', 'x'))).toEqual(['c']);
      expect(await where(condition('tag.v', '!=', 'y'))).toEqual(['c']);
      await insert('d', { startTime: 0, index: { f: 1e23 } });
      // Equal, whichever path leads there.
      const integer = condition('f', '=', 10n ** 23n);
      expect(await where(integer)).toEqual(['d']);
      expect(await where(condition('f', '!=', 0), integer)).toEqual(['d']);
      expect(await where(condition('unknown', '!=', 'x'))).toEqual([]);
    });

    it('combines conditions with each other and with all other filters, in any order', async () => {
      const index = { customer: 'C-17', amount: 50 };
      await insert('a', {
        startTime: 1,
        index,
        tags: { team: 'x' },
        reference: 'r',
        lastChangeAt: 30,
      });
      await insert('b', { startTime: 2, index, status: 'Suspended', errorAt: 7, lastChangeAt: 20 });
      await insert('c', {
        startTime: 3,
        index,
        definitionId: 'other',
        version: 2,
        status: 'Complete',
        endTime: 40,
        outcome: 'Succeeded',
        errorAt: 9,
      });
      await insert('d', { startTime: 4, index: { customer: 'C-18', amount: 60 }, errorAt: 8 });
      const customer = condition('customer', '=', 'C-17');
      const by = (filter: InstanceFilter) => search({ ...filter, where: [customer] });
      expect(await by({})).toEqual(['c', 'b', 'a']);
      expect(await by({ status: 'Suspended' })).toEqual(['b']);
      expect(await by({ definitionId: 'order' })).toEqual(['b', 'a']);
      expect(await by({ version: 2 })).toEqual(['c']);
      expect(await by({ reference: 'r' })).toEqual(['a']);
      expect(await by({ outcome: 'Succeeded' })).toEqual(['c']);
      expect(await by({ parentId: null, startedFrom: 2, startedTo: 3 })).toEqual(['b']);
      expect(await by({ endedFrom: 40 })).toEqual(['c']);
      expect(await by({ endedTo: 40 })).toEqual([]);
      expect(await by({ failedFrom: 0 })).toEqual(['c', 'b']);
      expect(await by({ unchangedSince: 31 })).toEqual(['b', 'a']);
      expect(await where(customer, condition('tag.team', '=', 'x'))).toEqual(['a']);
      expect(await where(condition('amount', '>', 55), condition('customer', '^=', 'C-1'))).toEqual(
        ['d'],
      );
      expect(await search({ where: [customer] }, { time: 3, id: 'c' }, 1)).toEqual(['b']);
      expect(await search({ where: [customer], failedFrom: 0 }, { time: 9, id: 'c' })).toEqual([
        'b',
      ]);
      expect(await count({ where: [customer] })).toBe(3);
      expect(await count({ where: [customer], status: 'Runnable' })).toBe(1);
      expect(await count({ where: [customer, condition('amount', '<', 51)] }, 2)).toBe(2);
      expect(await count({})).toBe(4);
      expect(await count({ definitionId: 'order', version: 1 })).toBe(3);
    });

    it('finds each instance once, however many start while the list is read', async () => {
      const index = { all: 1 };
      const old = Array.from({ length: 240 }, (_, n) => `i${String(n).padStart(3, '0')}`);
      for (const [n, id] of old.entries()) {
        const few = n % 10 === 0 ? { few: true } : {};
        await insert(id, { startTime: 1000 + n, index: { ...index, ...few } });
      }
      const filter = { where: [condition('all', '=', 1), condition('few', '!=', false)] };
      const other = await test.open();
      const reading = { isDone: false };
      const starting = (async () => {
        for (let n = 0; !reading.isDone && n < 400; n += 1)
          await insert(`new${n}`, { startTime: 5000 + n, index });
      })();
      for (let round = 0; round < 5; round += 1) {
        const found: string[] = [];
        let after: InstancePosition | null = null;
        do {
          const page: InstanceList = await other.listInstances({ filter, after, limit: 7 });
          found.push(...page.items.map(({ id }) => id));
          const last = page.items.at(-1);
          const isFull = page.items.length === 7 && last !== undefined;
          after = isFull ? { time: last.startTime, id: last.id } : page.searchedTo;
        } while (after !== null);
        expect(found).toEqual(old.filter((_, n) => n % 10 === 0).reverse());
      }
      reading.isDone = true;
      await starting;
    });

    it('filters by end time, including the first and excluding the last bound', async () => {
      const ended = { status: 'Complete', outcome: 'Succeeded' } as const;
      for (const [at, endTime] of [10, 20, 30].entries()) {
        await insert(`e${at}`, { ...ended, startTime: at, endTime });
      }
      await insert('open', { startTime: 0 });
      expect(await search({ endedFrom: 20 })).toEqual(['e2', 'e1']);
      expect(await search({ endedTo: 20 })).toEqual(['e0']);
      expect(await search({ endedFrom: 10, endedTo: 30 })).toEqual(['e1', 'e0']);
      expect(await search({ endedFrom: 0 }, { time: 2, id: 'e2' }, 1)).toEqual(['e1']);
      expect(await count({ endedFrom: 11 })).toBe(2);
    });
  });
}
