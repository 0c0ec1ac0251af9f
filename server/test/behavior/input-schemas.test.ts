/** `Input`: the schema of start data, its defaults, and what a rejected start says. */
import { describe, expect, it } from 'vitest';
import type { Problem, ProblemItem } from '../../src/api/wire/models/problem.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { mark, step } from './support/steps.js';

const ORDER: JsonObject = {
  type: 'object',
  required: ['id', 'priority'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', pattern: '^[A-Z]+-\\d+$' },
    priority: { enum: ['low', 'high'], default: 'low' },
    note: { type: ['string', 'null'], default: 'none' },
    total: { type: 'number', minimum: 0, format: 'no-such-format', 'x-unknown': true },
    items: {
      type: 'array',
      items: {
        type: 'object',
        required: ['sku', 'count'],
        properties: { sku: { type: 'string' }, count: { type: 'integer', default: 1 } },
      },
    },
  },
};

function define(client: Client, Input: Json): Promise<string> {
  return client.define({ Input, Steps: [mark('a')] });
}

async function rejectedStart(client: Client, id: string, data: Json): Promise<Problem> {
  const { body, status, text } = await client.post<Problem>(`/api/workflow/${id}`, data);
  expect([status, body.code], text).toEqual([400, 'invalid_data']);
  expect(body['definitionId']).toBe(id);
  return body;
}

function places(errors: readonly ProblemItem[] | undefined): string[] {
  return (errors ?? []).map(({ code, pointer }) => `${code} ${pointer}`);
}

everyStore('Input', (at) => {
  it('accepts valid data, and fills in defaults, also in the elements of lists', async () => {
    const { client } = at;
    const id = await define(client, ORDER);
    const data = { id: 'A-1', items: [{ sku: 'x' }, { sku: 'y', count: 2 }] };
    const started = await client.post<Workflow>(`/api/workflow/${id}`, data);
    const filled = {
      id: 'A-1',
      items: [
        { sku: 'x', count: 1 },
        { sku: 'y', count: 2 },
      ],
      priority: 'low',
      note: 'none',
    };
    expect([started.status, started.body.data]).toEqual([201, filled]);
    const ended = await client.ended(started.body.workflowId);
    expect(ended.data).toEqual({ ...filled, trail: ['a'] });
    const input = await client.get(`/api/workflow/${started.body.workflowId}/input`);
    expect([input.status, input.body]).toEqual([200, data]);
  });

  it('keeps a given null instead of the default', async () => {
    const { client } = at;
    const id = await define(client, ORDER);
    const kept = await client.start(id, { id: 'A-1', note: null });
    expect((await client.ended(kept)).data['note']).toBeNull();
    const { errors } = await rejectedStart(client, id, { id: 'A-1', priority: null });
    expect(places(errors)).toEqual(['enum /priority']);
  });

  it('rejects data with one entry for each violation, with its position', async () => {
    const { client } = at;
    const id = await define(client, ORDER);
    const data = {
      priority: 'Low',
      total: -1,
      extra: 1,
      items: [{ sku: 'x' }, { sku: 5, count: 1.5 }, 'z'],
    };
    const { detail, errors } = await rejectedStart(client, id, data);
    expect(places(errors).toSorted()).toEqual([
      'additional_properties /extra',
      'enum /priority',
      'minimum /total',
      'required /id',
      'type /items/1/count',
      'type /items/1/sku',
      'type /items/2',
    ]);
    expect(detail).toContain(`the Input of definition '${id}'`);
    expect(errors?.find(({ code }) => code === 'enum')?.suggestion).toBe('low');
    expect(errors?.find(({ code }) => code === 'required')?.message).toBe('"id" is required.');
    for (const { column, line, message } of errors ?? []) {
      expect([line, column, message]).toEqual([
        expect.any(Number),
        expect.any(Number),
        expect.stringMatching(/^\S.*\.$/),
      ]);
    }
  });

  it('lists at most a hundred violations', async () => {
    const { client } = at;
    const id = await define(client, { properties: { list: { items: { type: 'string' } } } });
    const { errors } = await rejectedStart(client, id, {
      list: Array.from({ length: 150 }, () => 1),
    });
    expect(errors).toHaveLength(100);
    expect(errors?.at(-1)).toMatchObject({
      code: 'too_many_problems',
      message: '51 more are not listed.',
    });
  });

  it('validates integers beyond 2^53 exactly', async () => {
    const { client } = at;
    const max = 9_007_199_254_740_993n;
    const id = await define(client, { properties: { n: { type: 'integer', maximum: max } } });
    await client.start(id, { n: max });
    const { errors } = await rejectedStart(client, id, { n: max + 1n });
    expect(places(errors)).toEqual(['maximum /n']);
    expect(errors?.[0]?.message).toContain('must be at most 9007199254740993');
  });

  it('treats unknown keywords and formats as annotations', async () => {
    const { client } = at;
    const id = await define(client, {
      nullable: true,
      $async: true,
      id: 'x',
      discriminator: { propertyName: 'a' },
      properties: { mail: { type: 'string', format: 'email', 'x-widget': 'mail' } },
    });
    await client.start(id, { mail: 'not an address' });
    await rejectedStart(client, id, { mail: 5 });
  });

  it('applies to later versions only from their start on', async () => {
    const { client } = at;
    const Id = fresh('versions');
    const post = (Input: Json) => client.postDefinition({ Id, Input, Steps: [mark('a')] });
    await post(null);
    await client.start(Id, { a: 1 });
    await post({ required: ['b'] });
    expect(places((await rejectedStart(client, Id, { a: 1 })).errors)).toEqual(['required /b']);
    await post(true);
    await client.start(Id, { a: 1 });
  });

  it('applies to children: the step fails and lists the positions', async () => {
    const { client } = at;
    const child = await define(client, ORDER);
    const subWorkflow = (Data: JsonObject) =>
      client.run({
        DefaultErrorBehavior: 'Terminate',
        Steps: [
          step(
            'sub',
            'SubWorkflow',
            { DefinitionId: `"${child}"`, Data },
            { Outputs: { child: 'step.Data' } },
          ),
        ],
      });
    const fits = await subWorkflow({ id: 'A-1' });
    expect(fits.data['child']).toMatchObject({ id: 'A-1', priority: 'low', note: 'none' });
    const { lastError, outcome } = await subWorkflow({ total: 'x', priority: 'low' });
    expect([outcome, lastError?.type]).toEqual(['Failed', 'InvalidData']);
    expect(lastError?.message).toContain('/id: "id" is required.');
    expect(lastError?.message).toContain('/total: "total" must be a number');
  });
});

