/** Definitions over HTTP: the document is passed on unchanged, and problems are reported with their position in it. */
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { problemOf, startApi } from '../support/api-server.js';

const PROBLEMS = [
  { code: 'step_id_duplicate', message: "The id 'a' is there twice", pointer: '/Steps/1/Id' },
  { code: 'step_type_missing', message: 'There is no StepType', pointer: '/Steps/1/StepType' },
];

const YAML_DOCUMENT = 'Id: order\nSteps:\n  - Id: a\n    StepType: NoOp\n  - Id: a\n';

const SUMMARY = {
  id: 'order',
  version: 4,
  description: null,
  createdAt: Date.UTC(2026, 0, 2),
  disabled: false,
  origin: 'shop@3f2c1a9',
  createdBy: 'ada',
};

const REGISTERED = { id: 'order', version: 4, warnings: [] };

describe('POST /api/definition', () => {
  it('stores the document as it was sent', async () => {
    const api = await startApi({ host: { 'definitions.register': async () => REGISTERED } });
    const source = '{ "ID":"order","steps":[{}]}';
    const response = await api.post('/api/definition', source, 'text/json');
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/api/definition/order');
    expect(await response.json()).toEqual(REGISTERED);
    expect(api.calls[0]!.args).toEqual([
      {
        document: { ID: 'order', steps: [{}] },
        source,
        origin: null,
        writtenNumber: expect.any(Function) as unknown,
        actor: 'anonymous',
      },
      null,
      false,
    ]);
  });

  it('gives line and column of every problem in YAML', async () => {
    const api = await startApi({
      host: {
        'definitions.register': async () => {
          throw new AppError('invalid_definition', 'Two problems', { problems: PROBLEMS });
        },
      },
    });
    const response = await api.post('/api/definition', YAML_DOCUMENT, 'application/yaml');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'invalid_definition',
      errors: [
        { ...PROBLEMS[1], line: 5, column: 5 },
        { ...PROBLEMS[0], line: 5, column: 9 },
      ],
    });
  });

  it('gives line and column in JSON too', async () => {
    const api = await startApi({
      host: {
        'definitions.register': async () => {
          throw new AppError('invalid_definition', 'Two problems', { problems: PROBLEMS });
        },
      },
    });
    const document = JSON.stringify(
      { Id: 'x', Steps: [{ Id: 'a' }, { Id: 'a', Name: 'y' }] },
      null,
      2,
    );
    const response = await api.post('/api/definition', document, 'application/json');
    expect((await problemOf(response))['errors']).toEqual([
      { ...PROBLEMS[1], line: 7, column: 5 },
      { ...PROBLEMS[0], line: 8, column: 13 },
    ]);
  });

  it('passes a document that is not an object to the engine', async () => {
    const api = await startApi({
      host: { 'definitions.register': async () => ({ id: 'x', version: 1, warnings: [] }) },
    });
    await api.post('/api/definition', 'just text', 'application/yaml');
    expect(api.calls[0]!.args[0]).toEqual({
      document: 'just text',
      source: 'just text',
      writtenNumber: expect.any(Function) as unknown,
      origin: null,
      actor: 'anonymous',
    });
  });

  it.each([
    ['', null],
    ['origin=', null],
    ['origin=github.com%2Facme%2Fshop%403f2c1a9', 'github.com/acme/shop@3f2c1a9'],
    [`origin=${'x'.repeat(200)}`, 'x'.repeat(200)],
  ])('passes the origin on: ?%s', async (query, origin) => {
    const api = await startApi({ host: { 'definitions.register': async () => REGISTERED } });
    expect((await api.post(`/api/definition?${query}`, '{}', 'application/json')).status).toBe(201);
    expect(api.calls[0]!.args[0]).toMatchObject({ origin });
  });

  it.each([
    [`origin=${'x'.repeat(201)}`, 'longer than 200 characters'],
    ['origin=a%1b%5b2J', 'control character'],
    ['origin=a%0ab', 'control character'],
    ['origin=a&origin=b', 'origin'],
  ])('rejects ?%s', async (query, reason) => {
    const api = await startApi();
    const response = await api.post(`/api/definition?${query}`, '{}', 'application/json');
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(reason);
  });
});

describe('POST /api/definition/validate', () => {
  it('answers 200 with the problems found, and stores nothing', async () => {
    const check = { valid: false, errors: [PROBLEMS[0]!], warnings: [PROBLEMS[1]!], triggers: [] };
    const api = await startApi({ host: { 'definitions.check': async () => check } });
    const response = await api.post('/api/definition/validate', YAML_DOCUMENT, 'text/yaml');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      valid: false,
      errors: [{ ...PROBLEMS[0], line: 5, column: 9 }],
      warnings: [{ ...PROBLEMS[1], line: 5, column: 5 }],
      triggers: [],
    });
    expect(api.calls.map(({ method }) => method)).toEqual(['definitions.check']);
  });
});

describe('GET /api/definition', () => {
  it('returns the latest version, or the requested one', async () => {
    const document = { id: 'order', version: 1, steps: [{ id: 'a', stepType: 'NoOp' }] };
    const api = await startApi({
      host: { 'definitions.get': async () => ({ document, summary: SUMMARY }) },
    });
    const latest = await api.fetch('/api/definition/order');
    expect(await latest.json()).toEqual({ ...document, version: 4 });
    await api.fetch('/api/definition/order?version=2');
    expect(api.calls.map(({ args }) => args)).toEqual([
      ['order', 'latest'],
      ['order', 2],
    ]);
  });

  it.each(['version=0', 'version=-1', 'version=x', 'version='])('rejects ?%s', async (query) => {
    const api = await startApi();
    expect((await api.fetch(`/api/definition/order?${query}`)).status).toBe(400);
  });

  it('lists pages', async () => {
    const page = { items: [SUMMARY], nextCursor: 'next' };
    const api = await startApi({ host: { 'definitions.list': async () => page } });
    const response = await api.fetch('/api/definition?limit=1&cursor=here');
    expect(await response.json()).toEqual({
      items: [{ ...SUMMARY, createdAt: '2026-01-02T00:00:00.000Z' }],
      nextCursor: 'next',
    });
    await api.fetch('/api/definition');
    expect(api.calls.map(({ args }) => args[0])).toEqual([
      { limit: 1, cursor: 'here' },
      { limit: 50, cursor: null },
    ]);
  });

  it.each(['limit=0', 'limit=501', 'limit=x', `cursor=${'x'.repeat(1_001)}`])(
    'rejects the page ?%s',
    async (query) => {
      const api = await startApi();
      expect((await api.fetch(`/api/definition?${query}`)).status).toBe(400);
    },
  );
});
