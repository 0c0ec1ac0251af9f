/** Webhooks that others call: signed calls become events and runs, each delivery once. On every store. */
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { EventPage } from '../../src/api/wire/models/event.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { ReceivedDelivery, Webhook, WebhookPage } from '../../src/api/wire/models/webhook.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

const SECRET = 'a secret that nobody else may see';
const GITHUB = { scheme: 'github', secret: SECRET };
const END = step('end', 'NoOp');
const environment = {
  data_dir: mkdtempSync(join(tmpdir(), 'stepwright-webhooks-')),
  webhook_bytes_max: '20000',
  wrong_signatures_per_minute_max: '100000',
};

type Received = ReceivedDelivery & Problem;

everyStore(
  'webhooks',
  (at) => {
    const put = (name: string, settings: JsonObject) =>
      at.client.call<Webhook & Problem>('PUT', `/api/webhook/${name}`, {
        body: JSON.stringify(settings),
        type: 'application/json',
      });
    const create = async (settings: JsonObject): Promise<string> => {
      const name = fresh('hook');
      const answer = await put(name, { ...GITHUB, ...settings });
      expect(answer.status, answer.text).toBe(200);
      return name;
    };
    const signed = (
      body: string | Uint8Array,
      headers: Readonly<Record<string, string>> = {},
    ): Readonly<Record<string, string>> => ({
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      ...headers,
    });
    const call = (
      name: string,
      body: string | Uint8Array,
      headers: Readonly<Record<string, string>> = signed(body),
    ) => at.client.call<Received>('POST', `/hooks/${name}`, { body, headers });
    const eventsOf = async (name: string, key: string) =>
      (await at.client.get<EventPage>(`/api/event?name=${name}&key=${encodeURIComponent(key)}`))
        .body.items;
    const runsOf = async (id: string) =>
      (await at.client.get<WorkflowPage>(`/api/workflow?definitionId=${id}`)).body.items;
    const run = async (id: string) => (await at.client.get<Workflow>(`/api/workflow/${id}`)).body;

    describe('a webhook', () => {
      it('is shown, listed, replaced and removed, without its secret', async () => {
        const publish = { name: "'push'", key: "hook.body['key']" };
        const name = await create({ publish });
        const shown = await at.client.get<Webhook>(`/api/webhook/${name}`);
        expect(shown.body).toEqual({
          name,
          path: `/hooks/${name}`,
          scheme: 'github',
          publish,
          changedBy: 'anonymous',
          changedTime: expect.any(String) as string,
        });
        const start = { definitionId: 'd', reference: 'hook.query["r"]' };
        const hmac = { scheme: 'hmac', secret: SECRET, header: 'X-Sig', prefix: 'p=' };
        const replaced = await put(name, { ...hmac, start });
        expect(replaced.body).toMatchObject({
          scheme: 'hmac',
          header: 'X-Sig',
          prefix: 'p=',
          algorithm: 'sha256',
          encoding: 'hex',
          start,
        });
        const list = await at.client.get<WebhookPage>('/api/webhook');
        expect(list.body.items.find((each) => each.name === name)).toEqual(replaced.body);
        for (const { text } of [shown, replaced, list]) {
          expect(text).not.toContain(SECRET);
          expect(text).not.toContain('ecret"');
        }
        expect((await at.client.call('DELETE', `/api/webhook/${name}`)).status).toBe(204);
        for (const method of ['GET', 'DELETE']) {
          const gone = await at.client.call<Problem>(method, `/api/webhook/${name}`);
          expect([gone.status, gone.body.code]).toEqual([404, 'webhook_not_found']);
        }
      });

      it("answers Slack's verification of an address if its signature is right", async () => {
        const publish = { name: "'slack'", key: "'checked'" };
        const name = await create({ scheme: 'slack', publish });
        const check = (type: string, secret = SECRET) => {
          const body = JSON.stringify({ type, challenge: '3eZbrw1aBm2rZgRNFdxV' });
          const time = String(Math.floor(Date.now() / 1000));
          const digest = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
          const headers = {
            'content-type': 'application/json',
            'x-slack-request-timestamp': time,
            'x-slack-signature': `v0=${digest}`,
          };
          return at.client.call('POST', `/hooks/${name}`, { body, headers });
        };
        const answer = await check('url_verification');
        expect([answer.status, answer.body]).toEqual([200, { challenge: '3eZbrw1aBm2rZgRNFdxV' }]);
        expect((await check('url_verification', 'another secret')).status).toBe(401);
        expect(await eventsOf('slack', 'checked')).toEqual([]);
        expect((await check('event_callback')).status).toBe(202);
        expect(await eventsOf('slack', 'checked')).toHaveLength(1);
      });

      it('keeps its secret when it is replaced without one', async () => {
        const name = await create({ publish: { name: "'a'", key: "'1'" } });
        const again = await put(name, {
          scheme: 'github',
          publish: { name: "'a'", key: "'2'" },
        });
        expect(again.status, again.text).toBe(200);
        expect((await call(name, '{}')).status).toBe(202);
        const other = await put(name, { scheme: 'slack', publish: { name: "'a'", key: "'2'" } });
        expect(other.status).toBe(400);
      });

      it.each([
        ['neither effect', {}, 'Exactly one of publish and start'],
        [
          'both effects',
          { publish: { name: "'a'", key: "'b'" }, start: { definitionId: 'd' } },
          'Exactly one of publish and start',
        ],
        ['no secret', { secret: null, publish: { name: "'a'", key: "'b'" } }, 'secret'],
        ['an unknown scheme', { scheme: 'md5', publish: { name: "'a'", key: "'b'" } }, 'scheme'],
        [
          'hmac without a header',
          { scheme: 'hmac', publish: { name: "'a'", key: "'b'" } },
          'header is missing',
        ],
        ...['Authorization', 'COOKIE', 'Proxy-Authorization', 'Host', 'content-type'].map(
          (header): [string, object, string] => [
            `a signature in ${header}`,
            { scheme: 'hmac', header, publish: { name: "'a'", key: "'b'" } },
            `header must not be ${header}: `,
          ],
        ),
        [
          'an id in Cookie',
          {
            scheme: 'hmac',
            header: 'X-Sig',
            idHeader: 'Cookie',
            publish: { name: "'a'", key: "'b'" },
          },
          'idHeader must not be Cookie: it is for credentials',
        ],
        ...[' sha256=', '\tv1=', 'v1=\r\n', 'подпись=', 'é='].map(
          (prefix): [string, object, string] => [
            `the prefix ${JSON.stringify(prefix)}`,
            { scheme: 'hmac', header: 'X-Sig', prefix, publish: { name: "'a'", key: "'b'" } },
            'prefix must have ASCII characters only and not begin with a blank',
          ],
        ),
        [
          'a member of hmac',
          { header: 'X-Sig', publish: { name: "'a'", key: "'b'" } },
          'header belongs to the scheme hmac',
        ],
        [
          'an expression that is not Python',
          { publish: { name: "'a'", key: 'hook.body[' } },
          'publish.key: Python syntax error in this expression',
        ],
        ['an unknown member', { publish: { name: "'a'", key: "'b'", keys: 1 } }, 'keys'],
        [
          'a secret that can be guessed',
          { secret: 'x'.repeat(15), publish: { name: "'a'", key: "'b'" } },
          'secret must have at least 16 characters',
        ],
        [
          'a secret that is no key',
          { scheme: 'standard', secret: '?'.repeat(20), publish: { name: "'a'", key: "'b'" } },
          'secret must be whsec_',
        ],
      ])('is rejected with %s', async (_, settings, message) => {
        const { secret = SECRET, ...others } = settings as { secret?: string | null } & JsonObject;
        const answer = await put(fresh('hook'), {
          scheme: 'github',
          ...(secret !== null && { secret }),
          ...others,
        });
        expect(answer.status, answer.text).toBe(400);
        expect(answer.text).toContain(message);
      });

      it('has a name that needs no escapes', async () => {
        const publish = { name: "'a'", key: "'b'" };
        for (const name of ['a%2Fb', '%20', '..%2F', 'x'.repeat(101), '-a']) {
          const answer = await put(name, { ...GITHUB, publish });
          expect(answer.status, name).toBe(400);
        }
      });
    });

    describe('a call', () => {
      it('publishes an event that expressions compute from body, headers and query', async () => {
        const eventName = fresh('push');
        const name = await create({
          publish: {
            name: `"${eventName}"`,
            key: 'hook.body["repository"]["name"] + hook.query["suffix"]',
            data: { '@kind': 'hook.headers["x-github-event"]', '@n': 'hook.body["n"]', plain: 'n' },
          },
        });
        const body = '{"repository": {"name": "app"}, "n": 12345678901234567890}';
        const headers = signed(body, { 'X-GitHub-Event': 'push' });
        const answer = await call(`${name}?suffix=-1`, body, headers);
        expect([answer.status, answer.body]).toEqual([202, { id: expect.any(String) as string }]);
        const event = await at.client.get(`/api/event/${answer.body.id}`);
        expect(event.body).toMatchObject({ name: eventName, key: 'app-1' });
        expect(event.text).toContain('12345678901234567890');
        expect(event.text).toContain('"kind":"push"');
        expect(event.text).toContain('"plain":"n"');
      });

      it('starts a run with the body as its data', async () => {
        const definitionId = await at.client.define([END]);
        const name = await create({ start: { definitionId, reference: 'hook.body["order"]' } });
        const { body, status } = await call(name, '{"order": "o-1"}');
        expect(status).toBe(202);
        expect(await run(body.id)).toMatchObject({
          definitionId,
          reference: 'o-1',
          data: { order: 'o-1' },
        });
      });

      it('is verified as Standard Webhooks describes', async () => {
        const secret = `whsec_${Buffer.from('a secret of the sender').toString('base64')}`;
        const key = fresh('key');
        const name = await create({
          scheme: 'standard',
          secret,
          publish: { name: "'standard'", key: `"${key}"` },
        });
        const id = `msg_${randomUUID()}`;
        const send = (time: Date) =>
          call(name, '{"a":1}', {
            'content-type': 'application/json',
            'webhook-id': id,
            'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
            'webhook-signature': new StandardWebhook(secret).sign(id, time, '{"a":1}'),
          });
        expect((await send(new Date(Date.now() - 301_000))).status).toBe(401);
        expect((await send(new Date(Date.now() + 302_000))).status).toBe(401);
        const first = await send(new Date());
        expect(first.status).toBe(202);
        expect((await send(new Date(Date.now() - 5000))).body).toEqual(first.body);
        expect(await eventsOf('standard', key)).toHaveLength(1);
      });

      it("has one effect for each delivery id and webhook, however often it's repeated", async () => {
        const definitionId = await at.client.define([END]);
        const names = [
          await create({ start: { definitionId } }),
          await create({ start: { definitionId } }),
        ];
        const headers = signed('{}', { 'X-GitHub-Delivery': randomUUID() });
        const at100 = names.flatMap((name) => Array.from({ length: 20 }, () => name));
        const answers = await Promise.all(at100.map((name) => call(name, '{}', headers)));
        expect(answers.map(({ status }) => status)).toEqual(at100.map(() => 202));
        expect(new Set(answers.map(({ body }) => body.id)).size).toBe(2);
        expect(await runsOf(definitionId)).toHaveLength(2);
      });

      it('counts once its delivery has had an effect, not before', async () => {
        const definitionId = fresh('late');
        const name = await create({ start: { definitionId } });
        const headers = signed('{}', { 'X-GitHub-Delivery': randomUUID() });
        const early = await call(name, '{}', headers);
        expect([early.status, early.body.code]).toEqual([404, 'definition_not_found']);
        await at.client.postDefinition({ Id: definitionId, Steps: [END] });
        const first = await call(name, '{}', headers);
        expect(first.status, first.text).toBe(202);
        await at.restart();
        expect((await call(name, '{}', headers)).body).toEqual(first.body);
        expect(await runsOf(definitionId)).toHaveLength(1);
      });

      it('gets the same response with a wrong signature, without one, and with an unknown name', async () => {
        const name = await create({ publish: { name: "'never'", key: "'1'" } });
        const wrong = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
        const answers = [
          await call(name, '{}', { ...signed('{}'), ...wrong }),
          await call(name, '{}', {}),
          await call(name, '{"a":', signed('{}')),
          await call(fresh('unknown'), '{}'),
          await call('%00', '{}'),
          await call('x'.repeat(300), '{}'),
          await call('__proto__', '{}'),
        ];
        const alike = answers.map(({ body, status }) => ({ ...body, status }));
        for (const answer of alike) expect(answer).toEqual(alike[0]);
        expect(alike[0]).toMatchObject({ status: 401, code: 'unauthenticated' });
        expect(await eventsOf('never', '1')).toEqual([]);
      });

      it('is checked for its signature before its content', async () => {
        const name = await create({ publish: { name: "'content'", key: "'1'" } });
        const broken = await call(name, '{"a":');
        expect([broken.status, broken.body.code]).toEqual([400, 'unreadable_body']);
        const bytes = new Uint8Array([0x22, 0xff, 0x22]);
        expect((await call(name, bytes)).status).toBe(400);
        const compressed = signed('{}', { 'content-encoding': 'gzip' });
        expect((await call(name, '{}', compressed)).status).toBe(415);
        const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
        expect((await call(name, deep)).status).toBe(400);
      });

      it('exposes a form as a map, and other types as text', async () => {
        const name = await create({
          publish: { name: "'types'", key: 'hook.query["k"]', data: 'hook.body' },
        });
        const sent: readonly (readonly [string, string, unknown])[] = [
          ['application/x-www-form-urlencoded', 'a=1&b=x+y&a=2', { a: ['1', '2'], b: 'x y' }],
          ['text/plain; charset=utf-8', 'just text', 'just text'],
          ['application/cloudevents+json', '[1]', [1]],
          ['application/json', '', null],
        ];
        for (const [type, body, expected] of sent) {
          const key = fresh('types');
          const answer = await call(
            `${name}?k=${key}`,
            body,
            signed(body, { 'content-type': type }),
          );
          expect(answer.status, answer.text).toBe(202);
          expect(await eventsOf('types', key)).toMatchObject([{ data: expected }]);
        }
      });

      it('is limited in size', async () => {
        const name = await create({ publish: { name: "'size'", key: "'1'" } });
        const text = (length: number): string => `"${'x'.repeat(length - 2)}"`;
        expect((await call(name, text(20_000))).status).toBe(202);
        const answer = await call(name, text(20_001));
        expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
      });

      it('shows no secret of its caller to expressions', async () => {
        const name = await create({
          publish: { name: "'headers'", key: 'hook.query["k"]', data: 'hook.headers' },
        });
        const key = fresh('headers');
        const headers = signed('{}', {
          authorization: 'Bearer marked-secret',
          cookie: 'marked-secret',
          __proto__: 'x',
        });
        expect((await call(`${name}?k=${key}`, '{}', headers)).status).toBe(202);
        const [event] = await eventsOf('headers', key);
        expect(event?.data).toMatchObject({ 'content-type': 'application/json' });
        expect(JSON.stringify(event)).not.toContain('marked-secret');
      });

      it("fails with the expression that can't be evaluated", async () => {
        const name = await create({ publish: { name: "'a'", key: 'hook.body["missing"]' } });
        const answer = await call(name, '{}');
        expect([answer.status, answer.body.code]).toEqual([400, 'invalid_data']);
        expect(answer.body.detail).toContain('hook.body["missing"]');
      });
    });
  },
  { dialects: 'alternating', environment },
);
