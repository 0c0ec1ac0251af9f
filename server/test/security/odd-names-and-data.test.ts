/**
 * S-03, S-04, S-05, S-06: names and data with a special meaning in JavaScript, databases, file systems or HTTP have
 * none here: they are stored unchanged or rejected with 400, by every call and on every store.
 */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { everyStore } from '../behavior/support/every-store.js';
import { CAMEL_JSON } from '../behavior/support/dialects.js';
import { fresh } from '../behavior/support/client.js';
import { chain, compute, mark, step } from '../behavior/support/steps.js';
import { expectCleanPrototypes, serverForTests } from './support/secured-server.js';

/** JSON text, because a literal in this file would set a prototype instead of a member. */
const POLLUTION =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":{"polluted":3},"toString":4,"hasOwnProperty":5}';

const ODD_NAMES = [
  '../../etc/passwd',
  '..\\..\\windows',
  '%2e%2e%2f',
  'a/b',
  '__proto__',
  'constructor',
  'toString',
  'con',
  'nul.txt',
  '$where',
  '{"$gt":""}',
  '$ne',
  'a.b.$c',
  "' OR 1=1 --",
  '"; DROP TABLE instances; --',
  '%',
  '_%',
  '*',
  '\u202Eabc',
  '😀',
  'ﬁ',
  'é',
  'e\u0301',
  ' ',
  '<img src=x onerror=alert(1)>',
  '{{7*7}}${7*7}',
];

