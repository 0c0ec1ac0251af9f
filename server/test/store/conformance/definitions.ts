/** Contract cases: definitions and custom steps. */
import { describe, expect, it } from 'vitest';
import { bodyWithOrigin } from '../../../src/store/definition-origin.js';
import type { StoreUnderTest } from '../conformance.js';

export function describeDefinitions(test: StoreUnderTest): void {
  const insert = (id: string, body: string, stamp: [string, string] | null = null) =>
    test.store.insertDefinition(
      { id, description: `about ${id}`, body, createdAt: 5 },
      stamp && { id: stamp[0], requestHash: stamp[1] },
    );

  describe('definitions', () => {
    it('numbers the versions of each id separately', async () => {
      const outcomes = [];
      for (const [id, body] of [
        ['a', '1'],
        ['a', '2'],
        ['b', '3'],
        ['a', '4'],
      ] as const) {
        outcomes.push(await insert(id, body));
      }
      expect(outcomes.map((result) => 'record' in result && result.record.version)).toEqual([
        1, 2, 1, 3,
      ]);
      expect(outcomes[0]).toEqual({
        outcome: 'inserted',
        record: { id: 'a', version: 1, description: 'about a', body: '1', createdAt: 5 },
      });
    });

    it('returns one version or the latest', async () => {
      await insert('a', 'one');
      await insert('a', 'two');
      expect((await test.store.getDefinition('a', 1))?.body).toBe('one');
      expect((await test.store.getDefinition('a', 'latest'))?.body).toBe('two');
      expect((await test.store.getDefinition('a', 'latest'))?.version).toBe(2);
      expect(await test.store.getDefinition('a', 3)).toBeNull();
      expect(await test.store.getDefinition('a', 0)).toBeNull();
      expect(await test.store.getDefinition('x', 'latest')).toBeNull();
    });

    it('keeps the posted text of each version', async () => {
      const posted = { id: 'a', description: null, body: '{}', createdAt: 5 };
      const texts = ['# why\nId: a\n', `é\u0000\ud83d\ude00 ${'long '.repeat(5000)}`, null];
      for (const source of texts) await test.store.insertDefinition({ ...posted, source }, null);
      await insert('a', '{}');
      const stamp = { id: 'key', requestHash: 'hash' };
      await test.store.insertDefinition({ ...posted, source: 'Id: a' }, stamp);
      const sources = [];
      for (let version = 1; version <= 6; version += 1) {
        sources.push(await test.store.getDefinitionSource('a', version));
      }
      expect(sources).toEqual([...texts, null, 'Id: a', null]);
      expect(await test.store.getDefinitionSource('a', 'latest')).toBe('Id: a');
      expect(await test.store.getDefinitionSource('b', 1)).toBeNull();
      expect(await test.store.getDefinitionSource('b', 'latest')).toBeNull();
    });

    it('sorts more than nine versions numerically', async () => {
      for (let version = 1; version <= 12; version += 1) await insert('a', `body ${version}`);
      expect((await test.store.getDefinition('a', 'latest'))?.body).toBe('body 12');
      expect((await test.store.listDefinitions(null, 9)).map(({ version }) => version)).toEqual([
        12,
      ]);
    });

    it('answers a repeated request with the first record', async () => {
      const first = await insert('a', 'one', ['key', 'hash']);
      await insert('a', 'between');
      const again = await insert('a', 'one', ['key', 'hash']);
      expect(first.outcome).toBe('inserted');
      expect(again).toEqual({ ...first, outcome: 'repeated' });
      expect((await test.store.getDefinition('a', 'latest'))?.version).toBe(2);
    });

    it('rejects a stamp that is reused with another hash', async () => {
      await insert('a', 'one', ['key', 'hash']);
      expect(await insert('a', 'two', ['key', 'other'])).toEqual({ outcome: 'conflict' });
      expect(await test.store.getDefinition('a', 2)).toBeNull();
    });

    it('lists ids with their latest version, in pages', async () => {
      for (const id of ['b', 'a', 'c', 'B', 'a', 'c', 'c', '']) await insert(id, id);
      const list = async (after: string | null, limit: number) =>
        (await test.store.listDefinitions(after, limit)).map(
          ({ id, version }) => `${id}${version}`,
        );
      expect(await list(null, 10)).toEqual(['1', 'B1', 'a2', 'b1', 'c3']);
      expect(await list(null, 2)).toEqual(['1', 'B1']);
      expect(await list('B', 2)).toEqual(['a2', 'b1']);
      expect(await list('b', 2)).toEqual(['c3']);
      expect(await list('c', 2)).toEqual([]);
    });

    it('sorts by code points, not by UTF-16 units', async () => {
      for (const id of ['\u{1f600}', '\uff5e', 'z', 'é']) await insert(id, '');
      const ids = (await test.store.listDefinitions(null, 10)).map(({ id }) => id);
      expect(ids).toEqual(['z', 'é', '\uff5e', '\u{1f600}']);
      const after = (await test.store.listDefinitions('\uff5e', 10)).map(({ id }) => id);
      expect(after).toEqual(['\u{1f600}']);
    });

    it('returns null as a missing description', async () => {
      await test.store.insertDefinition(
        { id: 'a', description: null, body: '', createdAt: 1 },
        null,
      );
      expect((await test.store.getDefinition('a', 1))?.description).toBeNull();
    });
  });

  describe('the version list of a definition', () => {
    it('shows the newest version first, without bodies', async () => {
      for (const description of ['first', null, 'third']) {
        await test.store.insertDefinition({ id: 'd', description, body: '{}', createdAt: 7 }, null);
      }
      await test.store.insertDefinition(
        { id: 'e', description: '', body: '{}', createdAt: 7 },
        null,
      );
      expect(await test.store.listDefinitionVersions('d', null, 2)).toEqual([
        { id: 'd', version: 3, description: 'third', createdAt: 7, disabled: false, origin: null },
        { id: 'd', version: 2, description: null, createdAt: 7, disabled: false, origin: null },
      ]);
      expect(await test.store.listDefinitionVersions('d', 2, 9)).toEqual([
        { id: 'd', version: 1, description: 'first', createdAt: 7, disabled: false, origin: null },
      ]);
      expect(await test.store.listDefinitionVersions('none', null, 9)).toEqual([]);
    });

    it('reads the origin from the body, however long both are', async () => {
      // Characters that JSON escapes, and as many as an origin may have.
      const longest = '"\\\u{1f600}é'.repeat(40);
      const bodies = [
        bodyWithOrigin({ id: 'd' }, 'shop@1'),
        bodyWithOrigin({ id: 'd', steps: ['\ud800\u0000', 'x'.repeat(100_000)] }, longest),
        bodyWithOrigin({ id: 'd', origin: 'not the first member' }, null),
        // Not like a body of the server: encoded by databases that store UTF-8.
        `\u0001\ud800${'x'.repeat(10_000)}`,
      ];
      for (const body of bodies) {
        await test.store.insertDefinition({ id: 'd', description: null, body, createdAt: 7 }, null);
      }
      const listed = await test.store.listDefinitionVersions('d', null, 9);
      expect(listed.map(({ origin }) => origin)).toEqual([null, null, longest, 'shop@1']);
    });
  });

  describe('custom steps', () => {
    it('numbers versions, and returns the latest', async () => {
      const first = await test.store.insertStepScript({ name: 'tax', source: 'a=1', createdAt: 1 });
      const second = await test.store.insertStepScript({
        name: 'tax',
        source: 'a=2',
        createdAt: 2,
      });
      expect(first).toEqual({ name: 'tax', version: 1, source: 'a=1', createdAt: 1 });
      expect(second.version).toBe(2);
      expect(await test.store.getStepScript('tax', 'latest')).toEqual(second);
      expect(await test.store.getStepScript('TAX', 'latest')).toBeNull();
    });

    it('returns one version, and lists versions newest first', async () => {
      for (const source of ['one', 'two', 'three']) {
        await test.store.insertStepScript({ name: 'tax', source, createdAt: source.length });
      }
      await test.store.insertStepScript({ name: 'tax2', source: 'other', createdAt: 9 });
      expect((await test.store.getStepScript('tax', 2))?.source).toBe('two');
      expect(await test.store.getStepScript('tax', 4)).toBeNull();
      expect(await test.store.listStepScriptVersions('tax', null, 2)).toEqual([
        { name: 'tax', version: 3, createdAt: 5 },
        { name: 'tax', version: 2, createdAt: 3 },
      ]);
      expect(await test.store.listStepScriptVersions('tax', 2, 5)).toEqual([
        { name: 'tax', version: 1, createdAt: 3 },
      ]);
      expect(await test.store.listStepScriptVersions('none', null, 5)).toEqual([]);
    });

    it('lists names with their latest version', async () => {
      for (const name of ['b', 'a', 'c', 'a']) {
        await test.store.insertStepScript({ name, source: name, createdAt: 1 });
      }
      const list = async (after: string | null, limit: number) =>
        (await test.store.listStepScripts(after, limit)).map(
          (step) => `${step.name}${step.version}`,
        );
      expect(await list(null, 2)).toEqual(['a2', 'b1']);
      expect(await list('b', 2)).toEqual(['c1']);
    });
  });
}
