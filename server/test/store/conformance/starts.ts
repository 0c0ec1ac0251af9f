/** Contract cases: what starts keep, and what they are refused for (rules S9 and S10). */
import { describe, expect, it } from 'vitest';
import {
  TERMINATED_PER_INSERT,
  type ConflictRule,
  type InstanceRecord,
  type TerminationEntry,
} from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';

const CALLERS = 100;
const AUDIT: TerminationEntry = {
  time: 5000,
  actor: 'ada',
  action: 'terminate',
  detail: 'replaced',
};
const TERMINATE: ConflictRule = { action: 'terminate', audit: AUDIT };
const REFUSE: ConflictRule = { action: 'refuse' };
const JOIN: ConflictRule = { action: 'join' };

function purgeOf(instancesEndedBefore: number) {
  return {
    instancesEndedBefore,
    untoldEndedBefore: instancesEndedBefore,
    eventsPublishedBefore: 0,
    activitiesDoneBefore: 0,
    limit: 100,
  };
}

function start(
  store: Store,
  id: string,
  conflict: ConflictRule | null = null,
  changes: Partial<InstanceRecord> = {},
) {
  const record = instanceOf(id, { reference: 'r', ...changes });
  return store.insertInstance({ record, side: NO_SIDE, ...(conflict !== null && { conflict }) });
}

function describeInputs(test: StoreUnderTest): void {
  describe('getInput', () => {
    const texts = ['{}', '{"a":"é\u0000\ud800"}', 'x'.repeat(3000), 'y'.repeat(200_000)];

    it.each(texts.map((text) => [text.length, text] as const))(
      'returns an input of %s characters unchanged, after commits too',
      async (_length, input) => {
        const record = instanceOf('i');
        await test.store.insertInstance({ record, side: NO_SIDE, input });
        expect(await test.store.getInput('i')).toBe(input);
        expect(await test.store.getInstance('i')).toEqual(record);
        await test.store.commitInstance(commitOf(record));
        expect(await test.store.getInput('i')).toBe(input);
        await test.store.insertInstance({ record, side: NO_SIDE, input: 'another' });
        expect(await test.store.getInput('i')).toBe(input);
      },
    );

    it('returns the input of the accepted start, not of one that was refused before', async () => {
      const [first, second] = ['x', 'y'].map((letter) => letter.repeat(100_000));
      const keyed = (input: string, conflict: ConflictRule) =>
        test.store.insertInstance({
          record: instanceOf('k', { reference: 'r', requestHash: 'h' }),
          side: NO_SIDE,
          input,
          conflict,
        });
      await start(test.store, 'open');
      expect((await keyed(first!, REFUSE)).outcome).toBe('in-use');
      await test.store.controlInstance('open', 'terminate', 9);
      expect((await keyed(second!, REFUSE)).outcome).toBe('inserted');
      expect((await keyed(first!, REFUSE)).outcome).toBe('exists');
      expect(await test.store.getInput('k')).toBe(second);
    });

    it("returns null if there's no input", async () => {
      await test.store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
      expect(await test.store.getInput('i')).toBeNull();
      expect(await test.store.getInput('j')).toBeNull();
    });

    it.each([10, 100_000])(
      'deletes an input of %s characters with its instance',
      async (length) => {
        const ended = { status: 'Complete', outcome: 'Succeeded', endTime: 5 } as const;
        const record = instanceOf('i', ended);
        await test.store.insertInstance({ record, side: NO_SIDE, input: 'x'.repeat(length) });
        expect((await test.store.purge(purgeOf(6))).instances).toBe(1);
        await test.store.insertInstance({ record, side: NO_SIDE });
        expect(await test.store.getInput('i')).toBeNull();
      },
    );
  });
}

