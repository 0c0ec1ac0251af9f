/** Limits as objects: set up, list, remove; and definitions whose steps name them. On every store. */
import { describe, expect, it } from 'vitest';
import type { DefinitionDocument } from '../../src/api/wire/models/definition.js';
import type { Limit, LimitPage } from '../../src/api/wire/models/limit.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

const CALL = { BaseUrl: '"http://127.0.0.1:9"' };

everyStore('limits', (at) => {
  const put = (name: string, settings: Json) =>
    at.client.call<Limit & Problem>('PUT', `/api/limit/${encodeURIComponent(name)}`, {
      body: JSON.stringify(settings),
      type: 'application/json',
    });
  const create = async (settings: JsonObject = { concurrency: 5 }, name = fresh('limit')) => {
    const answer = await put(name, settings);
    expect(answer.status, answer.text).toBe(201);
    return name;
  };
  const get = (name: string) =>
    at.client.get<Limit & Problem>(`/api/limit/${encodeURIComponent(name)}`);
  const remove = (name: string) =>
    at.client.call<Problem & { definitionIds: string[] }>('DELETE', `/api/limit/${name}`);
  const withLimits = (limits: Json, id = fresh('limited')) => ({
    Id: id,
    Steps: [step('call', 'HttpRequest', CALL, { Limits: limits })],
  });

  describe('a limit', () => {
    it('is created, replaced as a whole, and shown with its use', async () => {
      const name = fresh('limit');
      const first = await put(name, {
        description: 'What the contract allows',
        concurrency: 5,
        rate: { count: 100, per: '1m', burst: 10 },
      });
      expect(first.status).toBe(201);
      expect(first.body).toEqual({
        name,
        description: 'What the contract allows',
        concurrency: 5,
        rate: { count: 100, per: '1m', burst: 10 },
        held: 0,
        waiting: 0,
        keys: [],
        createdBy: 'anonymous',
        updatedAt: first.body.updatedAt,
      });
      expect(first.body.updatedAt).toMatch(/^\d{4}-.*Z$/);
      expect((await get(name)).body).toEqual(first.body);
      const second = await put(name, { rate: { count: 1, per: 90 } });
      expect(second.status).toBe(200);
      expect(second.body).toMatchObject({
        description: null,
        concurrency: null,
        rate: { count: 1, per: 90, burst: 1 },
      });
      expect((await get(name)).body).toEqual(second.body);
    });

    it('is read in any casing, as YAML, and with its name', async () => {
      const name = fresh('limit');
      const body = `Name: ${name}\nCONCURRENCY: 2\nrate:\n  Count: 3\n  PER: PT1S\n`;
      const type = 'application/yaml';
      const answer = await at.client.call<Limit>('PUT', `/api/limit/${name}`, { body, type });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body).toMatchObject({
        concurrency: 2,
        rate: { count: 3, per: 'PT1S', burst: 1 },
      });
    });

    it('accepts any name that fits into a URL', async () => {
      const name = await create({ concurrency: 1 }, fresh('Zahlung € / %2F 1 '));
      expect((await get(name)).body.name).toBe(name);
      const tooLong = await put('x'.repeat(201), { concurrency: 1 });
      expect(tooLong.status).toBe(400);
      expect(tooLong.body.detail).toContain('longer than 200 characters');
    });

    it('accepts the bounds', async () => {
      await create({ concurrency: 1 });
      await create({ concurrency: 100_000 });
      await create({ rate: { count: 1_000_000, per: '1d', burst: 1_000_000 } });
      await create({ rate: { count: 1, per: 1 } });
    });

    it.each<[Json, string, string]>([
      [{}, '', 'requires Concurrency, Rate, or both'],
      [{ concurrency: null, rate: null }, '', 'requires Concurrency, Rate, or both'],
      [{ concurrency: 0 }, '/concurrency', 'a whole number from 1 to 100000, not 0'],
      [{ concurrency: 100_001 }, '/concurrency', 'a whole number from 1 to 100000'],
      [{ concurrency: 1.5 }, '/concurrency', 'a whole number from 1 to 100000, not 1.5'],
      [{ concurrency: '5' }, '/concurrency', 'Concurrency must be a whole number'],
      [{ concurrency: 1, description: [] }, '/description', 'Description must be a string'],
      [{ concurrency: 1, description: 'x'.repeat(1001) }, '/description', 'at most 1000'],
      [{ concurrency: 1, rate: 5 }, '/rate', 'Rate must be an object such as'],
      [{ rate: { per: '1s' } }, '/rate', 'Rate requires a Count'],
      [{ rate: { count: 1 } }, '/rate', 'Rate requires a Per'],
      [{ rate: { count: 0, per: '1s' } }, '/rate/count', 'from 1 to 1000000, not 0'],
      [{ rate: { count: 1_000_001, per: '1s' } }, '/rate/count', 'from 1 to 1000000'],
      [{ rate: { count: 1, per: 'soon' } }, '/rate/per', 'Per must be a duration'],
      [{ rate: { count: 1, per: [] } }, '/rate/per', 'Per must be a duration'],
      [{ rate: { count: 1, per: '00:00:00.999' } }, '/rate/per', 'from 1 second to 1 day'],
      [{ rate: { count: 1, per: 86_401 } }, '/rate/per', 'from 1 second to 1 day'],
      [{ rate: { count: 5, per: '1s', burst: 0 } }, '/rate/burst', 'from 1 to 5, not 0'],
      [{ rate: { count: 5, per: '1s', burst: 6 } }, '/rate/burst', 'from 1 to 5, not 6'],
      [{ Concurency: 1, rate: { count: 1, per: 1 } }, '/Concurency', 'mean "Concurrency"?'],
      [{ rate: { count: 1, per: 1, bursts: 1 } }, '/rate/bursts', 'Did you mean "Burst"?'],
      [{ concurrency: 1, held: 0 }, '/held', 'is not a member of a limit'],
      [{ concurrency: 1, Concurrency: 2 }, '/Concurrency', 'given twice'],
      [{ concurrency: 1, name: 'other' }, '/name', "The Name 'other' is not"],
    ])('refuses %j', async (settings, pointer, cause) => {
      const name = fresh('limit');
      const { body, status } = await put(name, settings);
      expect(status).toBe(400);
      expect(body.code).toBe('invalid_request');
      expect(body.errors).toMatchObject([{ pointer, line: 1 }]);
      expect(body.errors?.[0]?.message).toContain(cause);
      expect(body.detail).toBe(body.errors?.[0]?.message);
      expect((await get(name)).status).toBe(404);
    });

    it('is refused with every problem, each with its line and column', async () => {
      const body = 'Concurrency: 0\nRate:\n  Count: 5\n  Brst: 2\n';
      const answer = await at.client.call<Problem>('PUT', `/api/limit/${fresh('limit')}`, {
        body,
        type: 'application/yaml',
      });
      expect(answer.body.errors).toMatchObject([
        { code: 'invalid_value', line: 1, column: 14 },
        { code: 'invalid_value', line: 2, column: 1 },
        { code: 'unknown_member', line: 4, column: 9, suggestion: 'Burst' },
      ]);
    });

    it.each(['text', 5, null, [1]])('is not made of %j', async (settings) => {
      const { status } = await put(fresh('limit'), settings);
      expect(status).toBe(400);
    });

    it('is listed by name, in pages', async () => {
      const names = [await create(), await create(), await create()].toSorted();
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await at.client.get<LimitPage>(`/api/limit?limit=2${query}`);
        found.push(...body.items.map(({ name }) => name));
        cursor = body.nextCursor;
      } while (cursor !== null);
      expect(found).toEqual(found.toSorted());
      expect(found).toEqual(expect.arrayContaining(names));
      expect(new Set(found).size).toBe(found.length);
    });

    it('is removed once', async () => {
      const name = await create();
      expect((await remove(name)).status).toBe(204);
      for (const answer of [await remove(name), await get(name)]) {
        expect(answer.status).toBe(404);
        expect(answer.body.code).toBe('limit_not_found');
      }
    });

    it('stays while the newest version of a definition names it', async () => {
      const name = await create();
      const one = withLimits([name]);
      const other = withLimits([{ Name: name, Key: 'data.x' }]);
      for (const each of [one, other]) await at.client.postDefinition(each);
      const refused = await remove(name);
      expect(refused.status).toBe(409);
      expect(refused.body.code).toBe('limit_in_use');
      expect(refused.body.definitionIds).toEqual([one.Id, other.Id].toSorted());
      expect((await get(name)).status).toBe(200);
      for (const { Id } of [one, other]) await at.client.postDefinition(withLimits([], Id));
      expect((await remove(name)).status).toBe(204);
    });

    it('is in the audit log', async () => {
      const name = await create();
      await put(name, { concurrency: 6 });
      await remove(name);
      const { body } = await at.client.get<{ items: { action: string }[] }>(
        `/api/audit?targetKind=limit&targetId=${name}`,
      );
      const actions = body.items.map(({ action }) => action);
      expect(actions).toEqual(['limit.remove', 'limit.put', 'limit.put']);
    });

    it('survives a restart of the server', async () => {
      const name = await create({ rate: { count: 2, per: '1h' } });
      const before = (await get(name)).body;
      await at.restart();
      expect((await get(name)).body).toEqual(before);
    });
  });

  describe('a definition', () => {
    it('keeps its limits', async () => {
      const name = await create({ rate: { count: 10, per: '1s', burst: 2 } });
      const posted = withLimits([name, { name: await create(), key: 'data.x', units: 2 }]);
      const answer = await at.client.postDefinition<{ warnings: unknown[] } & Problem>(posted);
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.warnings).toEqual([]);
      const stored = await at.client.get<DefinitionDocument>(`/api/definition/${posted.Id}`);
      const [first] = stored.body.steps;
      expect(first?.limits).toMatchObject([{ name }, { key: 'data.x', units: 2 }]);
      const again = await at.client.call('POST', '/api/definition', {
        body: JSON.stringify(stored.body),
        type: 'application/json',
      });
      expect(again.status, again.text).toBe(201);
    });

    it('is refused with an unknown limit, and a suggestion', async () => {
      const name = await create({ concurrency: 1 }, fresh('stripe-payments'));
      const wrong = name.replace('payments', 'payment');
      const refused = await at.client.postDefinition(
        withLimits([{ Name: wrong }, fresh('nothing-like-it')]),
      );
      expect(refused.status).toBe(400);
      expect(refused.body.code).toBe('invalid_definition');
      expect(refused.body.errors).toMatchObject([
        { code: 'unknown_limit', suggestion: name },
        { code: 'unknown_limit' },
      ]);
      expect(refused.body.errors?.[0]?.line).toBeGreaterThan(0);
      expect(refused.body.errors?.[0]?.message).toContain(`Did you mean "${name}"?`);
      expect(refused.body.errors?.[1]).not.toHaveProperty('suggestion');
    });

    it('is refused with more units than the limit ever has', async () => {
      const name = await create({ concurrency: 5, rate: { count: 10, per: 1, burst: 3 } });
      const refused = await at.client.postDefinition(withLimits([{ Name: name, Units: 6 }]));
      expect(refused.status).toBe(400);
      expect(refused.body.errors?.map(({ message }) => message)).toEqual([
        expect.stringContaining('at most 5, the Concurrency of the limit'),
        expect.stringContaining('at most 3, the Burst of the limit'),
      ]);
      const fits = await at.client.postDefinition(withLimits([{ Name: name, Units: 3 }]));
      expect(fits.status, fits.text).toBe(201);
    });

    it('is refused with limits of a step that can hold none', async () => {
      const name = await create();
      const { body, status } = await at.client.postDefinition({
        Id: fresh('limited'),
        Steps: [step('a', 'NoOp', {}, { Limits: [name] })],
      });
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ code: 'limits_not_possible' }]);
    });

    it('is refused with a key that is not Python, at its place', async () => {
      const name = await create();
      const { body, status } = await at.client.postDefinition(
        withLimits([{ Name: name, Key: 'data.x ===' }]),
      );
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ code: 'python_syntax' }]);
      expect(body.errors?.[0]?.line).toBeGreaterThan(0);
      expect(body.errors?.[0]?.pointer?.toLowerCase()).toBe('/steps/0/limits/0/key');
    });

    it('sees a changed limit at once', async () => {
      const name = await create({ concurrency: 1 });
      const definition = withLimits([{ Name: name, Units: 2 }]);
      expect((await at.client.postDefinition(definition)).status).toBe(400);
      await put(name, { concurrency: 2 });
      expect((await at.client.postDefinition(definition)).status).toBe(201);
    });
  });
});
