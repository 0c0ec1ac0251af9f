/**
 * Goal: targets are told about changes of runs, signed as Standard Webhooks describes, at least once and under one id.
 * Method: a receiver that verifies with the published library; runs on every store.
 */
import { mkdtempSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import type {
  Delivery,
  DeliveryPage,
  Notification,
  NotificationPage,
} from '../../src/api/wire/models/notification.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { useCallee } from './support/callee.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, failing, step } from './support/steps.js';

const SECRET = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;

interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: JsonObject;
}

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: Message;
}

const received: Received[] = [];
/** The statuses that paths answer with; 204 if omitted. */
const statuses = new Map<string, number>();
/** Paths without an answer. */
const silent = new Set<string>();

/** Verifies every message; one that is not signed fails the test that waits for it. */
const target = useCallee((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { headers, url: path = '' } = request;
    const body = Buffer.concat(chunks).toString();
    try {
      const message = new Webhook(SECRET).verify(body, headers as Record<string, string>);
      received.push({ path, headers, message: message as Message });
      response.statusCode = statuses.get(path) ?? 204;
    } catch (error) {
      response.statusCode = 401;
      response.end(String(error));
      return;
    }
    if (silent.has(path)) return;
    if (path.startsWith('/huge')) response.write('x'.repeat(1 << 20));
    if (path.startsWith('/moved')) response.setHeader('Location', '/there');
    response.end();
  });
});

const environment = {
  data_dir: mkdtempSync(join(tmpdir(), 'stepwright-notifications-')),
  instance_bytes_max: '3000000',
  http_deny_hosts: 'denied.example,169.254.169.254',
};

