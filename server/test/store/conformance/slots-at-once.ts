/** Contract cases: commits and inserts that change slots of one key at the same moment (rule S15). */
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';
import { NO_CHANGES, need, on, requestOf, slotCasesOf } from '../support/slot-cases.js';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

export function describeSlotsAtOnce(test: StoreUnderTest): void {
  const { change, grant, held, limit, start, take } = slotCasesOf(test);
  const startAll = async (...ids: readonly string[]) => {
    for (const id of ids) await start(id);
  };
  const outcomeOf = (result: string | { readonly outcome: string }): string =>
    typeof result === 'string' ? result : result.outcome;

  describe('a group of commits', () => {
    it('takes as many slots as there are, and changes nothing else', async () => {
      await limit('db', { concurrency: 2 });
      await startAll(...IDS);
      const results = await Promise.all(IDS.map((id) => take(`${id}/1`, need('db'))));
      const outcomes = results.map(outcomeOf);
      expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(2);
      expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(4);
      expect(await held('db')).toBe(2);
      const records = await Promise.all(IDS.map((id) => test.store.getInstance(id)));
      expect(records.map((record) => record!.revision)).toEqual(
        outcomes.map((outcome) => (outcome === 'committed' ? 2 : 1)),
      );
    });

    it('frees and waits beside those that are lost or refused', async () => {
      await limit('db', { concurrency: 1 });
      await limit('api', { concurrency: 1 });
      await startAll(...IDS);
      await take('a/1', need('db'));
      await take('e/1', need('api'));
      const lost = (await test.store.getInstance('d'))!;
      const request = (execution: string) => requestOf(execution, need('db'));
      const [freed, waited, both, stale, refused, added] = await Promise.all([
        change('a', { free: [request('a/1')] }),
        change('b', { wait: [{ ...request('b/1'), since: 100, on: on('db') }] }),
        change('c', { take: [requestOf('c/1', need('api')), requestOf('c/2', need('db'))] }),
        test.store.commitInstance(
          commitOf({ ...lost, epoch: 9 }, { slots: { ...NO_CHANGES, free: [request('e/1')] } }),
        ),
        take('e/2', need('api')),
        change(
          'f',
          {},
          {
            side: {
              ...NO_SIDE,
              activities: [
                activityOf('f/1', 'f', { needs: [need('api')], claim: claimBy('w', 9000) }),
              ],
            },
          },
        ),
      ]);
      expect([freed, waited].map(outcomeOf)).toEqual(['committed', 'committed']);
      expect([both, refused, added].map(outcomeOf)).toEqual(['refused', 'refused', 'refused']);
      expect(stale).toBe('lost');
      expect([await held('db'), await held('api')]).toEqual([0, 1]);
      expect(await test.store.getActivities(['f/1'])).toEqual([]);
      expect((await grant('db')).begin.map(({ execution }) => execution)).toEqual(['b/1']);
    });
  });

  describe('a group of inserts', () => {
    it('takes as many slots as there are, and inserts nothing else', async () => {
      await limit('db', { concurrency: 2 });
      const results = await Promise.all(
        IDS.map((id) =>
          test.store.insertInstance({
            record: instanceOf(id),
            side: NO_SIDE,
            slots: { ...NO_CHANGES, take: [requestOf(`${id}/1`, need('db'))] },
          }),
        ),
      );
      const inserted = IDS.filter((_, at) => results[at]?.outcome === 'inserted');
      expect(inserted).toHaveLength(2);
      expect(await held('db')).toBe(2);
      const found = await Promise.all(IDS.map((id) => test.store.getInstance(id)));
      expect(found.flatMap((record) => record?.id ?? [])).toEqual(inserted);
    });
  });
}