function describeDisabled(test: StoreUnderTest): void {
  const define = (id: string) =>
    test.store.insertDefinition({ id, description: null, body: '{}', createdAt: 1 }, null);

  describe('a disabled definition', () => {
    it("accepts no insert through any store object until it's enabled", async () => {
      const other = await test.open();
      await define('order');
      await define('other');
      const before = instanceOf('before');
      await start(test.store, 'earlier');
      await start(other, 'earlier too');
      await test.store.insertInstance({ record: before, side: NO_SIDE });
      expect(await test.store.setDefinitionDisabled('order', true)).toBe(true);
      for (const store of [other, test.store]) {
        for (const conflict of [null, REFUSE, JOIN, TERMINATE]) {
          const result = await start(store, 'new', conflict, { requestHash: 'h' });
          expect(result).toEqual({ outcome: 'disabled' });
        }
        const child = instanceOf('child', { rootId: 'top', parentId: 'top' });
        const insert = { record: child, side: NO_SIDE, openDescendantsMax: 5 };
        expect(await store.insertInstance(insert)).toEqual({ outcome: 'disabled' });
      }
      expect(await test.store.getInstance('new')).toBeNull();
      // A repeated start is no new one, and other definitions are not concerned.
      const repeated = await other.insertInstance({ record: before, side: NO_SIDE });
      expect(repeated.outcome).toBe('exists');
      expect((await start(other, 'free', null, { definitionId: 'other' })).outcome).toBe(
        'inserted',
      );
      expect(await other.setDefinitionDisabled('order', false)).toBe(true);
      expect((await start(other, 'later')).outcome).toBe('inserted');
      expect((await start(test.store, 'later too')).outcome).toBe('inserted');
    });

    it("shows that it's disabled in every version, including later ones", async () => {
      expect(await test.store.setDefinitionDisabled('a', true)).toBe(false);
      await define('a');
      await define('b');
      await test.store.setDefinitionDisabled('a', true);
      await define('a');
      const states = async (): Promise<unknown> => ({
        first: (await test.store.getDefinition('a', 1))?.disabled,
        latest: (await test.store.getDefinition('a', 'latest'))?.disabled,
        list: (await test.store.listDefinitions(null, 9)).map(({ disabled }) => disabled),
        versions: (await test.store.listDefinitionVersions('a', null, 9)).map((v) => v.disabled),
      });
      const shown = { first: true, latest: true, list: [true, false], versions: [true, true] };
      expect(await states()).toEqual(shown);
      await test.store.setDefinitionDisabled('a', false);
      const hidden = {
        first: false,
        latest: false,
        list: [false, false],
        versions: [false, false],
      };
      expect(await states()).toEqual(hidden);
    });
  });
}

