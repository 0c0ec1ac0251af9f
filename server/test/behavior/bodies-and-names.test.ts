/** Bodies, responses, names and errors. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const NEVER = { EventName: '"never"', EventKey: '"published"' };
const YAML = 'application/yaml';
const JSON_TYPE = 'application/json';

everyStore('bodies and names', (at) => {
  const start = (definition: string, body: string, type: string, accept?: string) =>
    at.client.call<Workflow>('POST', `/api/workflow/${definition}`, {
      body,
      type,
      headers: accept === undefined ? {} : { accept },
    });

  describe('a request', () => {
    it('is accepted as JSON or YAML under each media type, with parameters', async () => {
      const definition = await at.client.define([step('a', 'NoOp')]);
      for (const type of [
        JSON_TYPE,
        'text/json',
        'application/vnd.x+json',
        'application/json; charset=utf-8',
        'Application/JSON',
      ]) {
        const answer = await start(definition, '{"a": [1]}', type);
        expect([answer.status, answer.body.data], type).toEqual([201, { a: [1] }]);
      }
      for (const type of [
        YAML,
        'application/x-yaml',
        'text/yaml',
        'application/yaml; charset=utf-8',
      ]) {
        const answer = await start(definition, 'a:\n- 1\n', type);
        expect([answer.status, answer.body.data], type).toEqual([201, { a: [1] }]);
      }
    });

    it.each(['reason', 'Reason', 'REASON'])('accepts the member %s in any casing', async (name) => {
      const id = await at.client.defineAndStart([step('a', 'WaitFor', NEVER)]);
      const modify = (body: object) =>
        at.client.call<Problem>('POST', `/api/workflow/${id}/modify`, {
          body: JSON.stringify(body),
          type: JSON_TYPE,
        });
      const answer = await modify({ [name]: 'wrong', DATA: { Reason: 1 } });
      expect(answer.status, answer.text).toBe(200);
      expect((await at.client.workflow(id)).data).toEqual({ Reason: 1 });
      const wrong = await modify({ [name]: 7, data: {} });
      expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_request']);
      expect(wrong.body.detail).toContain('reason');
      const twice = await modify({ reason: 'a', Reason: 'b', data: { a: 1 } });
      expect([twice.status, twice.body.errors?.[0]?.pointer]).toEqual([400, '/Reason']);
    });

    it.each([
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/x-python',
    ])('is rejected with 415 as %s', async (type) => {
      const definition = await at.client.define([step('a', 'NoOp')]);
      for (const path of [
        `/api/workflow/${definition}`,
        '/api/definition',
        '/api/event/e/k',
        '/api/activity/success/x.y',
      ]) {
        const answer = await at.client.call<Problem>('POST', path, { body: '{}', type });
        expect([answer.status, answer.body.code], path).toEqual([415, 'unsupported_media_type']);
      }
    });

    it('is accepted for scripts only as text/x-python', async () => {
      const { client } = at;
      for (const type of [JSON_TYPE, YAML, 'text/plain']) {
        expect(
          (await client.call('POST', `/api/step/${fresh('s')}`, { body: 'a = 1', type })).status,
        ).toBe(415);
      }
      const stored = await client.call('POST', `/api/step/${fresh('s')}`, {
        body: 'a = 1',
        type: 'text/x-python; charset=utf-8',
      });
      expect(stored.status).toBe(200);
    });
  });

  describe('YAML', () => {
    const data = async (text: string) =>
      (await start(await at.client.define([step('a', 'NoOp')]), text, YAML)).body.data;

    it('is version 1.2: yes, no, times and dates are strings', async () => {
      expect(
        await data(
          'a: yes\nb: no\nc: 12:30:00\nd: 2020-01-01\ne: 0o17\nf: 1e3\ng: ~\nh: "5"\ni: on',
        ),
      ).toEqual({
        a: 'yes',
        b: 'no',
        c: '12:30:00',
        d: '2020-01-01',
        e: 15,
        f: 1000,
        g: null,
        h: '5',
        i: 'on',
      });
    });

    it('supports aliases, within limits', async () => {
      expect(await data('a: &x {k: 1}\nb: *x')).toEqual({ a: { k: 1 }, b: { k: 1 } });
    });

    it.each([
      ['a custom tag', 'a: !thing 1'],
      ['a tag of Python', 'a: !!python/object:x {}'],
      ['a duplicate key', 'a: 1\na: 2'],
      ['several documents', 'a: 1\n---\nb: 2'],
      ['malformed text', 'a: [1'],
      ['a tab as indentation', 'a:\n\tb: 1'],
      ['infinity', 'a: .inf'],
      ['no number', 'a: .nan'],
    ])('is rejected with 400 if it contains %s', async (_, text) => {
      const answer = await at.client.call<Problem>(
        'POST',
        `/api/workflow/${await at.client.define([step('a', 'NoOp')])}`,
        { body: text, type: YAML },
      );
      expect([answer.status, answer.body.code], answer.text).toEqual([400, 'unreadable_body']);
      expect(JSON.stringify(answer.body)).toMatch(/"line":\d+/);
    });
  });

  describe('a response', () => {
    it.each([
      [undefined, JSON_TYPE],
      ['*/*', JSON_TYPE],
      ['application/*', JSON_TYPE],
      ['text/html', JSON_TYPE],
      [YAML, YAML],
      ['application/x-yaml', 'application/x-yaml'],
      ['text/yaml', 'text/yaml'],
      ['application/json;q=0.5, text/yaml', 'text/yaml'],
      ['application/yaml;q=0.5, application/json', JSON_TYPE],
    ])('has the media type %s for Accept: %s', async (accept, type) => {
      const answer = await at.client.call('GET', '/api/info', {
        headers: accept === undefined ? {} : { accept },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')!.split(';')[0]).toBe(type);
      const body = (type === JSON_TYPE ? JSON.parse(answer.text) : parse(answer.text)) as Record<
        string,
        unknown
      >;
      expect(Object.keys(body)).toContain('machineName');
    });

    it('has the same names in YAML, and unchanged data', async () => {
      const definition = await at.client.define([step('a', 'NoOp')]);
      const value = { Big: 1e21, Text: 'no', Nothing: null, '1': [], deep: { Über: '- x: 1' } };
      const answer = await start(definition, JSON.stringify(value), JSON_TYPE, YAML);
      const body = parse(answer.text) as Record<string, unknown>;
      expect(body).toMatchObject({
        definitionId: definition,
        status: 'Runnable',
        reference: null,
        data: value,
      });
      const json = await at.client.get<object>(`/api/workflow/${body['workflowId'] as string}`);
      expect(Object.keys(body)).toEqual(Object.keys(json.body));
    });

    it('has timestamps in ISO 8601 UTC', async () => {
      const workflow = await at.client.run([step('a', 'NoOp')]);
      for (const time of [workflow.startTime, workflow.endTime!]) {
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    });
  });

  describe('the casing of names', () => {
    it('keeps the spelling of data, steps, custom steps and maps', async () => {
      const { client } = at;
      const script = await client.script('Out = Value\nout = value');
      const { data } = await client.run(
        chain(
          step(
            'Step',
            script,
            { Value: 'data.Key', value: 'data.key' },
            { Outputs: { Result: 'step.Out', result: 'step.out' } },
          ),
          step('step', 'NoOp'),
          mark('STEP'),
        ),
        { Key: 1, key: 2, 'with space': 3, 'dot.ted': 4, '': 5, $set: 6 },
      );
      expect(data).toEqual({
        Key: 1,
        key: 2,
        'with space': 3,
        'dot.ted': 4,
        '': 5,
        $set: 6,
        Result: 1,
        result: 2,
        trail: ['STEP'],
      });
    });

    it.each(['Foreach', 'ForEach', 'foreach', 'FOREACH', 'forEach'])(
      'ignores the casing of step types: %s',
      async (type) => {
        const { data } = await at.client.run([
          {
            Id: 'each',
            StepType: type,
            Inputs: { COLLECTION: '[1, 2]', runparallel: false },
            Do: [[compute('n', { n: 'context.Item' })]],
          },
        ]);
        expect(data).toEqual({ n: 2 });
      },
    );

    it('ignores the casing of members', async () => {
      const { client } = at;
      const id = fresh('casing');
      const answer = await client.post('/api/definition', {
        ID: id,
        STEPS: [
          { id: 'a', steptype: 'NOOP', outputs: { x: '1' }, NEXTSTEPID: 'b' },
          { ID: 'b', stepTYPE: 'noop' },
        ],
      });
      expect(answer.status, answer.text).toBe(201);
      expect((await client.ended(await client.start(id))).data).toEqual({ x: 1 });
    });

    it('rejects a member given twice in different casings', async () => {
      const answer = await at.client.post<Problem>('/api/definition', {
        Id: fresh('twice'),
        id: 'other',
        Steps: [{ Id: 'a', StepType: 'NoOp' }],
      });
      expect([answer.status, answer.body.errors?.[0]?.code]).toEqual([400, 'duplicate_member']);
    });
  });

  describe('an error', () => {
    it('is a problem document with a code and the ids concerned', async () => {
      const answer = await at.client.get<Problem>('/api/workflow/nowhere');
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.body).toMatchObject({
        status: 404,
        code: 'workflow_not_found',
        workflowId: 'nowhere',
      });
      for (const member of ['type', 'title', 'detail']) expect(answer.body[member]).toMatch(/\w/);
    });

    it('has a pointer, a line and a column for each problem in a document', async () => {
      const { client } = at;
      const answer = await client.postDefinition({
        Id: fresh('wrong'),
        Steps: [
          step('a', 'NoOp', {}, { NextStepId: 'nowhere' }),
          step('b', 'Delay', { Perriod: 1 }),
        ],
      });
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe('invalid_definition');
      const isYaml = client.dialect.mediaType === YAML;
      for (const { code, pointer, line, column } of answer.body.errors!) {
        expect(pointer, code).toMatch(isYaml ? /^\/Steps\/\d/ : /^\/steps\/\d/);
        expect([typeof line, typeof column], code).toEqual(['number', 'number']);
      }
      expect(answer.body.errors!.map(({ code }) => code)).toEqual(
        expect.arrayContaining(['unknown_next_step', 'unknown_input', 'missing_input']),
      );
    });

    it('includes the position of a syntax error in a body', async () => {
      const answer = await at.client.call<Problem>('POST', '/api/definition', {
        body: '{\n"Id": "x",\n"Steps": [}\n',
        type: JSON_TYPE,
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'unreadable_body' });
      expect(answer.text).toMatch(/"line":3/);
    });

    it('exposes no internals', async () => {
      for (const path of [
        '/api/workflow/%00',
        '/api/nothing',
        '/api/workflow/x/steps?cursor=%7B%7D',
        `/api/workflow/${'x'.repeat(300)}`,
      ]) {
        const answer = await at.client.get<Problem>(path);
        expect(answer.status, path).toBeGreaterThanOrEqual(400);
        expect(answer.status, path).toBeLessThan(500);
        expect(answer.text, path).not.toMatch(/node_modules|at \w+ \(|\.ts:|\.js:/);
      }
    });
  });
});
