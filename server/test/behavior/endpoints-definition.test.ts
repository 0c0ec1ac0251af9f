/** The calls for definitions and custom steps. */
import { describe, expect, it } from 'vitest';
import type {
  DefinitionCheck,
  DefinitionDocument,
  DefinitionPage,
} from '../../src/api/wire/models/definition.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, mark, step } from './support/steps.js';

everyStore('the definition endpoints', (at) => {
  it('answers POST with 201, id, version and warnings', async () => {
    const id = fresh('posted');
    const answer = await at.client.postDefinition<object>({ Id: id, Steps: [mark('a')] });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id, version: 1, warnings: [] });
  });

  it('creates the next version on POST of an existing id, whatever Version says', async () => {
    const { client } = at;
    const id = fresh('versions');
    for (const version of [1, 2, 3]) {
      const answer = await client.postDefinition({
        Id: id,
        Version: 7,
        Steps: [compute('a', { v: String(version) })],
      });
      expect(answer.body).toMatchObject({ id, version });
    }
    const latest = await client.get<DefinitionDocument>(`/api/definition/${id}`);
    expect(latest.body).toMatchObject({ id, version: 3, steps: [{ outputs: { v: '3' } }] });
    const second = await client.get<DefinitionDocument>(`/api/definition/${id}?version=2`);
    expect(second.body).toMatchObject({
      id,
      version: 2,
      steps: [{ id: 'a', stepType: 'NoOp', outputs: { v: '2' } }],
    });
  });

  it('returns each version exactly as it was posted on GET with source', async () => {
    const { client } = at;
    const id = fresh('source');
    const yaml = `# Keeps this comment.\nSteps:\n  - StepType: NoOp # and this one\n    Id: 'a'\nId: ${id}\n`;
    const json = `{ "steps": [{"id": "a",  "stepType": "NoOp"}], "id": "${id}" }`;
    await client.call('POST', '/api/definition', { body: yaml, type: 'application/yaml' });
    await client.call('POST', '/api/definition', { body: json, type: 'application/json' });
    const latest = await client.get(`/api/definition/${id}?source=true`);
    expect(latest.text).toBe(json);
    const first = await client.get(`/api/definition/${id}?source=true&version=1`);
    expect(first.text).toBe(yaml);
    expect(first.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect((await client.get(`/api/definition/${id}?source=true&version=3`)).status).toBe(404);
  });

  it('assigns different versions to concurrent POSTs', async () => {
    const { client } = at;
    const id = fresh('race');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        client.postDefinition<{ version: number }>({ Id: id, Steps: [mark('a')] }),
      ),
    );
    expect(answers.map(({ body }) => body.version).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('keeps the version of open runs, and uses the latest for new ones immediately', async () => {
    const { client } = at;
    const name = fresh('work');
    const wait = step('wait', 'Activity', { ActivityName: `"${name}"` }, { NextStepId: 'v' });
    const Id = await client.define([wait, compute('v', { v: '"old"' })]);
    const old = await client.start(Id);
    await client.postDefinition({ Id, Steps: [wait, compute('v', { v: '"new"' })] });
    const fresher = await client.start(Id);
    for (const id of [old, fresher]) await client.succeed((await client.work(name)).token, id);
    expect(await client.ended(old)).toMatchObject({ version: 1, data: { v: 'old' } });
    expect(await client.ended(fresher)).toMatchObject({ version: 2, data: { v: 'new' } });
  });

  it.each(['', '?version=1', '?version=99'])(
    'answers 404 to GET of an unknown id: %s',
    async (query) => {
      const answer = await at.client.get<Problem>(`/api/definition/${fresh('none')}${query}`);
      expect([answer.status, answer.body.code]).toEqual([404, 'definition_not_found']);
    },
  );

  it('answers 404 to GET of a missing version', async () => {
    const id = await at.client.define([mark('a')]);
    expect((await at.client.get(`/api/definition/${id}?version=2`)).status).toBe(404);
    for (const version of ['0', '-1', 'x', '1.5']) {
      expect((await at.client.get(`/api/definition/${id}?version=${version}`)).status).toBe(400);
    }
  });

  it('returns all definitions in pages, with the latest version of each', async () => {
    const { client } = at;
    const prefix = fresh('list');
    for (const n of [3, 1, 2])
      await client.postDefinition({
        Id: `${prefix}/${n}`,
        Description: `d${n}`,
        Steps: [mark('a')],
      });
    await client.postDefinition({ Id: `${prefix}/1`, Steps: [mark('a')] });
    const seen: DefinitionPage['items'] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { body: DefinitionPage } = await client.get(
        `/api/definition?limit=2&cursor=${cursor}`,
      );
      expect(page.body.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.body.items);
      cursor = page.body.nextCursor;
    }
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    const ours = seen.filter(({ id }) => id.startsWith(`${prefix}/`));
    expect(ours.map(({ id, version, description }) => [id, version, description])).toEqual([
      [`${prefix}/1`, 2, null],
      [`${prefix}/2`, 1, 'd2'],
      [`${prefix}/3`, 1, 'd3'],
    ]);
    for (const { createdAt } of ours) expect(createdAt).toMatch(/Z$/);
  });

  it('stores, returns and starts definitions whose ids have any characters', async () => {
    const { client } = at;
    const id = fresh('Bestellung prüfen / é+?#%');
    expect((await client.postDefinition({ Id: id, Steps: [mark('a')] })).status).toBe(201);
    const shown = await client.get<DefinitionDocument>(`/api/definition/${encodeURIComponent(id)}`);
    expect(shown.body.id).toBe(id);
    expect(await client.ended(await client.start(id))).toMatchObject({
      definitionId: id,
      status: 'Complete',
    });
  });

  it('returns errors and warnings on POST validate, and stores nothing', async () => {
    const { client } = at;
    const Id = fresh('checked');
    const check = (definition: Parameters<typeof client.postDefinition>[0]) =>
      client.post<DefinitionCheck>('/api/definition/validate', client.dialect.spell(definition));
    const good = await check({ Id, Steps: [mark('a'), mark('b')] });
    expect(good.status).toBe(200);
    expect(good.body).toMatchObject({
      valid: true,
      errors: [],
      warnings: [{ code: 'unreachable_step' }],
    });
    const bad = await check({ Id, Steps: [mark('a', { NextStepId: 'x', Outputs: { y: '1 +' } })] });
    expect(bad.status).toBe(200);
    expect(bad.body.valid).toBe(false);
    expect(bad.body.errors.length).toBe(2);
    expect((await client.get(`/api/definition/${Id}`)).status).toBe(404);
  });

  describe('custom steps', () => {
    const put = (name: string, body: string, type = 'text/x-python') =>
      at.client.call<Problem>('POST', `/api/step/${name}`, { body, type });

    it('stores versions, and returns the source as it was sent', async () => {
      const name = fresh('Step');
      const source = '# Grüße\nc = a + b\r\n\n';
      expect((await put(name, 'c = 0')).body).toEqual({ name, version: 1, warnings: [] });
      expect((await put(name, source)).body).toEqual({ name, version: 2, warnings: [] });
      const shown = await at.client.get(`/api/step/${name}`);
      expect(shown.headers.get('content-type')).toMatch(/^text\/x-python/);
      expect(shown.text).toBe(source);
    });

    it('rejects a syntax error with 400 and its line, and stores nothing', async () => {
      const name = fresh('broken');
      const answer = await put(name, 'a = 1\nb = = 2\n');
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_script']);
      expect(answer.body['line']).toBe(2);
      expect((await at.client.get(`/api/step/${name}`)).status).toBe(404);
    });

    it('stores disallowed imports with a warning, and rejects them in strict mode', async () => {
      const name = fresh('imports');
      const source = 'import json\nimport jsn\n';
      const warning = {
        code: 'module_not_importable',
        message: 'Custom steps cannot import "jsn". Did you mean "json"?',
        line: 2,
        column: 8,
        suggestion: 'json',
      };
      expect((await put(`${name}?strict=true`, source)).body).toMatchObject({
        status: 400,
        code: 'invalid_script',
        line: 2,
        column: 8,
        errors: [warning],
      });
      expect((await at.client.get(`/api/step/${name}`)).status).toBe(404);
      expect((await put(name, source)).body).toEqual({ name, version: 1, warnings: [warning] });
    });

    it.each(['Foreach', 'noop', 'HTTPREQUEST', 'If'])('rejects the name %s', async (name) => {
      const answer = await put(name, 'a = 1');
      expect([answer.status, answer.body.code]).toEqual([409, 'reserved_step_name']);
    });

    it('answers 404 for an unknown name', async () => {
      const answer = await at.client.get<Problem>(`/api/step/${fresh('none')}`);
      expect([answer.status, answer.body.code]).toEqual([404, 'step_not_found']);
    });

    it('lists custom steps by name, in pages', async () => {
      const prefix = fresh('listed');
      for (const n of [2, 1]) await put(`${prefix}-${n}`, 'a = 1');
      const names: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: { body: { items: { name: string }[]; nextCursor: string | null } } =
          await at.client.get(`/api/step?limit=2&cursor=${cursor}`);
        names.push(...page.body.items.map(({ name }) => name));
        cursor = page.body.nextCursor;
      }
      expect(names.filter((name) => name.startsWith(prefix))).toEqual([
        `${prefix}-1`,
        `${prefix}-2`,
      ]);
    });
  });
});