everyStore(
  'posted schemas',
  (at) => {
    const rejected: readonly (readonly [string, Json, readonly string[]])[] = [
      ['that are no schema', 'object', ['wrong_type ']],
      ['with a wrong keyword', { type: 'strin' }, ['invalid_schema /type']],
      [
        'with several mistakes',
        { properties: { a: { minLength: -1 }, 'b/c': { required: 'x' } } },
        ['invalid_schema /properties/a/minLength', 'invalid_schema /properties/b~1c/required'],
      ],
      ['with a pattern that is not one', { pattern: '(' }, ['invalid_schema /pattern']],
      [
        'with lookahead',
        { patternProperties: { '^(?=a)': {} } },
        ['invalid_schema /patternProperties/^(?=a)'],
      ],
      ['that refer to nothing', { $ref: '#/$defs/a' }, ['invalid_schema /$ref']],
      [
        'that refer to other documents',
        { items: { $ref: 'https://example.org/a.json' } },
        ['foreign_reference /items/$ref'],
      ],
      ['that refer to themselves without end', { $ref: '#' }, ['invalid_schema ']],
      [
        'of another draft',
        { $schema: 'http://json-schema.org/schema#' },
        ['invalid_value /$schema'],
      ],
      ['of more than 64 KiB', { description: 'x'.repeat(65_536) }, ['too_large ']],
    ];

    it.each(rejected)('rejects schemas %s, with a pointer', async (_, Input, expected) => {
      const { client } = at;
      const definition = { Id: fresh('rejected'), Input, Steps: [mark('a')] };
      const { body, status, text } = await client.postDefinition(definition);
      expect([status, body.code], text).toEqual([400, 'invalid_definition']);
      const own = places(body.errors).map((place) => place.replace(/\/input/i, ''));
      expect(own).toEqual(expected);
      for (const { column, line } of body.errors ?? []) expect(line! * column!).toBeGreaterThan(0);
    });

    it('returns the schema with the definition', async () => {
      const { client } = at;
      const id = await define(client, ORDER);
      const { body } = await client.get<JsonObject>(`/api/definition/${id}`);
      expect(body['input']).toEqual(ORDER);
    });
  },
  { dialects: 'alternating' },
);

everyStore(
  'types',
  (at) => {
    it('forms a TypeScript module for one version', async () => {
      const { client } = at;
      const id = await define(client, ORDER);
      await client.postDefinition({ Id: id, Input: { required: ['later'] }, Steps: [mark('a')] });
      const types = (query: string) => client.get(`/api/definition/${id}/types${query}`);
      const [latest, first] = [await types(''), await types('?version=1')];
      expect([latest.status, latest.headers.get('content-type')]).toEqual([
        200,
        'text/plain; charset=utf-8',
      ]);
      expect(latest.text).toContain('  later: unknown;');
      expect(first.text).toContain('  priority: "low" | "high";\n  note?: string | null;');
      expect((await types('?version=9')).status).toBe(404);
      expect((await client.get('/api/definition/none/types')).status).toBe(404);
    });
  },
  { dialects: 'alternating' },
);

everyStore(
  'warnings',
  (at) => {
    it("reports fields that Input doesn't have", async () => {
      const { client } = at;
      const Steps = [step('a', 'EmitLog', { Message: 'data.totl' })];
      const answer = await client.postDefinition<{ warnings: ProblemItem[] }>({
        Id: fresh('warned'),
        Input: ORDER,
        Steps,
      });
      expect(answer.body.warnings).toMatchObject([
        { code: 'unknown_field', suggestion: 'data.total', line: expect.any(Number) as number },
      ]);
    });
  },
  { stores: ['sqlite'], dialects: 'alternating', ownPython: true },
);

describe('positions', () => {
  everyStore(
    'in YAML',
    (at) => {
      it('refers to the posted text', async () => {
        const { client } = at;
        const id = await define(client, ORDER);
        const { body } = await client.call<Problem>('POST', `/api/workflow/${id}`, {
          type: 'application/yaml',
          body: 'id: A-1\nitems:\n  - sku: x\n  - count: 2\ntotal: low\n',
        });
        expect(body.errors).toMatchObject([
          { pointer: '/items/1/sku', line: 4 },
          { pointer: '/total', line: 5, column: 8 },
        ]);
      });
    },
    { stores: ['sqlite'], dialects: 'alternating' },
  );
});
