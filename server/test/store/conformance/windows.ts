/** Contract cases: windows, which starts with the same definition and key join (rule S16). */
import { describe, expect, it } from 'vitest';
import type { InsertInstance, InstanceRecord } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';

const LONG = 'x'.repeat(20_000);

export function describeWindows(test: StoreUnderTest): void {
  const start = (
    id: string,
    key: string,
    changes: Partial<InstanceRecord> = {},
    rules: Partial<InsertInstance> = {},
  ) =>
    test.store.insertInstance({
      record: instanceOf(id, { debounceKey: key, countsFrom: 5000, ...changes }),
      side: NO_SIDE,
      input: '{"n":1}',
      window: key,
      ...rules,
    });
  const commit = async (id: string, change: Parameters<typeof commitOf>[1]) =>
    test.store.commitInstance(commitOf((await test.store.getInstance(id))!, change));
  const close = (id: string) => commit(id, { window: { isOpen: false, countsFrom: 6000 } });

  describe('an insert with a window', () => {
    it('opens one for each definition and key, which later inserts join', async () => {
      expect(await start('a', 'k')).toMatchObject({ outcome: 'inserted' });
      expect(await start('b', 'k')).toEqual({ outcome: 'window', instanceId: 'a' });
      expect(await start('c', 'l')).toMatchObject({ outcome: 'inserted' });
      expect(await start('d', 'k', { definitionId: 'other' })).toMatchObject({
        outcome: 'inserted',
      });
      expect(await start('e', '')).toMatchObject({ outcome: 'inserted' });
      expect(await start('f', '')).toEqual({ outcome: 'window', instanceId: 'e' });
      expect(await start('a', 'k')).toMatchObject({ outcome: 'exists' });
      expect(await test.store.getInstance('a')).toMatchObject({ debounceKey: 'k' });
      expect(await test.store.getInstance('b')).toBeNull();
    });

    it('opens another one once a commit has closed the one before', async () => {
      await start('a', 'k');
      const moved = { window: { isOpen: true, countsFrom: 5500 } };
      expect(await commit('a', moved)).toBe('committed');
      expect(await test.store.getInstance('a')).toMatchObject({
        debounceKey: 'k',
        countsFrom: 5500,
      });
      expect(await start('b', 'k')).toMatchObject({ outcome: 'window' });
      expect(await close('a')).toBe('committed');
      expect(await test.store.getInstance('a')).toMatchObject({
        debounceKey: null,
        countsFrom: 6000,
      });
      expect(await start('b', 'k')).toMatchObject({ outcome: 'inserted' });
    });

    it('opens another one once the instance has ended, however it ended', async () => {
      await start('a', 'k');
      await test.store.controlInstance('a', 'suspend', 2000);
      expect(await start('b', 'k')).toEqual({ outcome: 'window', instanceId: 'a' });
      await test.store.controlInstance('a', 'terminate', 3000);
      expect(await start('b', 'k')).toMatchObject({ outcome: 'inserted' });
      await commit('b', { status: 'Complete', endTime: 4000, outcome: 'Succeeded' });
      expect(await start('c', 'k')).toMatchObject({ outcome: 'inserted' });
    });

    it('leaves the window open if the commit is lost', async () => {
      await start('a', 'k');
      const record = (await test.store.getInstance('a'))!;
      const window = { isOpen: false, countsFrom: 9, input: '{}' };
      const late = commitOf({ ...record, revision: record.revision - 1 }, { window });
      expect(await test.store.commitInstance(late)).toBe('lost');
      expect(await start('b', 'k')).toEqual({ outcome: 'window', instanceId: 'a' });
      expect(await test.store.getInput('a')).toBe('{"n":1}');
    });

    it('joins the window before it looks at the reference', async () => {
      const conflict = { action: 'refuse' } as const;
      await start('a', 'k', { reference: 'r' }, { conflict });
      const again = { reference: 'r' };
      expect(await start('b', 'k', again, { conflict })).toMatchObject({ outcome: 'window' });
      await close('a');
      expect(await start('b', 'k', again, { conflict })).toMatchObject({ outcome: 'in-use' });
      const terminating = {
        action: 'terminate',
        audit: { time: 7000, actor: 'x', action: 'terminate', detail: null },
      } as const;
      const replaced = await start('b', 'k', again, { conflict: terminating });
      expect(replaced).toMatchObject({ outcome: 'inserted', terminated: [{ id: 'a' }] });
    });

    it('refuses a disabled definition before it looks for a window', async () => {
      await start('a', 'k');
      await test.store.insertDefinition(
        { id: 'order', description: null, body: '{}', createdAt: 1 },
        null,
      );
      await test.store.setDefinitionDisabled('order', true);
      expect(await start('b', 'k')).toEqual({ outcome: 'disabled' });
    });

    it('opens one window for 30 simultaneous inserts', async () => {
      const stores = [test.store, await test.open()] as const;
      const ids = Array.from({ length: 30 }, (_, n) => `i${n}`);
      const results = await Promise.all(
        ids.map((id, n) =>
          stores[n % 2]!.insertInstance({
            record: instanceOf(id, { debounceKey: 'k', reference: `r${n % 5}` }),
            side: NO_SIDE,
            window: 'k',
            ...(n % 3 === 0 && { conflict: { action: 'refuse' as const } }),
          }),
        ),
      );
      const inserted = ids.filter((_, n) => results[n]!.outcome === 'inserted');
      expect(inserted).toHaveLength(1);
      const joined = results.filter(({ outcome }) => outcome === 'window');
      expect(joined).toHaveLength(29);
      expect(joined[0]).toEqual({ outcome: 'window', instanceId: inserted[0] });
    });
  });

  describe('an insert with a window and a request hash', () => {
    const keyed = { requestHash: 'hash' };

    it('is known as joined when it is repeated, with the instance as it is then', async () => {
      await start('a', 'k');
      expect(await start('b', 'k', keyed)).toMatchObject({ outcome: 'window' });
      await close('a');
      const record = await test.store.getInstance('a');
      expect(await start('b', 'k', keyed)).toEqual({
        outcome: 'joined-before',
        requestHash: 'hash',
        record,
        byWindow: true,
      });
      expect(await start('b', 'k', { requestHash: 'other' })).toMatchObject({
        outcome: 'joined-before',
        requestHash: 'hash',
      });
    });

    it('is unknown again once it is forgotten, but only for that instance', async () => {
      await start('a', 'k');
      await start('b', 'k', keyed);
      await close('a');
      await test.store.forgetJoinedStart('b', 'other');
      expect(await start('b', 'k', keyed)).toMatchObject({ outcome: 'joined-before' });
      await test.store.forgetJoinedStart('b', 'a');
      await test.store.forgetJoinedStart('b', 'a');
      expect(await start('b', 'k', keyed)).toMatchObject({ outcome: 'inserted' });
      expect(await start('b', 'k', keyed)).toMatchObject({ outcome: 'exists' });
    });

    it('takes effect once if it is repeated at the same time', async () => {
      const stores = [test.store, await test.open()] as const;
      const repeated = Array.from({ length: 12 }, (_, n) =>
        stores[n % 2]!.insertInstance({
          record: instanceOf('b', { debounceKey: 'k', ...keyed }),
          side: NO_SIDE,
          window: 'k',
        }),
      );
      const outcomes = (await Promise.all(repeated)).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(11);
    });
  });

  describe('a commit with a window', () => {
    it.each([
      ['short', '{"n":2}'],
      ['long', `{"n":"${LONG}"}`],
    ])('replaces the input by a %s one, from short and from long', async (_, next) => {
      for (const first of ['{"n":1}', `{"m":"${LONG}"}`]) {
        const id = `i${first.length}`;
        await start(id, id, {}, { input: first });
        expect(await test.store.getInput(id)).toBe(first);
        const window = { isOpen: true, countsFrom: 7000 };
        await commit(id, { window });
        expect(await test.store.getInput(id)).toBe(first);
        await commit(id, { window: { isOpen: false, countsFrom: 7000, input: next } });
        expect(await test.store.getInput(id)).toBe(next);
      }
    });

    it('changes only its own instance', async () => {
      await start('a', 'k');
      await start('b', 'l');
      const commits = await Promise.all([
        close('a'),
        commit('b', { window: { isOpen: true, countsFrom: 5001 } }),
      ]);
      expect(commits).toEqual(['committed', 'committed']);
      expect(await test.store.getInstance('a')).toMatchObject({ debounceKey: null });
      expect(await test.store.getInstance('b')).toMatchObject({
        debounceKey: 'l',
        countsFrom: 5001,
      });
    });
  });
}
