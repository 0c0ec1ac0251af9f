/** The audit log: who changed what, from which address, newest first. On every kind of store. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry, AuditPage } from '../../src/api/wire/models/audit.js';
import type { DefinitionPage } from '../../src/api/wire/models/definition.js';
import type { CreatedApiKey } from '../../src/api/wire/models/key.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { RepairedWorkflow } from '../../src/api/wire/models/repair.js';
import type { StepPage } from '../../src/api/wire/models/step.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { Client, fresh, type Answer } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { STORE_KINDS, type TestStore } from './support/stores.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const environment = {
  auth: 'true',
  alg: 'RS256',
  publickey: rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
};
const SECRET = 'marked-secret-4711-abcdefgh';
const WEBHOOK = {
  scheme: 'github',
  secret: SECRET,
  publish: { name: "'push'", key: "'k'" },
};

function tokenOf(sub: string, scope = 'conductor:admin'): Promise<string> {
  return new SignJWT({ scope, sub })
    .setProtectedHeader({ alg: 'RS256' })
    .setExpirationTime('10m')
    .sign(rsa.privateKey);
}

describe.each(STORE_KINDS.filter(({ available }) => available))(
  'the audit log ($kind)',
  (storeKind) => {
    let store: TestStore;
    let server: TestServer;
    let client: Client;
    let ada: string;
    let bob: string;

    beforeAll(async () => {
      store = await storeKind.create();
      server = await startServer({ store: store.open(), environment });
      client = new Client(server.url);
      ada = await tokenOf('ada');
      bob = await tokenOf('bob');
    });
    afterAll(async () => {
      await server.stop();
      await store.remove();
    });

    const call = <Body>(
      method: string,
      path: string,
      bearer: string,
      body?: unknown,
    ): Promise<Answer<Body & Problem>> =>
      client.call<Body & Problem>(method, path, {
        headers: { authorization: `Bearer ${bearer}` },
        ...(body !== undefined && { body: JSON.stringify(body), type: 'application/json' }),
      });
    const done = async <Body>(...request: Parameters<typeof call>): Promise<Body> => {
      const answer = await call<Body>(...request);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const page = (query: string): Promise<AuditPage> => done('GET', `/api/audit?${query}`, ada);
    const entries = async (query: string): Promise<readonly AuditEntry[]> =>
      (await page(query)).items;
    const define = async (): Promise<string> => {
      const id = fresh('audited');
      const wait = {
        id: 'wait',
        stepType: 'WaitFor',
        inputs: { eventName: "'e'", eventKey: "'k'" },
      };
      await done('POST', '/api/definition', ada, { id, steps: [wait] });
      return id;
    };

    it('costs a call one store write, and is counted', async () => {
      const metric = async (name: string): Promise<number> => {
        const { text } = await client.get('/metrics');
        return Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')[1] ?? 0,
        );
      };
      const writes = 'stepwright_store_operations_total{operation="saveResource",result="ok"}';
      const entries = 'stepwright_audit_entries_total{target="workflow",result="stored"}';
      const wait = { Id: 'w', StepType: 'WaitFor', Inputs: { EventName: '"e"', EventKey: '"k"' } };
      const Id = fresh('definition');
      await done('POST', '/api/definition', ada, { Id, Steps: [wait] });
      const { workflowId } = await done<Workflow>('POST', `/api/workflow/${Id}`, ada, {});
      const before = [await metric(writes), await metric(entries)] as const;
      await done('PUT', `/api/workflow/${workflowId}/suspend`, ada);
      await done('GET', `/api/workflow/${workflowId}`, ada);
      expect(await metric(writes)).toBe(before[0] + 1);
      expect(await metric(entries)).toBe(before[1] + 1);
    });

    it('shows who changed what and when, and from which address', async () => {
      const before = Date.now();
      const id = await define();
      const [entry, ...others] = await entries(`targetId=${id}`);
      expect(others).toEqual([]);
      expect(entry).toEqual({
        id: expect.any(String) as string,
        time: expect.stringMatching(/Z$/) as string,
        actor: 'ada',
        address: '127.0.0.1',
        action: 'definition.register',
        target: { kind: 'definition', id },
        detail: 'version 1',
      });
      expect(Math.abs(Date.parse(entry!.time) - before)).toBeLessThan(60_000);
    });

    it('contains every action on a run, newest first, but no refused one', async () => {
      const started = await done<Workflow>('POST', `/api/workflow/${await define()}`, ada, {});
      const id = started.workflowId;
      await done('PUT', `/api/workflow/${id}/suspend`, bob);
      expect((await call('PUT', `/api/workflow/${id}/suspend`, bob)).status).toBe(400);
      await done('PATCH', '/api/workflow', ada, { action: 'resume', workflowIds: [id, 'none'] });
      await done('PATCH', `/api/workflow/${id}/tags`, ada, { region: 'eu' });
      await done('POST', `/api/workflow/${id}/rerun`, bob, { from: 'wait', reason: 'late' });
      await done('DELETE', `/api/workflow/${id}`, bob);
      const found = await entries(`targetKind=workflow&targetId=${id}`);
      expect(found.map(({ action, actor, detail }) => [action, actor, detail])).toEqual([
        ['workflow.terminate', 'bob', null],
        ['workflow.rerun', 'bob', 'late'],
        ['workflow.set-tags', 'ada', null],
        ['workflow.resume', 'ada', null],
        ['workflow.suspend', 'bob', null],
      ]);
      expect(await entries('targetId=none')).toEqual([]);
    });

    it('contains the event that an operator publishes for a run, and no other', async () => {
      const { workflowId } = await done<Workflow>(
        'POST',
        `/api/workflow/${await define()}`,
        ada,
        {},
      );
      await done('POST', '/api/event/for-nobody/k', bob, {});
      await done('POST', `/api/event/for-a-run/secret-key?workflowId=${workflowId}`, bob, {});
      const found = await entries('actor=bob&action=workflow.publish-event');
      expect(found.map(({ detail, target }) => [target, detail])).toEqual([
        [{ kind: 'workflow', id: workflowId }, 'for-a-run'],
      ]);
    });

    it('distinguishes a purge from a termination, and contains the run that a start replaced', async () => {
      const definition = await define();
      const start = `/api/workflow/${definition}?reference=r&onConflict=terminate`;
      const first = await done<Workflow>('POST', start, ada, {});
      expect(await entries(`targetId=${first.workflowId}`)).toEqual([]);
      const second = await done<Workflow>('POST', `${start}&wait=1`, bob, {});
      await done('DELETE', `/api/workflow/${second.workflowId}?compensate=TRUE`, ada);
      await done('DELETE', `/api/workflow/${first.workflowId}?purge=True`, ada);
      const told = async (id: string): Promise<readonly unknown[]> =>
        (await entries(`targetId=${id}`)).map(({ action, actor, detail }) => [
          action,
          actor,
          detail,
        ]);
      expect(await told(first.workflowId)).toEqual([
        ['workflow.purge', 'ada', null],
        ['workflow.terminate', 'bob', 'replaced by a start with its reference'],
      ]);
      expect(await told(second.workflowId)).toEqual([
        ['workflow.terminate', 'ada', 'with compensation'],
      ]);
    });

    it('contains no values from bodies, and no modification that was only tried', async () => {
      const act = {
        id: 'act',
        stepType: 'Activity',
        inputs: { activityName: `'${fresh('ship')}'` },
      };
      const id = fresh('audited');
      await done('POST', '/api/definition', ada, { id, steps: [act] });
      const started = await done<Workflow>('POST', `/api/workflow/${id}`, ada, {});
      const run = `/api/workflow/${started.workflowId}`;
      await done('PATCH', `${run}/tags`, ada, { reason: 'a tag' });
      await done('POST', `${run}/modify`, ada, { reason: 'tried', data: { x: 1 }, dryRun: true });
      const { started: steps } = await done<RepairedWorkflow>('POST', `${run}/rerun`, ada, {
        reason: 'stuck',
      });
      const answer = `${run}/steps/${steps[0]!.executionId}/success`;
      const result = { reason: 'a result' };
      // Refused until the step waits for its activity.
      await expect.poll(async () => (await call('POST', answer, ada, result)).status).toBe(202);
      const found = await entries(`targetId=${started.workflowId}`);
      expect(found.map(({ action, detail }) => [action, detail])).toEqual([
        ['workflow.complete-activity', null],
        ['workflow.rerun', 'stuck'],
        ['workflow.set-tags', null],
      ]);
    });

    it('contains webhooks, limits, notifications, definitions and bulk jobs without their secrets', async () => {
      const name = fresh('w');
      const id = await define();
      await done('PUT', `/api/webhook/${name}`, bob, WEBHOOK);
      await done('DELETE', `/api/webhook/${name}`, bob);
      await done('PUT', `/api/limit/${name}`, bob, { concurrency: 1 });
      await done('DELETE', `/api/limit/${name}`, bob);
      const secret = `whsec_${Buffer.from(SECRET).toString('base64')}`;
      const notification = { url: 'https://example.com/', on: ['failed'], secret };
      await done('PUT', `/api/notification/${name}`, bob, notification);
      await done('DELETE', `/api/notification/${name}`, bob);
      await done('PUT', `/api/definition/${id}/disable`, bob);
      const actions = (await entries(`targetId=${name}`)).map(({ action }) => action);
      expect(actions).toEqual([
        'notification.remove',
        'notification.put',
        'limit.remove',
        'limit.put',
        'webhook.remove',
        'webhook.put',
      ]);
      expect((await entries(`actor=bob&action=definition.disable&targetId=${id}`)).length).toBe(1);
      const { text } = await call('GET', '/api/audit?limit=500', ada);
      expect(text).not.toContain(SECRET);
      const bulk = { action: 'suspend', filter: { definitionId: id }, reason: 'maintenance' };
      await done('POST', '/api/bulk', ada, { ...bulk, dryRun: true });
      const job = await done<{ readonly id: string }>('POST', '/api/bulk', ada, bulk);
      expect((await entries('targetKind=bulk')).map(({ target }) => target.id)).toEqual([job.id]);
    });

    it('is listed in pages, by time, and only for administrators', async () => {
      const ids = [await define(), await define(), await define()];
      const { items, nextCursor } = await page('action=definition.register&limit=2');
      expect(items.map(({ target }) => target.id)).toEqual([ids[2], ids[1]]);
      const rest = await page(`action=definition.register&limit=1&cursor=${nextCursor!}`);
      expect(rest.items.map(({ target }) => target.id)).toEqual([ids[0]]);
      const third = items[0]!.time;
      const earlier = await entries(`action=definition.register&to=${third}&limit=500`);
      expect(earlier.map(({ target }) => target.id)).not.toContain(ids[2]);
      const later = await entries(`action=definition.register&from=${third}`);
      expect(later.map(({ target }) => target.id)).toContain(ids[2]);
      expect(await entries('from=2999-01-01')).toEqual([]);
      expect((await call('GET', '/api/audit?from=soon', ada)).status).toBe(400);
      const author = await tokenOf('eve', 'conductor:author conductor:controller conductor:viewer');
      expect((await call('GET', '/api/audit', author)).status).toBe(403);
      for (const method of ['DELETE', 'PUT', 'POST', 'PATCH']) {
        expect((await call(method, '/api/audit', ada)).status).toBe(405);
      }
    });

    it('shows a key as the actor, and contains its creation and removal', async () => {
      const name = fresh('deployment key');
      const scopes = ['conductor:author'];
      const { id, key } = await done<CreatedApiKey>('POST', '/api/key', ada, { name, scopes });
      const webhook = fresh('by-key');
      await done('PUT', `/api/webhook/${webhook}`, key, WEBHOOK);
      await done('DELETE', `/api/key/${id}`, bob);
      expect((await entries(`targetId=${webhook}`)).map(({ actor }) => actor)).toEqual([name]);
      const found = await entries(`targetKind=key&targetId=${id}`);
      expect(found.map(({ action, actor, detail }) => [action, actor, detail])).toEqual([
        ['key.remove', 'bob', null],
        ['key.create', 'ada', name],
      ]);
      expect((await call('GET', '/api/audit?limit=500', ada)).text).not.toContain(key);
    });

    it('is complete: definitions and custom steps show who stored each version', async () => {
      const id = await define();
      const { key } = await done<CreatedApiKey>('POST', '/api/key', ada, {
        name: 'pipeline',
        scopes: ['conductor:author'],
      });
      const document = { id, steps: [{ id: 'a', stepType: 'NoOp' }] };
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': fresh('key') };
      // The second request is answered with the same version.
      for (let n = 0; n < 2; n += 1) {
        const posted = await client.call('POST', '/api/definition', {
          headers,
          body: JSON.stringify(document),
          type: 'application/json',
        });
        expect(posted.body, posted.text).toMatchObject({ version: 2 });
      }
      const versions = await done<DefinitionPage>('GET', `/api/definition/${id}/versions`, ada);
      const authors = versions.items.map(({ createdBy, version }) => [version, createdBy]);
      expect(authors).toEqual([
        [2, 'pipeline'],
        [1, 'ada'],
      ]);
      const all = await done<DefinitionPage>('GET', '/api/definition?limit=500', ada);
      expect(all.items.find((item) => item.id === id)).toMatchObject({ createdBy: 'pipeline' });
      const name = fresh('script');
      for (const bearer of [ada, bob]) {
        const put = await client.call('POST', `/api/step/${name}`, {
          headers: { authorization: `Bearer ${bearer}` },
          body: 'a = 1',
          type: 'text/x-python',
        });
        expect(put.status, put.text).toBe(200);
      }
      const scripts = await done<StepPage>('GET', `/api/step/${name}/versions`, ada);
      expect(scripts.items.map(({ createdBy }) => createdBy)).toEqual(['bob', 'ada']);
      const steps = await done<StepPage>('GET', '/api/step?limit=500', ada);
      expect(steps.items.find((step) => step.name === name)).toMatchObject({ createdBy: 'bob' });
    });

    it('survives a server restart', async () => {
      const id = await define();
      await server.stop();
      server = await startServer({ store: store.open(), environment });
      client = new Client(server.url);
      expect(await entries(`targetId=${id}`)).toHaveLength(1);
    });
  },
);
