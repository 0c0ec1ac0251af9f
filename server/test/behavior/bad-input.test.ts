/** Invalid requests: a clear error in limited time, and the server continues. */
import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { compute, mark, step } from './support/steps.js';

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Each level repeats the one before nine times. */
const BILLION_LAUGHS = ['a: &a [1,1,1,1,1,1,1,1,1]']
  .concat(
    Array.from({ length: 12 }, (_, n) => {
      const [name, before] = [String.fromCharCode(98 + n), String.fromCharCode(97 + n)];
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`;
    }),
  )
  .join('\n');

/** Path of a call with a body, the body, its media type, and the status and code of the rejection. */
const REFUSED: readonly (readonly [string, string, string, number, string])[] = [
  [
    'JSON of more than 1 MiB',
    JSON.stringify({ a: 'x'.repeat(1024 * 1024) }),
    JSON_TYPE,
    413,
    'body_too_large',
  ],
  ['YAML of more than 256 kB', `a: ${'x'.repeat(300 * 1024)}`, YAML, 413, 'body_too_large'],
  ['JSON that is nested too deeply', `{"a": ${nested(200)}}`, JSON_TYPE, 400, 'unreadable_body'],
  ['JSON with unclosed nesting', '['.repeat(500_000), JSON_TYPE, 400, 'unreadable_body'],
  [
    'objects that are nested too deeply',
    `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    JSON_TYPE,
    400,
    'unreadable_body',
  ],
  ['YAML that is nested too deeply', `a: ${nested(200)}`, YAML, 400, 'unreadable_body'],
  ['YAML with unclosed nesting', `a: ${'['.repeat(100_000)}`, YAML, 400, 'unreadable_body'],
  ['a YAML bomb', BILLION_LAUGHS, YAML, 400, 'unreadable_body'],
  ['a YAML alias that refers to itself', 'a: &a [*a]', YAML, 400, 'unreadable_body'],
  [
    'a YAML merge bomb',
    `a: &a {k: 1}\nb: {<<: [${'*a, '.repeat(5000)}*a]}`,
    YAML,
    400,
    'unreadable_body',
  ],
  ['NaN in JSON', '{"a": NaN}', JSON_TYPE, 400, 'unreadable_body'],
  ['Infinity in JSON', '{"a": -Infinity}', JSON_TYPE, 400, 'unreadable_body'],
  ['a number that is out of range', '{"a": 1e999}', JSON_TYPE, 400, 'unreadable_body'],
  ['an incomplete document', '{"a": [1, 2', JSON_TYPE, 400, 'unreadable_body'],
  ['two documents', '{} {}', JSON_TYPE, 400, 'unreadable_body'],
  ['invalid UTF-8', '\uFFFD', 'bytes', 400, 'unreadable_body'],
  ['a lone control character', '{"a": "\u0000"}', JSON_TYPE, 400, 'unreadable_body'],
];

everyStore(
  'invalid bodies',
  (at) => {
    describe.each(['/api/definition', '/api/event/e/k', '/api/workflow/'])('path %s', (path) => {
      it.each(REFUSED)('rejects %s', async (...refused) => {
        const [, body, type, status, code] = refused;
        const { client } = at;
        const target = path.endsWith('/') ? path + (await client.define([mark('a')])) : path;
        const startedAt = Date.now();
        const answer = await client.call<Problem>('POST', target, {
          body: type === 'bytes' ? new Uint8Array([0x22, 0xff, 0xfe, 0x22]) : body,
          type: type === 'bytes' ? JSON_TYPE : type,
        });
        expect([answer.status, answer.body.code], answer.text.slice(0, 500)).toEqual([
          status,
          code,
        ]);
        expect(answer.text.length).toBeLessThan(2000);
        expect(Date.now() - startedAt).toBeLessThan(10_000);
        expect((await client.get('/health/live')).status).toBe(200);
      });
    });

    it('rejects a script that is too long', async () => {
      const answer = await at.client.call<Problem>('POST', `/api/step/${fresh('s')}`, {
        body: `a = "${'x'.repeat(300 * 1024)}"`,
        type: 'text/x-python',
      });
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    });

    it('cuts off a body without a Content-Length at the limit', async () => {
      const { hostname, port } = new URL(at.client.url);
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = createConnection(Number(port), hostname);
        let text = '';
        socket.on('data', (chunk) => (text += String(chunk)));
        socket.on('close', () => resolve(text));
        socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)));
        socket.write(
          'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
        const pump = (): void => {
          for (let n = 0; n < 16 && socket.writable; n += 1) socket.write(chunk);
          if (socket.writable && text === '') setImmediate(pump);
        };
        pump();
      });
      expect(answer).toMatch(/^HTTP\/1\.1 413/);
      expect((await at.client.get('/health/live')).status).toBe(200);
    });

    it.each([
      [
        'a definition with too many steps',
        { Steps: Array.from({ length: 1001 }, (_, n) => mark(`s${n}`)) },
        'too_many_steps',
      ],
      [
        'a definition that is nested too deeply',
        {
          Steps: [
            Array.from({ length: 40 }, (_, n) => n).reduce<ReturnType<typeof mark>>(
              (inner, n) => step(`p${n}`, 'Parallel', {}, { Do: [[inner]] }),
              mark('inner'),
            ),
          ],
        },
        // The body itself has at most 100 levels.
        'unreadable_body|too_deep',
      ],
      ['a step id of 1000 characters', { Steps: [mark('x'.repeat(1000))] }, 'name_too_long'],
      ['a step id with control characters', { Steps: [mark('a\u0007b')] }, 'invalid_value'],
      [
        'an expression that is nested too deeply for Python',
        { Steps: [compute('a', { v: '('.repeat(5000) + ')'.repeat(5000) })] },
        '.',
      ],
      [
        'an expression of 200 kB',
        { Steps: [compute('a', { v: `0${'+1'.repeat(100_000)}` })] },
        '.',
      ],
    ])('rejects %s', async (_, definition, code) => {
      const { client } = at;
      const startedAt = Date.now();
      const answer = await client.postDefinition({ Id: fresh('bad'), ...definition });
      expect(answer.status, answer.text.slice(0, 500)).toBe(400);
      expect(`${answer.body.code} ${answer.body.errors?.[0]?.code ?? ''}`).toMatch(
        new RegExp(code),
      );
      expect(Date.now() - startedAt).toBeLessThan(10_000);
    });
  },
  { dialects: [CAMEL_JSON] },
);

