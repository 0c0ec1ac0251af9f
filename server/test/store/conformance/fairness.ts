/** Contract cases: the turns of fairness keys in the queue of an activity. Those of limits and places: fair-lines.ts. */
import { describe, expect, it } from 'vitest';
import type { Fairness, Priority } from '../../../src/engine/model/start-options.js';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

const AUDIT = { time: 5, actor: 'ada', action: 'set-priority', detail: null } as const;

const keyed = (key: string, weight = 1): Fairness => ({ key, weight });

export function describeFairness(test: StoreUnderTest): void {
  /** An instance `<key>-<n>` with items of its key. An empty key: none. */
  const offer = async (
    key: string,
    count: number,
    more: { n?: number; weight?: number; priority?: Priority } & Partial<NewActivityRecord> = {},
  ): Promise<string> => {
    const { n = 0, weight = 1, ...changes } = more;
    const id = `${key || 'none'}-${n}`;
    const fairness = key === '' ? null : keyed(key, weight);
    const own = { ...changes, ...(fairness !== null && { fairness }) };
    const activities = Array.from({ length: count }, (_, at) =>
      activityOf(`${id}/${1000 + at}`, id, { createdAt: 1000 + at, ...own }),
    );
    const record = instanceOf(id, { fairness, priority: changes.priority ?? 3 });
    await test.store.insertInstance({ record, side: { ...NO_SIDE, activities } });
    return id;
  };
  const claim = async (
    changes: { now?: number; leaseMs?: number; name?: string; store?: Store } = {},
  ) => {
    const { leaseMs = 100_000, name = 'ship', now = 5000, store = test.store } = changes;
    const request = { name, now, claim: claimBy('w', now + leaseMs), deferMs: 500 };
    const item = await store.claimActivity(request);
    return item !== null && 'id' in item ? item : null;
  };
  /** The keys of the next items. */
  const take = async (count: number, changes: Parameters<typeof claim>[0] = {}) => {
    const keys: string[] = [];
    for (let taken = 0; taken < count; taken += 1) {
      const item = await claim(changes);
      keys.push(item === null ? 'nothing' : (item.fairness?.key ?? ''));
    }
    return keys;
  };
  const countOf = (keys: readonly string[], key: string) =>
    keys.filter((each) => each === key).length;

  describe('fairness', () => {
    it('stores the key of an instance and of its items', async () => {
      const fairness = keyed('é\u0000', 0.25);
      await test.store.insertInstance({
        record: instanceOf('i', { fairness }),
        side: { ...NO_SIDE, activities: [activityOf('i/1', 'i', { fairness })] },
      });
      expect(await test.store.getInstance('i')).toMatchObject({ fairness });
      expect(await test.store.getActivities(['i/1'])).toMatchObject([{ fairness }]);
      expect(await claim()).toMatchObject({ id: 'i/1', fairness });
      await offer('', 1);
      expect(await test.store.getInstance('none-0')).toMatchObject({ fairness: null });
      expect(await claim()).not.toHaveProperty('fairness');
    });

    it('lets equal keys take turns, in the order of the items of each', async () => {
      await offer('a', 30);
      await offer('b', 30, { createdAt: 3000 });
      const keys = await take(40);
      for (let from = 0; from + 20 <= 40; from += 1) {
        expect(countOf(keys.slice(from, from + 20), 'a')).toBe(10);
      }
      const rest = await claim();
      expect(rest?.id).toMatch(/\/1020$/);
    });

    it('serves keys in proportion to their weights', async () => {
      await offer('a', 40, { weight: 0.5 });
      await offer('b', 40, { weight: 1.5 });
      const keys = await take(40);
      expect(countOf(keys, 'a')).toBe(10);
      expect(countOf(keys, 'b')).toBe(30);
    });

    it('starts a key that comes late at the present', async () => {
      await offer('a', 60);
      await take(30);
      await offer('late', 30);
      expect(countOf(await take(20), 'late')).toBe(10);
      // One that comes back, too.
      await take(40);
      await offer('a', 20, { n: 1 });
      await offer('late', 20, { n: 1 });
      expect(countOf(await take(20), 'late')).toBe(10);
    });

    it('hands out by priority first', async () => {
      await offer('a', 5, { priority: 4 });
      await offer('b', 3, { priority: 2 });
      await offer('', 3, { priority: 1 });
      expect((await take(12)).join(' ')).toBe('   b b b a a a a a nothing');
    });

    it('treats items without a key as one group, however old they are', async () => {
      await offer('', 30, { createdAt: 100 });
      await offer('', 30, { createdAt: 4000, n: 1 });
      await offer('a', 30);
      const keys = await take(20);
      expect(countOf(keys, '')).toBe(10);
      expect(countOf(keys, 'a')).toBe(10);
    });

    it('hands out what is left, oldest first, once nothing has a key any more', async () => {
      await offer('', 3, { createdAt: 100 });
      await offer('a', 1);
      await offer('', 1, { createdAt: 50, n: 1 });
      await take(2);
      expect((await claim())?.id).toBe('none-0/1000');
      expect(await take(3)).toEqual(['', '', 'nothing']);
    });

    it('keeps queues apart', async () => {
      await offer('a', 20, { name: 'pack' });
      await take(10, { name: 'pack' });
      await offer('a', 20, { n: 1 });
      await offer('b', 20);
      expect(countOf(await take(20), 'a')).toBe(10);
    });

    it('charges a key only for what it got: released items cost their turn, canceled ones do not', async () => {
      await offer('a', 40);
      const id = await offer('b', 40);
      const canceled = Array.from({ length: 20 }, (_, at) => `${id}/${1000 + at}`);
      const record = (await test.store.getInstance(id))!;
      await test.store.commitInstance(commitOf(record, { removeActivities: canceled }));
      expect(countOf(await take(20), 'b')).toBe(10);
    });

    it('hands out an item again when its lease has ended, or its worker gives it back', async () => {
      await offer('a', 4);
      await offer('b', 1);
      const leases = { leaseMs: 10 };
      expect((await take(2, leases)).toSorted()).toEqual(['a', 'b']);
      // `b` has nothing else.
      expect(await take(2)).toEqual(['a', 'a']);
      const again = await take(3, { now: 5011 });
      expect(again.toSorted()).toEqual(['a', 'a', 'b']);
      expect(await claim({ now: 5011 })).toBeNull();
      await test.store.releaseActivity('b-0/1000', 'token-w');
      expect((await claim({ now: 5011 }))?.id).toBe('b-0/1000');
    });

    it('passes over keys whose instances are suspended, without charging them', async () => {
      await offer('a', 40);
      const id = await offer('b', 40);
      await test.store.controlInstance(id, 'suspend', 2000);
      expect(countOf(await take(10), 'a')).toBe(10);
      await test.store.controlInstance(id, 'resume', 3000);
      expect(countOf(await take(20), 'b')).toBe(10);
    });

    it('does not let a key pass because it has nothing for a moment', async () => {
      await offer('a', 60);
      await offer('b', 1);
      const keys: string[] = [];
      for (let n = 1; keys.length < 40;) {
        const [key = ''] = await take(1);
        keys.push(key);
        if (key === 'b') await offer('b', 1, { n: (n += 1) });
      }
      expect(countOf(keys, 'b')).toBe(20);
    });

    it('takes the key along when a priority changes', async () => {
      await offer('a', 20);
      const id = await offer('b', 20);
      await offer('c', 20, { priority: 1 });
      await test.store.setPriority(id, 1, AUDIT);
      const keys = await take(20);
      expect(countOf(keys, 'b')).toBe(10);
      expect(countOf(keys, 'c')).toBe(10);
    });

    it('tells the length of a long item, and hands it out to another caller in its turn', async () => {
      await offer('a', 2, { parameters: 'x'.repeat(50) });
      await offer('b', 2);
      await take(1);
      const request = { name: 'ship', now: 5000, claim: claimBy('v'), deferMs: 1 };
      const answers = [];
      for (const lengthMax of [10, 10, 99]) {
        answers.push(await test.store.claimActivity({ ...request, lengthMax }));
      }
      expect(answers).toMatchObject([{ fairness: { key: 'b' } }, {}, { fairness: { key: 'a' } }]);
    });

    it('lets keys take turns among callers of several nodes', async () => {
      const other = await test.open();
      await offer('a', 60);
      await offer('b', 60);
      const handedOut: { readonly key: string; readonly store: Store }[] = [];
      // Each of them claims again as soon as it has an item.
      const work = async (store: Store, count: number) => {
        for (let taken = 0; taken < count; taken += 1) {
          const item = await claim({ store });
          handedOut.push({ key: item?.fairness?.key ?? '', store });
        }
      };
      await Promise.all([work(test.store, 30), work(other, 30)]);
      const keys = handedOut.map(({ key }) => key);
      expect(countOf(keys, 'a')).toBe(30);
      // Answers of two nodes may overtake each other.
      for (let from = 0; from + 20 <= keys.length; from += 1) {
        expect(countOf(keys.slice(from, from + 20), 'a')).toSatisfy((n) => n >= 9 && n <= 11);
      }
    });

    it('hands each item out once, in turns, to callers that ask at the same moment', async () => {
      const other = await test.open();
      await offer('a', 30);
      await offer('b', 30, { createdAt: 3000 });
      const claims = Array.from({ length: 40 }, (_, n) =>
        claim({ store: n % 2 === 0 ? test.store : other }),
      );
      const items = await Promise.all(claims);
      const ids = items.map((item) => item?.id);
      expect(new Set(ids).size).toBe(40);
      expect(ids).not.toContain(undefined);
      const fromA = items.filter((item) => item?.fairness?.key === 'a').length;
      expect(fromA).toSatisfy((n) => n >= 18 && n <= 22);
    });

    it('serves every key while keys come and go, on several nodes', async () => {
      const other = await test.open();
      const wanted = 80;
      const served = new Set<string>();
      let offered = 0;
      const offerAll = async () => {
        while (offered < wanted) {
          const n = (offered += 1);
          // Few keys, so that one is often removed and added at the same moment.
          await offer(`k${n % 3}`, 1, { n });
        }
      };
      const claimAll = async (store: Store) => {
        while (served.size < wanted) {
          const item = await claim({ store });
          if (item !== null) served.add(item.id);
          else if (offered >= wanted && (await claim({ store })) === null) break;
        }
      };
      await Promise.all([offerAll(), offerAll(), claimAll(test.store), claimAll(other)]);
      for (let item = await claim(); item !== null; item = await claim()) served.add(item.id);
      expect(served.size).toBe(wanted);
      // Each key still has a turn of its own.
      await offer('k1', 20, { n: 1000 });
      await offer('k2', 20, { n: 1000, createdAt: 4000 });
      expect(countOf(await take(20), 'k2')).toSatisfy((n) => n >= 9 && n <= 11);
    });

    it('forgets keys that were not used for long', async () => {
      await offer('a', 1);
      await offer('b', 20);
      await take(5);
      const purge = {
        keepsInstances: true,
        instancesEndedBefore: 0,
        untoldEndedBefore: 0,
        eventsPublishedBefore: 0,
        activitiesDoneBefore: 9000,
        limit: 100,
      };
      expect(await test.store.purge(purge)).toMatchObject({ isComplete: true });
      await offer('a', 20, { n: 1 });
      // It starts at the present, and is not punished either.
      expect(countOf(await take(10), 'a')).toSatisfy((n) => n === 5 || n === 6);
    });
  });
}