everyStore(
  'notifications',
  (at) => {
    const messagesTo = (path: string): readonly Message[] =>
      received.filter((each) => each.path === path).map(({ message }) => message);
    const idsTo = (path: string): readonly unknown[] =>
      received.filter((each) => each.path === path).map(({ headers }) => headers['webhook-id']);
    const arrived = (path: string, count: number): Promise<readonly Message[]> =>
      eventually(`${count} messages to ${path}`, () => {
        const found = messagesTo(path);
        return found.length >= count && found;
      });
    const put = async (name: string, settings: JsonObject): Promise<Notification> => {
      const body = JSON.stringify({ secret: SECRET, url: `${target.url}/${name}`, ...settings });
      const path = `/api/notification/${name}`;
      const options = { body, type: 'application/json' };
      const answer = await at.client.call<Notification>('PUT', path, options);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const deliveries = async (name: string, query = ''): Promise<readonly Delivery[]> => {
      const path = `/api/notification/${name}/deliveries${query}`;
      const answer = await at.client.get<DeliveryPage>(path);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.items;
    };
    const delivery = (name: string, holds: (first: Delivery) => boolean): Promise<Delivery> =>
      eventually(`a delivery of ${name}`, async () => {
        const [first] = await deliveries(name);
        return first !== undefined && holds(first) && first;
      });
    const waiting = (): Promise<string> =>
      at.client.defineAndStart([step('wait', 'WaitFor', { EventName: "'go'", EventKey: "'1'" })]);

    beforeEach(() => {
      received.length = 0;
      statuses.clear();
      silent.clear();
    });

    it('reports the start and the end of a run once, with a summary', async () => {
      const name = fresh('ends');
      const definitionId = await at.client.define([compute('one', { x: '1' })]);
      await put(name, { on: ['started', 'completed'], definitionId });
      const id = await at.client.start(definitionId, { amount: 7 }, 'order-1');
      const other = await at.client.run([compute('one', { x: '1' })]);
      expect(other.status).toBe('Complete');
      const messages = await arrived(`/${name}`, 2);
      const types = messages.map(({ type }) => type).toSorted();
      expect(types).toEqual(['workflow.completed', 'workflow.started']);
      const completed = messages.find(({ type }) => type === 'workflow.completed')!;
      const { endTime } = await at.client.workflow(id);
      expect(completed.timestamp).toBe(endTime);
      expect(completed.data).toMatchObject({
        workflowId: id,
        definitionId,
        reference: 'order-1',
        status: 'Complete',
        outcome: 'Succeeded',
        lastError: null,
      });
      expect(completed.data).not.toHaveProperty('data');
      await delivery(name, ({ state }) => state === 'delivered');
      const all = await deliveries(name);
      expect(all.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
      expect(all[0]).toMatchObject({ workflowId: id, attempts: 1, lastAnswer: { status: 204 } });
      expect(new Set(idsTo(`/${name}`))).toEqual(new Set(all.map(({ id: each }) => each)));
    });

    it('includes the data on demand, with exact numbers', async () => {
      const name = fresh('data');
      const definitionId = await at.client.define([compute('one', { big: '2 ** 70' })]);
      await put(name, { on: ['completed'], definitionId, include: 'data' });
      await at.client.start(definitionId, { a: [1, 'é'] });
      const [message] = await arrived(`/${name}`, 1);
      expect(message!.data['data']).toEqual({ a: [1, 'é'], big: 2 ** 70 });
    });

    it('distinguishes errors from actions of people', async () => {
      const name = fresh('apart');
      await put(name, { on: ['failed', 'terminated', 'suspended'] });
      const failed = await at.client.run({
        Steps: [failing('broken')],
        DefaultErrorBehavior: 'Terminate',
      });
      const ended = await waiting();
      await at.client.untilWaiting(ended, 'wait');
      expect((await at.client.control(ended, 'suspend')).status).toBe(200);
      await arrived(`/${name}`, 2);
      expect((await at.client.control(ended, 'resume')).status).toBe(200);
      expect((await at.client.terminate(ended)).status).toBe(200);
      const messages = await arrived(`/${name}`, 3);
      expect(messages.map(({ data, type }) => [type, data['workflowId']])).toEqual([
        ['workflow.failed', failed.workflowId],
        ['workflow.suspended', ended],
        ['workflow.terminated', ended],
      ]);
      expect(messages[0]!.data['lastError']).toMatchObject({ stepId: 'broken' });
    });

    it('reports a run that an error has suspended', async () => {
      const name = fresh('halted');
      await put(name, { on: ['suspended'] });
      const id = await at.client.defineAndStart({
        Steps: [failing('broken')],
        DefaultErrorBehavior: 'Suspend',
      });
      const [message] = await arrived(`/${name}`, 1);
      expect(message).toMatchObject({ data: { workflowId: id, status: 'Suspended' } });
    });

    it('reports a run that the server has set aside', async () => {
      const name = fresh('aside');
      await put(name, { on: ['suspended'] });
      const wait = (index: number): JsonObject[] => [
        step(`wait${index}`, 'Activity', { ActivityName: "'never'", Parameters: '1' }),
      ];
      const branches = Array.from({ length: 20 }, (_, index) => wait(index));
      const each = step('each', 'Foreach', { Collection: 'data.list' }, { Do: branches });
      const list = Array.from({ length: 2 }, () => 'x'.repeat(100_000));
      const id = await at.client.defineAndStart([each], { list });
      const [message] = await arrived(`/${name}`, 1);
      expect(message!.data).toMatchObject({
        workflowId: id,
        status: 'Suspended',
        lastError: { type: 'InstanceTooLarge' },
      });
      await at.client.terminate(id);
      await eventually('the end', async () => (await at.client.workflow(id)).endTime !== null);
      expect(messagesTo(`/${name}`)).toHaveLength(1);
    });

    it('filters by tags and index fields', async () => {
      const name = fresh('where');
      const definitionId = await at.client.define({
        Steps: [compute('one', { total: 'data.amount * 2' })],
        Index: { total: 'data.total' },
      });
      await put(name, { on: ['completed'], definitionId, where: 'total>=20' });
      await at.client.start(definitionId, { amount: 9 });
      const id = await at.client.start(definitionId, { amount: 10 });
      const [message] = await arrived(`/${name}`, 1);
      expect(message!.data['workflowId']).toBe(id);
      expect(await deliveries(name)).toHaveLength(1);
    });

    it('retries a delivery under the same id until the target accepts it', async () => {
      const name = fresh('again');
      const definitionId = await at.client.define([compute('one', { x: '1' })]);
      await put(name, { on: ['completed'], definitionId });
      statuses.set(`/${name}`, 503);
      await at.client.start(definitionId);
      const failed = await delivery(
        name,
        ({ attempts, lastAnswer }) => attempts === 1 && lastAnswer !== null,
      );
      expect(failed).toMatchObject({ state: 'waiting', endTime: null });
      expect(failed.lastAnswer).toMatchObject({ status: 503 });
      const pauseMs = Date.parse(failed.nextAttemptTime!) - Date.parse(failed.lastAnswer!.time);
      expect(pauseMs).toBeLessThan(10_000);
      statuses.delete(`/${name}`);
      await delivery(name, ({ state }) => state === 'delivered');
      expect(idsTo(`/${name}`)).toEqual([failed.id, failed.id]);
    });

    it('repeats a delivery on demand', async () => {
      const name = fresh('redeliver');
      await put(name, { on: ['completed'] });
      await at.client.run([compute('one', { x: '1' })]);
      const { id } = await delivery(name, ({ state }) => state === 'delivered');
      const path = `/api/notification/${name}/deliveries/${id}/redeliver`;
      const answer = await at.client.call<Delivery>('POST', path);
      expect(answer.status, answer.text).toBe(202);
      expect(answer.body).toMatchObject({ id, state: 'waiting', endTime: null });
      await delivery(name, ({ attempts, state }) => state === 'delivered' && attempts === 2);
      expect(messagesTo(`/${name}`)).toHaveLength(2);
      const none = await at.client.call('POST', path.replace(id, 'msg_x'));
      expect([none.status, none.text]).toEqual([
        404,
        expect.stringContaining('delivery_not_found'),
      ]);
    });

    it('pauses when the target is gone, and continues on demand', async () => {
      const name = fresh('gone');
      await put(name, { on: ['completed'] });
      statuses.set(`/${name}`, 410);
      await at.client.run([compute('one', { x: '1' })]);
      const paused = await eventually('the pause', async () => {
        const { body } = await at.client.get<Notification>(`/api/notification/${name}`);
        return body.paused && body;
      });
      expect(paused.pausedBecause).toContain('410');
      expect((await deliveries(name))[0]).toMatchObject({ state: 'failed', attempts: 1 });
      await at.client.run([compute('one', { x: '1' })]);
      expect(await deliveries(name)).toHaveLength(1);
      statuses.delete(`/${name}`);
      const path = `/api/notification/${name}/resume`;
      expect((await at.client.call<Notification>('PUT', path)).body.paused).toBe(false);
      await at.client.run([compute('one', { x: '1' })]);
      await delivery(name, ({ state }) => state === 'delivered');
      expect(await deliveries(name, '?state=failed')).toHaveLength(1);
    });

    it('sends a test message once', async () => {
      const name = fresh('tested');
      await put(name, { on: ['completed'], url: `${target.url}/moved/${name}` });
      const path = `/api/notification/${name}/test`;
      const answer = await at.client.call<Delivery>('POST', path);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ type: 'workflow.test', state: 'delivered', attempts: 1 });
      expect(answer.body.workflowId).toBeNull();
      await put(name, { on: ['completed'], url: 'http://127.0.0.1:1/hooks/token?key=7' });
      const failed = await at.client.call<Delivery>('POST', path);
      expect(failed.body).toMatchObject({ state: 'failed', lastAnswer: { status: null } });
      // The path of a target often contains a token.
      expect(failed.body.lastAnswer!.error).toMatch(
        /^POST http:\/\/127\.0\.0\.1:1: the connection/,
      );
    });

    it('applies the outbound HTTP policy and truncates stored responses', async () => {
      const name = fresh('rules');
      for (const url of ['http://denied.example/x', 'http://169.254.169.254/latest/meta-data']) {
        await put(name, { on: ['completed'], url });
        const answer = await at.client.call<Delivery>('POST', `/api/notification/${name}/test`);
        expect(answer.body).toMatchObject({ state: 'failed', lastAnswer: { status: null } });
        expect(answer.body.lastAnswer!.error).toContain('list of denied hosts');
      }
      await put(name, { on: ['completed'], url: `${target.url}/huge` });
      const huge = await at.client.call<Delivery>('POST', `/api/notification/${name}/test`);
      expect(huge.body.state).toBe('delivered');
      expect(huge.text.length).toBeLessThan(2000);
    });

    it('hides the secret, and keeps it if a change has none', async () => {
      const name = fresh('secret');
      const shown = await put(name, { on: ['failed'] });
      expect(shown).toMatchObject({ name, on: ['failed'], where: [], include: 'summary' });
      const body = JSON.stringify({ url: `${target.url}/${name}`, on: ['completed'] });
      const options = { body, type: 'application/json' };
      const changed = await at.client.call('PUT', `/api/notification/${name}`, options);
      expect(changed.status, changed.text).toBe(200);
      const list = await at.client.get<NotificationPage>('/api/notification');
      const one = await at.client.get(`/api/notification/${name}`);
      for (const { text } of [changed, list, one]) {
        expect(text).not.toContain(SECRET.slice(6, 20));
        expect(text.toLowerCase()).not.toContain('secret"');
      }
      expect(list.body.items.map((each) => each.name)).toContain(name);
      await at.client.run([compute('one', { x: '1' })]);
      await arrived(`/${name}`, 1);
    });

    it('removes a notification with its deliveries', async () => {
      const name = fresh('removed');
      await put(name, { on: ['completed'] });
      expect((await at.client.call('DELETE', `/api/notification/${name}`)).status).toBe(204);
      await at.client.run([compute('one', { x: '1' })]);
      for (const path of ['', '/deliveries']) {
        const answer = await at.client.get(`/api/notification/${name}${path}`);
        expect([answer.status, answer.text]).toEqual([
          404,
          expect.stringContaining('notification_not_found'),
        ]);
      }
      expect((await at.client.call('DELETE', `/api/notification/${name}`)).status).toBe(404);
    });

    it('delivers through the next server if one stops before the target answers', async () => {
      const name = fresh('next');
      await put(name, { on: ['completed'] });
      silent.add(`/${name}`);
      await at.client.run([compute('one', { x: '1' })]);
      await arrived(`/${name}`, 1);
      silent.clear();
      await at.restart();
      const { attempts, id } = await delivery(name, ({ state }) => state === 'delivered');
      expect(attempts).toBe(2);
      expect(idsTo(`/${name}`)).toEqual([id, id]);
    });

    describe('an invalid notification', () => {
      const valid = { url: 'http://x.example', on: ['completed'], secret: SECRET };
      it.each<readonly [string, Json, string]>([
        ['an address without http', { ...valid, url: 'ftp://x' }, 'url must'],
        ['no address', { ...valid, url: 'x' }, 'url must'],
        ['a password in the address', { ...valid, url: 'http://a:b@x' }, 'password'],
        ['an unknown change', { ...valid, on: ['done'] }, 'on'],
        ['no change', { ...valid, on: [] }, 'at least one'],
        ['no secret', { url: 'http://x', on: ['completed'] }, 'secret is missing'],
        ['a secret that is not Base64', { ...valid, secret: 'whsec_!' }, 'Base64'],
        ['a short secret', { ...valid, secret: 'whsec_YWJj' }, '16 to 256 random bytes'],
        ['a condition without operator', { ...valid, where: 'x' }, 'no operator'],
        ['a misspelled member', { ...valid, definitonId: 'x' }, 'Did you mean'],
        ['an unknown include', { ...valid, include: 'all' }, 'include'],
      ])('is refused with %s', async (_what, value, part) => {
        const options = { body: JSON.stringify(value), type: 'application/json' };
        const answer = await at.client.call('PUT', '/api/notification/refused', options);
        expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(part)]);
      });
    });
  },
  { dialects: 'alternating', environment },
);