everyStore('unusual names and keys', (at) => {
  it('treats keys that are members of JavaScript prototypes as ordinary data', async () => {
    const { client } = at;
    const definition = await client.define([
      compute('a', {
        read: 'data["__proto__"]["x"]',
        keys: 'sorted(data["constructor"].keys())',
        copy: 'data["__proto__"]',
      }),
    ]);
    const body =
      '{"__proto__": {"x": 1}, "constructor": {"prototype": {"polluted": true}}, "toString": "text", "hasOwnProperty": null}';
    const { body: started } = await client.call<Workflow>('POST', `/api/workflow/${definition}`, {
      body,
      type: JSON_TYPE,
    });
    const ended = await client.ended(started.workflowId);
    expect(Object.keys(ended.data).sort()).toEqual([
      '__proto__',
      'constructor',
      'copy',
      'hasOwnProperty',
      'keys',
      'read',
      'toString',
    ]);
    expect(JSON.stringify(ended.data)).toContain('"__proto__":{"x":1}');
    expect(ended.data).toMatchObject({ read: 1, keys: ['prototype'], copy: { x: 1 } });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('accepts members of JavaScript prototypes as names of outputs, steps and definitions', async () => {
    const { client } = at;
    for (const name of [
      '__proto__',
      'constructor',
      'toString',
      '$where',
      'a.b',
      ' ',
      '💥',
      'ключ',
    ]) {
      const id = fresh(`${name} `);
      const body = `{"Id": ${JSON.stringify(id)}, "Steps": [{"Id": ${JSON.stringify(`${name}x`)}, "StepType": "NoOp", "Outputs": {${JSON.stringify(name)}: "1"}}]}`;
      const posted = await client.call('POST', '/api/definition', { body, type: JSON_TYPE });
      expect(posted.status, posted.text).toBe(201);
      const ended = await client.ended(await client.start(id));
      expect(JSON.stringify(ended.data), name).toBe(`{${JSON.stringify(name)}:1}`);
      expect(await client.trace(ended.workflowId)).toEqual([`${name}x Complete`]);
    }
  });

  it('accepts members of JavaScript prototypes as names of events, keys, activities and references', async () => {
    const { client } = at;
    for (const name of ['__proto__', '$ne', 'a/b', 'a%2Fb', '💥', "'; DROP TABLE events; --"]) {
      const id = await client.start(
        await client.define([
          step(
            'wait',
            'WaitFor',
            { EventName: 'data.name', EventKey: 'data.name' },
            { NextStepId: 'work' },
          ),
          step('work', 'Activity', { ActivityName: 'data.name' }),
        ]),
        { name },
        name,
      );
      await client.untilWaiting(id, 'wait');
      await client.publish(name, name, 1);
      await client.succeed((await client.work(name)).token, 1);
      expect(await client.ended(id)).toMatchObject({ status: 'Complete', reference: name });
      const { body } = await client.get<{ items: { workflowId: string }[] }>(
        `/api/workflow?reference=${encodeURIComponent(name)}`,
      );
      expect(body.items.map(({ workflowId }) => workflowId)).toEqual([id]);
    }
  });

  it.each(['%00', 'a%0Ab', 'x'.repeat(201), '%', '%E0%A4'])(
    'rejects the name %s in a path',
    async (name) => {
      const { client } = at;
      for (const [method, path] of [
        ['GET', `/api/definition/${name}`],
        ['POST', `/api/workflow/${name}`],
        ['GET', `/api/workflow/${name}`],
        ['GET', `/api/activity/${name}`],
        ['POST', `/api/event/${name}/k`],
        ['POST', `/api/step/${name}`],
      ] as const) {
        const answer = await client.call<Problem>(
          method,
          path,
          method === 'POST'
            ? { body: '{}', type: path.includes('step') ? 'text/x-python' : JSON_TYPE }
            : {},
        );
        expect([400, 404], `${method} ${path.slice(0, 40)}`).toContain(answer.status);
        expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
      }
    },
  );
});