everyStore(
  'unusual input',
  (at) => {
    it('keeps members that resemble prototypes as ordinary data, on every path', async () => {
      const { client } = at;
      const definition = await client.define(
        chain(
          step(
            'hold',
            'WaitFor',
            { EventName: "'odd'", EventKey: 'data.key' },
            { Outputs: { event: 'step.EventData' } },
          ),
          step(
            'work',
            'Activity',
            { ActivityName: 'data.key', Parameters: 'data.given' },
            { Outputs: { result: 'step.Result' } },
          ),
          compute('copy', {
            copied: 'data.given',
            ['__proto__.x']: '"own"',
            constructor: '"own too"',
          }),
        ),
      );
      const key = fresh('key');
      const json = (body: string) => ({ body, type: 'application/json' });
      const started = await client.call<{ workflowId: string }>(
        'POST',
        `/api/workflow/${definition}`,
        json(`{"key":"${key}","given":${POLLUTION},"__proto__":{"polluted":6}}`),
      );
      expect(started.status, started.text).toBe(201);
      const id = started.body.workflowId;
      expect((await client.call('POST', `/api/event/odd/${key}`, json(POLLUTION))).status).toBe(
        202,
      );
      const item = await client.get(`/api/activity/${key}?timeout=20`);
      expect(item.text).toContain(POLLUTION);
      const { token } = item.body as { token: string };
      const done = await client.call('POST', `/api/activity/success/${token}`, json(POLLUTION));
      expect(done.status, done.text).toBe(202);
      const { text } = await client.get(`/api/workflow/${id}?wait=20`);
      expect(text).toContain('"status":"Complete"');
      for (const member of ['given', 'copied', 'event', 'result']) {
        expect(text, member).toContain(`"${member}":${POLLUTION}`);
      }
      expect(text).toContain('"__proto__":{"polluted":6}');
      expectCleanPrototypes();
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    });

    it.each(ODD_NAMES)(
      'is accepted or rejected as the name %j, but never interpreted',
      async (name) => {
        const { client } = at;
        const encoded = encodeURIComponent(name);
        const definition = await client.postDefinition({ Id: name, Steps: [mark('a')] });
        expect([201, 400], definition.text).toContain(definition.status);
        if (definition.status === 201) {
          const found = await client.get<{ id: string }>(`/api/definition/${encoded}`);
          expect([found.status, found.body.id]).toEqual([200, name]);
          const started = await client.post<{ definitionId: string }>(
            `/api/workflow/${encoded}?reference=${encoded}`,
            {},
          );
          expect([started.status, started.body.definitionId]).toEqual([201, name]);
          const listed = await client.get<WorkflowPage>(
            `/api/workflow?definitionId=${encoded}&reference=${encoded}`,
          );
          expect(listed.body.items.map(({ definitionId }) => definitionId)).toEqual([name]);
        }
        expect([200, 400, 409]).toContain(
          (
            await client.call('POST', `/api/step/${encoded}`, {
              body: 'x = 1',
              type: 'text/x-python',
            })
          ).status,
        );
        expect([202, 400]).toContain(
          (await client.post(`/api/event/${encoded}/${encoded}`, {})).status,
        );
        expect([404, 400]).toContain(
          (await client.get(`/api/activity/${encoded}?workerId=${encoded}`)).status,
        );
        for (const path of [
          `/api/workflow/${encoded}`,
          `/api/workflow/${encoded}/steps`,
          `/api/step/${encoded}`,
        ]) {
          expect([200, 400, 404], path).toContain((await client.get(path)).status);
        }
      },
    );

    it('matches only events with an identical key', async () => {
      const { client } = at;
      const key = fresh('key');
      const id = await client.defineAndStart([
        step('hold', 'WaitFor', { EventName: "'exact'", EventKey: `"${key}"` }),
      ]);
      for (const other of [
        '{"$gt":""}',
        '$ne',
        '%',
        '_',
        '*',
        '.*',
        `${key} `,
        key.toUpperCase(),
        '',
      ]) {
        const path = `/api/event/exact/${encodeURIComponent(other)}`;
        const { status, body } = await client.post<{ deliveredTo: number }>(path, {});
        // Without a key it is the path of one event, which can only be read.
        expect(other === '' ? [405] : [202, 404], other).toContain(status);
        if (status === 202) expect(body.deliveredTo, other).toBe(0);
      }
      expect((await client.publish('exact', key, {})).deliveredTo).toBe(1);
      await client.ended(id);
    });

    it.each([
      'status[$ne]=Complete',
      'status=Complete&status=Runnable',
      'status={"$ne":1}',
      'definitionId[$gt]=',
      'definitionId[]=a',
      'reference[$regex]=.*',
      'limit[$gt]=1',
      'limit=1e9',
      'cursor={"$gt":""}',
      'cursor=AAAA',
      '__proto__[polluted]=1',
      'constructor[prototype][polluted]=1',
      'startedAfter[$gt]=2020-01-01',
      '$where=sleep(1000)',
    ])('gives 400 or is taken literally in the filter %s', async (query) => {
      const { client } = at;
      const marked = await client.run([mark('a')]);
      const answer = await client.get<WorkflowPage>(`/api/workflow?${query}`);
      expect([200, 400], answer.text).toContain(answer.status);
      const isUnknown = /^(__proto__|constructor|\$where|startedAfter|\w+\[)/.test(query);
      if (answer.status === 200 && !isUnknown) {
        const ids = answer.body.items.map(({ workflowId }) => workflowId);
        expect(ids).not.toContain(marked.workflowId);
      }
      expectCleanPrototypes();
    });

    it.each([
      '{"$gt":""}',
      '{"$where":"sleep(10000)"}',
      '{"a.b":{"$set":1},"$unset":{"x":1},"":{"":0}}',
    ])('keeps %s as data', async (body) => {
      const definition = await at.client.define([mark('a')]);
      const { text } = await at.client.call('POST', `/api/workflow/${definition}`, {
        body,
        type: 'application/json',
      });
      expect(text).toContain(`"data":${body}`);
    });
  },
  { dialects: [CAMEL_JSON] },
);

describe('a path', () => {
  const at = serverForTests();

  it.each([
    '/swagger/../../package.json',
    '/swagger/..%2f..%2fpackage.json',
    '/swagger/%2e%2e/%2e%2e/package.json',
    '/swagger/swagger-ui.css/../../package.json',
    '/swagger//etc/passwd',
    '/swagger/index.html%00.css',
    '/swagger/swagger-ui.css%00',
    '/swagger/package.json',
    '/swagger/.npmrc',
    '/..%5c..%5cpackage.json',
    '/api/%',
    '/api/definition/%zz',
    '/api/definition/%00',
    `/api/definition/${'a'.repeat(8000)}`,
    '//evil.example/api/info',
  ])('is rejected outside the served ones: %s', async (path) => {
    const answer = await rawGet(at.client.url, path);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toMatch(/root:|"dependencies"/);
  });

  it('is encoded in Location, so that names cannot split a header', async () => {
    const id = 'x\u2028y"é';
    const answer = await at.client.postDefinition({ Id: id, Steps: [mark('a')] });
    expect([201, 400]).toContain(answer.status);
    expect(answer.headers.get('location') ?? '').toMatch(/^[\x21-\x7e]*$/);
    for (const name of ['a%0d%0aX-Evil:%201', 'a%0aSet-Cookie:%20x=1']) {
      const refused = await at.client.get<Problem>(`/api/definition/${name}`);
      expect(refused.status).toBe(400);
      expect(refused.headers.get('x-evil') ?? refused.headers.get('set-cookie')).toBeNull();
    }
  });

  it('takes one line in the log, as does a message of EmitLog', async () => {
    const message = '"first\\nsecond\\r\\n{\\"level\\":\\"fatal\\"}\\u001b[31m\\u2028end"';
    await at.client.run([step('log', 'EmitLog', { Message: message })]);
    const lines = at.server.logLines.filter((line) => JSON.stringify(line).includes('second'));
    // The lines were parsed one by one, so that an injected line would be here separately.
    expect(lines.length).toBeGreaterThan(0);
    expect(at.server.logLines.every(({ level }) => level !== 'fatal')).toBe(true);
  });
});

/** fetch would normalize the path before sending it. */
async function rawGet(url: string, path: string): Promise<string> {
  const { connect } = await import('node:net');
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject).once('close', () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  });
}