function describeConflicts(test: StoreUnderTest): void {
  const statusOf = async (id: string) => (await test.store.getInstance(id))?.status ?? null;

  describe('an insert with a conflict rule', () => {
    it.each([['refuse', REFUSE] as const, ['join', JOIN] as const])(
      'inserts nothing for %s while an instance with the reference is open, and returns the newest',
      async (_name, rule) => {
        expect((await start(test.store, 'a', rule)).outcome).toBe('inserted');
        await start(test.store, 'b', null, { startTime: 2000, status: 'Suspended' });
        await start(test.store, 'elsewhere', null, { definitionId: 'other', startTime: 3000 });
        await start(test.store, 'another', null, { reference: 's', startTime: 3000 });
        const refused = await start(test.store, 'c', rule);
        const newest = await test.store.getInstance('b');
        const { items } = await test.store.listInstances({
          filter: { definitionId: 'order', reference: 'r' },
          after: null,
          limit: 1,
        });
        expect(refused).toEqual(
          rule.action === 'join'
            ? { outcome: 'joined', record: newest }
            : { outcome: 'in-use', record: items[0] },
        );
        expect(await test.store.getInstance('c')).toBeNull();
        // A repeated insert returns its own instance.
        expect(await start(test.store, 'a', rule)).toMatchObject({ outcome: 'exists' });
        for (const id of ['a', 'b']) await test.store.controlInstance(id, 'terminate', 9);
        expect(await start(test.store, 'c', rule)).toEqual({ outcome: 'inserted' });
      },
    );

    describe('join with a request hash', () => {
      const joining = { requestHash: 'hash', startTime: 4000 };
      const odd = {
        tags: { é: '\u0000' },
        index: { n: [1, 2n ** 64n, 'x'] },
        state: '{"a":"é\u0000\ud800"}',
        owner: '\ud800',
      };

      it('gives the same result again, whatever happened to the joined instance', async () => {
        await start(test.store, 'a', null, odd);
        await test.store.postMessages([{ instanceId: 'a', message: { id: 'm', body: '1' } }]);
        const first = await start(test.store, 'k', JOIN, joining);
        const record = await test.store.getInstance('a');
        expect(first).toEqual({ outcome: 'joined', record });
        await test.store.controlInstance('a', 'terminate', 9);
        const other = await test.open();
        for (const [store, rule] of [
          [test.store, JOIN],
          [other, REFUSE],
          [other, TERMINATE],
          [test.store, null],
        ] as const) {
          const again = await start(store, 'k', rule, { requestHash: 'other' });
          // The messages of that time are no part of any answer.
          const kept = { ...record, inbox: [] };
          expect(again).toEqual({ outcome: 'joined-before', requestHash: 'hash', record: kept });
        }
        expect(await test.store.getInstance('k')).toBeNull();
        expect((await start(test.store, 'unkeyed')).outcome).toBe('inserted');
      });

      it('is forgotten with the joined instance', async () => {
        await start(test.store, 'a');
        await start(test.store, 'k', JOIN, joining);
        await test.store.controlInstance('a', 'terminate', 9);
        await test.store.purge(purgeOf(10));
        expect(await start(test.store, 'k', JOIN, joining)).toEqual({ outcome: 'inserted' });
      });

      it('is forgotten at the age at which ended instances are purged', async () => {
        await start(test.store, 'a');
        for (const [n, id] of ['k0', 'k1', 'k2'].entries()) {
          await start(test.store, id, JOIN, { requestHash: 'hash', startTime: 4000 + n });
        }
        await test.store.purge({ ...purgeOf(4002), limit: 1 });
        const outcomes = async (): Promise<readonly string[]> => {
          const again = { requestHash: 'other', startTime: 5000, reference: null };
          const results = ['k2', 'k1', 'k0'].map((id) => start(test.store, id, null, again));
          return (await Promise.all(results)).map(({ outcome }) => outcome);
        };
        expect(await outcomes()).toEqual(['joined-before', 'joined-before', 'inserted']);
        await test.store.purge(purgeOf(4002));
        expect(await outcomes()).toEqual(['joined-before', 'inserted', 'exists']);
      });
    });

    it('ends all open instances for terminate, and records it in their audit log', async () => {
      await start(test.store, 'a');
      await start(test.store, 'b', null, { status: 'Suspended', startTime: 2000, wakeAt: 5000 });
      await start(test.store, 'other', null, { reference: 's' });
      await test.store.postMessages([{ instanceId: 'a', message: { id: 'm', body: '1' } }]);
      const result = await start(test.store, 'c', TERMINATE, { startTime: 3000 });
      const ended = { status: 'Terminated', outcome: 'Terminated', endTime: AUDIT.time, wakeAt: 0 };
      expect(result).toMatchObject({
        outcome: 'inserted',
        terminated: [
          { id: 'b', ...ended, lastChangeAt: AUDIT.time, inSeq: 1 },
          { id: 'a', ...ended, lastChangeAt: AUDIT.time, inSeq: 2 },
        ],
      });
      expect(await test.store.getInstance('a')).toMatchObject({ ...ended, inbox: [{ id: 'm' }] });
      expect(await test.store.listAudit('a')).toEqual([AUDIT]);
      expect(await statusOf('c')).toBe('Runnable');
      expect(await statusOf('other')).toBe('Runnable');
      expect(await start(test.store, 'c', TERMINATE)).toMatchObject({ outcome: 'exists' });
      expect(await statusOf('c')).toBe('Runnable');
    });

    it('ends no instance before its start for terminate', async () => {
      await start(test.store, 'after', null, { startTime: AUDIT.time + 5 });
      await start(test.store, 'at', null, { startTime: AUDIT.time });
      await start(test.store, 'new', TERMINATE);
      const time = AUDIT.time + 5;
      expect(await test.store.getInstance('after')).toMatchObject({ endTime: time });
      expect(await test.store.listAudit('after')).toEqual([{ ...AUDIT, time }]);
      expect(await test.store.getInstance('at')).toMatchObject({ endTime: AUDIT.time });
    });

    it.each([REFUSE, JOIN, TERMINATE])(
      'inserts an instance once if several callers insert it at the same time, and leaves it open (%#)',
      async (rule) => {
        const other = await test.open();
        for (let round = 0; round < 10; round += 1) {
          const id = `i${round}`;
          const reference = `r${round}`;
          const stores = [test.store, other, test.store, other];
          const results = await Promise.all(
            stores.map((store) => start(store, id, rule, { reference })),
          );
          const outcomes = results.map(({ outcome }) => outcome).sort();
          expect(outcomes).toEqual(['exists', 'exists', 'exists', 'inserted']);
          expect(await statusOf(id)).toBe('Runnable');
        }
      },
    );

    it(`ends at most ${TERMINATED_PER_INSERT} instances per insert for terminate`, async () => {
      const count = TERMINATED_PER_INSERT + 3;
      for (let n = 0; n < count; n += 1) await start(test.store, `i${n}`, null, { startTime: n });
      const first = await start(test.store, 'new', TERMINATE);
      expect(first.outcome).toBe('more');
      expect('terminated' in first && first.terminated).toHaveLength(TERMINATED_PER_INSERT);
      expect(await test.store.getInstance('new')).toBeNull();
      const second = await start(test.store, 'new', TERMINATE);
      expect(second.outcome).toBe('inserted');
      expect('terminated' in second && second.terminated).toHaveLength(3);
    });

    it('respects the maximum number of descendants, except where nothing is inserted', async () => {
      const root = { rootId: 'top', parentId: 'top' };
      const child = (id: string, conflict: ConflictRule, reference: string) =>
        test.store.insertInstance({
          record: instanceOf(id, { ...root, reference }),
          side: NO_SIDE,
          conflict,
          openDescendantsMax: 1,
        });
      expect(await child('a', JOIN, 'r')).toEqual({ outcome: 'inserted' });
      expect(await child('b', JOIN, 'r')).toMatchObject({ outcome: 'joined' });
      expect(await child('b', REFUSE, 's')).toEqual({ outcome: 'full' });
      expect(await child('b', TERMINATE, 's')).toEqual({ outcome: 'full' });
      expect(await statusOf('a')).toBe('Runnable');
    });

    it('keeps its side records only if it inserts', async () => {
      const side = {
        ...NO_SIDE,
        subscriptions: [{ id: 's', instanceId: 'b', nameKey: 'n', effectiveAt: 1 }],
      };
      const insert = { record: instanceOf('b', { reference: 'r' }), side, conflict: REFUSE };
      await start(test.store, 'a');
      await test.store.insertInstance(insert);
      expect(await test.store.findSubscriptions('n', 9, null, 9)).toEqual([]);
      await test.store.controlInstance('a', 'terminate', 9);
      await test.store.insertInstance(insert);
      expect(await test.store.findSubscriptions('n', 9, null, 9)).toHaveLength(1);
    });
  });

  describe(`${CALLERS} simultaneous inserts with one reference, through two store objects`, () => {
    it.each([
      ['refuse', REFUSE],
      ['join', JOIN],
      ['terminate', TERMINATE],
    ] as const)('leaves exactly one instance open for %s', async (_name, rule) => {
      const other = await test.open();
      await start(test.store, 'before', null, { startTime: 500 });
      if (rule.action !== 'terminate') await test.store.controlInstance('before', 'terminate', 600);
      const results = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          start(n % 2 === 0 ? test.store : other, `i${n}`, rule, { requestHash: `h${n}` }),
        ),
      );
      const ids = ['before', ...results.map((_, n) => `i${n}`)];
      const statuses = await Promise.all(ids.map(statusOf));
      const open = ids.filter((_, index) => statuses[index] === 'Runnable');
      expect(open).toHaveLength(1);
      const inserted = results.filter(({ outcome }) => outcome === 'inserted').length;
      expect(inserted).toBe(rule.action === 'terminate' ? CALLERS : 1);
      if (rule.action === 'terminate') return;
      for (const result of results) {
        if (result.outcome !== 'inserted') {
          const outcome = rule.action === 'join' ? 'joined' : 'in-use';
          expect(result).toMatchObject({ outcome, record: { id: open[0] } });
        }
      }
    });
  });
}

export function describeStarts(test: StoreUnderTest): void {
  describeInputs(test);
  describeDisabled(test);
  describeConflicts(test);
}
