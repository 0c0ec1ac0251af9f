/** Contract cases: user data survives unchanged, whatever it contains (rule S6). */
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../conformance.js';
import { claimOf, activityOf, claimBy, commitOf, eventOf, instanceOf } from '../records.js';

const MEGABYTE = 1_000_000;

const ODD_VALUES: readonly (readonly [string, string])[] = [
  ['keys with a dollar and dots', '{"$set":{"a.b":1},"$where":"1","":[[[]]]}'],
  ['__proto__ and constructor', '{"__proto__":{"x":1},"constructor":{"prototype":null}}'],
  ['NUL and control characters', 'a\u0000b\u0001\u001f\u007f\u0000'],
  ['a leading control character', '\u0001"looks like the marker of the codec"'],
  ['lone surrogates', 'high \ud83d, low \ude00, reversed \ude00\ud83d'],
  ['characters outside the BMP', '\u{1f600}\u{10ffff}\uffff\ufeff'],
  ['an empty string', ''],
  ['SQL', `'; DROP TABLE instances; --`],
  ['a megabyte of ASCII', 'x'.repeat(MEGABYTE)],
  ['a megabyte of text that compresses poorly', noise(MEGABYTE)],
  ['half a megabyte of emoji', '\u{1f600}'.repeat(MEGABYTE / 4)],
];

export function describeOddValues(test: StoreUnderTest): void {
  describe('user data', () => {
    it.each(ODD_VALUES)('is stored unchanged with %s', async (_title, value) => {
      const { store } = test;
      await store.insertDefinition(
        { id: 'd', description: value, body: value, createdAt: 1 },
        null,
      );
      expect((await store.getDefinition('d', 1))?.body === value).toBe(true);
      expect((await store.listDefinitions(null, 1))[0]?.description === value).toBe(true);
      await store.insertStepScript({ name: 's', source: value, createdAt: 1 });
      expect((await store.getStepScript('s', 'latest'))?.source === value).toBe(true);
      expect((await store.getStepScript('s', 1))?.source === value).toBe(true);
      await store.insertEvent(eventOf('e', { data: value }));
      expect((await store.getEvent('e'))?.data === value).toBe(true);

      const inserted = instanceOf('i', { state: value, inbox: [{ id: 'first', body: value }] });
      await store.insertInstance({
        record: inserted,
        side: {
          history: [{ instanceId: 'i', sequence: 0, body: value }],
          subscriptions: [],
          activities: [activityOf('i/1/0', 'i', { parameters: value })],
        },
      });
      expect((await store.getInstance('i'))?.inbox[0]?.body === value).toBe(true);
      expect((await store.readHistory('i', 0, 1))[0]?.body === value).toBe(true);
      const claim = claimBy('w');
      const item = await claimOf(store, { name: 'ship', now: 2000, claim, deferMs: 1 });
      expect(item?.parameters === value).toBe(true);
      const result = { succeeded: true, data: value, hash: 'h' };
      const message = { id: 'm', body: value };
      const tokenHash = claim.tokenHash;
      await store.completeActivity({ activityId: 'i/1/0', tokenHash, result, now: 3000, message });
      expect((await store.findUnsettledActivities(9000, 1))[0]?.result.data === value).toBe(true);
      const withResult = (await store.getInstance('i'))!;
      expect(withResult.inbox[1]?.body === value).toBe(true);
      await store.commitInstance(commitOf(withResult, { state: value }));
      expect((await store.getInstance('i'))?.state === value).toBe(true);
    });

    const ODD_NAMES = ODD_VALUES.filter(([, value]) => value.length < 100);
    it.each(ODD_NAMES)(
      'is distinguished and found again with %s in ids and names',
      async (_title, odd) => {
        const { store } = test;
        const others = [`${odd}\ufffd`, odd.replaceAll(/\p{Surrogate}/gu, '\ufffd')].filter(
          (other) => other !== odd,
        );
        for (const id of [odd, ...others]) {
          await store.insertInstance({
            record: instanceOf(id, { definitionId: id, reference: id, owner: id, underWay: true }),
            side: {
              history: [{ instanceId: id, sequence: 0, body: id }],
              subscriptions: [{ id, instanceId: id, nameKey: id, effectiveAt: 0 }],
              activities: [activityOf(id, id, { name: id })],
            },
          });
          await store.insertEvent(eventOf(id, { nameKey: id, name: id, key: id }));
          await store.insertDefinition({ id, description: null, body: id, createdAt: 1 }, null);
        }
        expect((await store.getInstance(odd))?.id).toBe(odd);
        expect((await store.getDefinition(odd, 'latest'))?.body).toBe(odd);
        expect((await store.readHistory(odd, 0, 5)).map(({ body }) => body)).toEqual([odd]);
        const filters = [{ reference: odd }, { definitionId: odd }];
        for (const filter of filters) {
          const { items: found } = await store.listInstances({ filter, after: null, limit: 5 });
          expect(found.map(({ id }) => id)).toEqual([odd]);
        }
        expect((await store.findInstancesUnderWay(odd, null, 5)).map(({ id }) => id)).toEqual([
          odd,
        ]);
        expect((await store.findSubscriptions(odd, 9, null, 5)).map(({ id }) => id)).toEqual([odd]);
        const events = await store.findEvents(odd, { publishedAt: 0, id: '' }, 5);
        expect(events.map(({ id, key }) => [id, key])).toEqual([[odd, odd]]);
        expect(await store.findAvailableActivities([odd], 2000)).toEqual([odd]);
        const claim = { tokenHash: odd, workerId: odd, leaseExpiresAt: 9000 };
        const item = await claimOf(store, { name: odd, now: 2000, claim, deferMs: 1 });
        expect(item).toMatchObject({ id: odd, instanceId: odd, tokenHash: odd, workerId: odd });
        const message = { id: odd, body: odd };
        await store.postMessages([{ instanceId: odd, message }]);
        await store.postMessages([{ instanceId: odd, message }]);
        expect((await store.getInstance(odd))?.inbox).toEqual([message]);
      },
    );
  });
}

/** The same text in every run, from a linear congruential generator. */
function noise(length: number): string {
  let seed = 42;
  const characters: string[] = [];
  while (characters.length < length) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    characters.push(String.fromCharCode(32 + (seed % 95)));
  }
  return characters.join('');
}
