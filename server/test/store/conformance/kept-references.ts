/** Contract cases: starts that count every instance which is kept with their reference, ended ones too (rule S10). */
import { describe, expect, it } from 'vitest';
import { removalRevision } from '../../../src/store/records/housekeeping.js';
import type { ConflictRule, InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { instanceOf, NO_SIDE } from '../records.js';

const CALLERS = 100;
const REFUSE: ConflictRule = { action: 'refuse', scope: 'kept' };
const JOIN: ConflictRule = { action: 'join', scope: 'kept' };
const RULES = [
  ['refuse', REFUSE, 'in-use'],
  ['join', JOIN, 'joined'],
] as const;
const ENDED = { status: 'Complete', endTime: 1500, outcome: 'Succeeded' } as const;

function start(
  store: Store,
  id: string,
  conflict: ConflictRule | null = null,
  changes: Partial<InstanceRecord> = {},
) {
  const record = instanceOf(id, { reference: 'r', ...changes });
  return store.insertInstance({ record, side: NO_SIDE, ...(conflict !== null && { conflict }) });
}

function purgeOf(instancesEndedBefore: number) {
  return {
    instancesEndedBefore,
    untoldEndedBefore: instancesEndedBefore,
    eventsPublishedBefore: 0,
    activitiesDoneBefore: 0,
    limit: 100,
  };
}

export function describeKeptReferences(test: StoreUnderTest): void {
  describe('an insert that counts kept instances', () => {
    it.each(RULES)('returns the newest, open or ended, for %s', async (_name, rule, outcome) => {
      await start(test.store, 'open', null, { startTime: 1000 });
      await start(test.store, 'ended', null, { ...ENDED, startTime: 1200 });
      await start(test.store, 'elsewhere', null, { definitionId: 'other', startTime: 3000 });
      await start(test.store, 'another', null, { reference: 's', startTime: 3000 });
      const refused = await start(test.store, 'new', rule, { startTime: 4000 });
      expect(refused).toMatchObject({ outcome, record: { id: 'ended', ...ENDED } });
      const ofOpen = { action: rule.action } as ConflictRule;
      expect(await start(test.store, 'new', ofOpen)).toMatchObject({ record: { id: 'open' } });
      expect(await test.store.getInstance('new')).toBeNull();
      const terminated = await test.store.controlInstance('open', 'terminate', 5000);
      expect(terminated.outcome).toBe('done');
      expect(await start(test.store, 'new', rule)).toMatchObject({ record: { id: 'ended' } });
      expect(await start(test.store, 'new', ofOpen)).toEqual({ outcome: 'inserted' });
    });

    it.each(RULES)('returns its own instance for a repeated %s', async (_name, rule) => {
      expect(await start(test.store, 'a', rule, ENDED)).toEqual({ outcome: 'inserted' });
      const other = await test.open();
      for (const store of [test.store, other]) {
        expect(await start(store, 'a', rule)).toMatchObject({ outcome: 'exists', record: ENDED });
      }
    });

    it.each(RULES)('inserts for %s once the instance is purged', async (_name, rule, outcome) => {
      await start(test.store, 'old', rule, ENDED);
      await test.store.purge(purgeOf(1500));
      expect(await start(test.store, 'new', rule)).toMatchObject({ outcome });
      await test.store.purge(purgeOf(1501));
      expect(await start(test.store, 'new', rule)).toEqual({ outcome: 'inserted' });
    });

    it.each(RULES)('inserts for %s while the instance is being removed', async (_name, rule) => {
      const revision = removalRevision(instanceOf('old'));
      await start(test.store, 'old', null, { ...ENDED, revision });
      expect(await start(test.store, 'new', rule)).toEqual({ outcome: 'inserted' });
    });

    it('gives the same result again for a join with a request hash', async () => {
      await start(test.store, 'ended', null, ENDED);
      const keyed = { requestHash: 'hash', startTime: 4000 };
      const first = await start(test.store, 'k', JOIN, keyed);
      const record = await test.store.getInstance('ended');
      expect(first).toEqual({ outcome: 'joined', record });
      await start(test.store, 'newer', null, { startTime: 5000 });
      const again = await start(test.store, 'k', JOIN, { requestHash: 'other' });
      expect(again).toEqual({ outcome: 'joined-before', requestHash: 'hash', record });
    });

    it.each(RULES)(
      `inserts for %s for one of ${CALLERS} simultaneous callers, although each run ends at once`,
      async (_name, rule, outcome) => {
        const other = await test.open();
        const results = await Promise.all(
          Array.from({ length: CALLERS }, (_, n) =>
            start(n % 2 === 0 ? test.store : other, `i${n}`, rule, {
              ...ENDED,
              requestHash: `h${n}`,
            }),
          ),
        );
        const inserted = results.flatMap((result, n) =>
          result.outcome === 'inserted' ? [`i${n}`] : [],
        );
        expect(inserted).toHaveLength(1);
        for (const result of results) {
          if (result.outcome === 'inserted') continue;
          expect(result).toMatchObject({ outcome, record: { id: inserted[0] } });
        }
      },
    );
  });
}
