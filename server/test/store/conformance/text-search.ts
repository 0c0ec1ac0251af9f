/** Contract cases: instances found by a text in their id, reference, tags and index fields. */
import { describe, expect, it } from 'vitest';
import type { IndexValue } from '../../../src/engine/values/index-fields.js';
import { SEARCHED_NAMES_MAX } from '../../../src/store/records/text-search.js';
import { containsText } from '../../../src/store/text-search.js';
import type { InstanceFilter } from '../../../src/store/records/instance-lists.js';
import type { InstanceSummary } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { callsOn } from './instance-calls.js';

export function describeTextSearch(test: StoreUnderTest): void {
  const { insert } = callsOn(test);

  const find = async (
    text: string,
    { limit = 50, values = [text] }: { limit?: number; values?: readonly IndexValue[] } = {},
  ): Promise<{ readonly ids: readonly string[]; readonly isComplete: boolean }> => {
    const found = await test.store.findInstancesByText({ text, values, limit });
    return { ids: found.items.map(({ id }) => id), isComplete: found.isComplete };
  };

  describe('a text search', () => {
    it('finds the text in ids, references, tags and index fields, equal ones and the newest first', async () => {
      await insert('4711', { startTime: 1 });
      await insert('b', { startTime: 2, reference: '4711' });
      await insert('c', { startTime: 3, tags: { order: '4711', other: '4711' } });
      await insert('d', { startTime: 4, index: { order: ['x', '4711'] } });
      await insert('e', { startTime: 5, index: { order: 4711 } });
      await insert('4711-f', { startTime: 6 });
      await insert('g', { startTime: 7, reference: '4711/1' });
      await insert('h', { startTime: 8, tags: { order: '47110' } });
      await insert('i', { startTime: 9, index: { order: '4711é' } });
      await insert('j', { startTime: 10, reference: '4712', tags: { order: 'x4711' } });
      await insert('k', { startTime: 11, index: { order: 47_110 } });
      expect(await find('4711', { values: [4711, '4711'] })).toEqual({
        ids: ['e', 'd', 'c', 'b', '4711', 'i', 'h', 'g', '4711-f'],
        isComplete: true,
      });
      const { items } = await test.store.findInstancesByText({
        text: '4711é',
        values: [],
        limit: 5,
      });
      expect(items).toMatchObject([{ id: 'i', startTime: 9, index: { order: '4711é' } }]);
      expect(await find('nobody')).toEqual({ ids: [], isComplete: true });
    });

    it.each(['\u0000', 'a\u0000b', '\u{10ffff}', 'a\u{10ffff}', '\ud7ff', '\u0001', '%', '_', '"'])(
      'accepts odd characters: %j',
      async (text) => {
        await insert('i', { tags: { t: text }, startTime: 1 });
        await insert('j', { index: { f: `${text}more` }, startTime: 2 });
        await insert('k', { index: { f: 'more' }, tags: { t: '' }, startTime: 3 });
        expect(await find(text)).toEqual({ ids: ['i', 'j'], isComplete: true });
      },
    );

    it('returns no more instances than requested, equal ones first', async () => {
      for (let at = 0; at < 6; at += 1) {
        await insert(`start${at}`, { startTime: 10 + at, tags: { t: `x${at}` } });
        await insert(`equal${at}`, { startTime: at, tags: { t: 'x' } });
      }
      const newest = ['equal5', 'equal4', 'equal3', 'equal2'];
      expect(await find('x', { limit: 4 })).toEqual({ ids: newest, isComplete: false });
      const all = await find('x', { limit: 12 });
      expect(all.isComplete).toBe(true);
      expect(all.ids.slice(6)).toEqual([5, 4, 3, 2, 1, 0].map((at) => `start${at}`));
      expect((await find('x', { limit: 11 })).isComplete).toBe(false);
    });

    it('finds a part of an id, a reference, a tag or an index field', async () => {
      const all = async (mayContain: string): Promise<string[]> => {
        const filter = { mayContain };
        const { items } = await test.store.listInstances({ filter, after: null, limit: 50 });
        // A store may add others.
        return items.filter((each) => containsText(each, mayContain)).map(({ id }) => id);
      };
      const long = Array.from({ length: 900 }, (_, at) => `element ${at}`);
      await insert('in-4711-id', { startTime: 1 });
      await insert('b', { startTime: 2, reference: 'in-4711' });
      await insert('c', { startTime: 3, tags: { order: 'x4711', other: 'y' } });
      await insert('d', { startTime: 4, index: { order: ['x', 'y4711z'] } });
      await insert('e', { startTime: 5, index: { order: 1_471_100 } });
      await insert('f', { startTime: 6, index: { order: [...long, 'x4711'] } });
      await insert('g', { startTime: 7, reference: '4712', tags: { 4711: 'a name is no value' } });
      expect(await all('4711')).toEqual(['f', 'e', 'd', 'c', 'b', 'in-4711-id']);
      expect(await all('y4711')).toEqual(['d']);
      expect(await all('nobody')).toEqual([]);
    });

    it('finds a part with odd characters', async () => {
      const odd = [
        '\u0000',
        'a\u0000b',
        '\u0001',
        '%',
        '_',
        '"',
        '\\',
        '$x',
        '.*',
        "'",
        '\n',
        '😀é',
      ];
      for (const [at, text] of odd.entries()) {
        await insert(`r${at}`, { startTime: at, reference: `${text} first ${text}` });
        await insert(`t${at}`, { startTime: at, tags: { t: `in ${text} tag` } });
        await insert(`f${at}`, { startTime: at, index: { f: `in ${text} field` } });
      }
      const list = async (filter: InstanceFilter): Promise<readonly InstanceSummary[]> =>
        (await test.store.listInstances({ filter, after: null, limit: 50 })).items;
      const all = await list({});
      for (const text of odd) {
        const has = (each: InstanceSummary): boolean => containsText(each, text);
        const found = await list({ mayContain: text });
        expect(found.filter(has), text).toEqual(all.filter(has));
        expect(found.filter(has).length).toBeGreaterThanOrEqual(3);
        // What a store adds is little.
        expect(found.length, text).toBeLessThan(all.length / 2);
      }
    });

    it('checks a bounded number of names, and reports that', async () => {
      const name = (at: number): string => `n${String(at).padStart(3, '0')}`;
      const insertNames = async (id: string, from: number, to: number): Promise<void> => {
        const names = Array.from({ length: to - from }, (_, at) => name(from + at));
        await insert(id, { index: Object.fromEntries(names.map((each) => [each, id])) });
      };
      for (let at = 0; at < SEARCHED_NAMES_MAX; at += 10) await insertNames(`i${at}`, at, at + 10);
      await insert('tagged', { tags: { n999: 'tagged' }, startTime: 9 });
      expect((await find('tagged')).ids).toEqual(['tagged']);
      expect(await find('i90')).toEqual({ ids: ['i90'], isComplete: true });
      await insertNames('last', SEARCHED_NAMES_MAX, SEARCHED_NAMES_MAX + 1);
      await insert('other', { index: { [name(SEARCHED_NAMES_MAX)]: 'i90' } });
      expect(await find('i90')).toEqual({ ids: ['i90'], isComplete: false });
    });
  });
}
