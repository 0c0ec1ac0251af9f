/**
 * Which runs a controller with a narrowed scope can start, by every door: runs of the definitions that the scope reaches, and no
 * others, also not by way of events, whose triggers belong to anybody.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, isApiError } from '../../../sdk/src/index.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { PublisherPermissions } from '../../src/runtime/triggers/publisher-permissions.js';
import { nameKeyOf } from '../../src/base/ids.js';
import type { Store } from '../../src/store/store.js';
import { bulkDone, postBulk } from './support/bulk.js';
import { fresh, type Client } from './support/client.js';
import { deliver, runsOf, SECRET, triggerOf } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';
import { clientWith, TOKEN_ENVIRONMENT, tokenWith } from './support/token-client.js';

const END = step('end', 'NoOp');

everyStore(
  'runs of others',
  (at) => {
    let admin: Client;
    let prefix: string;

    const begin = async () => {
      admin = await clientWith(at.client.url, 'conductor:admin');
    };
    beforeAll(begin);

    const own = () => clientWith(at.client.url, `conductor:controller:${prefix}-in*`);
    /** A definition of each team, with a trigger on the event. */
    const twoTeams = async () => {
      prefix = fresh('team');
      const event = `${prefix}-event`;
      const Triggers = [{ Name: 'main', Event: { Name: event } }];
      const teams = { event, inside: `${prefix}-in-a`, outside: `${prefix}-out-a` };
      for (const Id of [teams.inside, teams.outside]) {
        const { status, text } = await admin.postDefinition({ Id, Triggers, Steps: [END] });
        expect(status, text).toBe(201);
      }
      return teams;
    };
    const define = async (Id: string, EventName: string) => {
      const Steps = [step('wait', 'WaitFor', { EventName, EventKey: '"key"' })];
      const { status, text } = await admin.postDefinition({ Id, Steps });
      expect(status, text).toBe(201);
      return Id;
    };
    const startWaiting = async (id: string, data = {}) => {
      const run = await admin.start(id, data);
      await admin.untilWaiting(run, 'wait');
      return run;
    };
    const untilFired = async (id: string, outcome: string) => {
      await expect.poll(async () => (await triggerOf(admin, id)).last?.outcome).toBe(outcome);
      return (await triggerOf(admin, id)).last!;
    };
    const publish = async (caller: Client, name: string) =>
      (await caller.post(`/api/event/${name}/key`, {})).status;

    describe('an event of a narrowed caller', () => {
      it('starts runs of the definitions that its scope reaches, and of no others', async () => {
        const { event, inside, outside } = await twoTeams();
        expect(await publish(await own(), event)).toBe(202);
        await untilFired(inside, 'Started');
        const { reason, workflowId } = await untilFired(outside, 'Skipped');
        expect([workflowId, reason]).toEqual([null, expect.stringContaining('do not reach')]);
        expect(await runsOf(admin, inside)).toHaveLength(1);
        expect(await runsOf(admin, outside)).toEqual([]);
      });

      it('reaches waiting runs of others too', async () => {
        const { event } = await twoTeams();
        const run = await startWaiting(await define(`${prefix}-out-waits`, `"${event}"`));
        await (await own()).publish(event, 'key', {});
        await admin.ended(run);
      });

      it('starts no further runs when its delivery is repeated after a crash', async () => {
        const { event, inside, outside } = await twoTeams();
        const crashAt = async (change: (store: Store) => Promise<void>) => {
          await at.restart(change);
          await begin();
        };
        const published = (id: string, noted: boolean) => async (store: Store) => {
          const name = { id, nameKey: nameKeyOf(event, 'key'), name: event, key: 'key' };
          const about = { data: '{}', publishedAt: Date.now(), deliveredTo: null };
          const record = { ...name, ...about, requestHash: null };
          const settings = { eventRetentionMs: 1e9 };
          const reaches = new PublisherPermissions({ store, settings });
          if (noted) await reaches.note(record, [`${prefix}-in`]);
          await store.insertEvent(record);
        };
        await crashAt(published(`n-${fresh('event')}`, true));
        await untilFired(inside, 'Started');
        await untilFired(outside, 'Skipped');
        // Whom the publisher reaches is unknown: then it is nobody.
        await crashAt(published(`n-${fresh('event')}`, false));
        await untilFired(inside, 'Skipped');
        expect(await runsOf(admin, inside)).toHaveLength(1);
        expect(await runsOf(admin, outside)).toEqual([]);
      });

      it("has one effect per key, however often it's published", async () => {
        const { event, inside, outside } = await twoTeams();
        const caller = await own();
        const headers = { 'Idempotency-Key': fresh('key') };
        const answers = await Promise.all(
          [1, 2, 3].map(() => caller.post<{ id: string }>(`/api/event/${event}/key`, {}, headers)),
        );
        expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
        await untilFired(inside, 'Started');
        expect(await runsOf(admin, inside)).toHaveLength(1);
        expect(await runsOf(admin, outside)).toEqual([]);
      });
    });

    it('starts runs of all by an event of a caller with the whole scope, or of a webhook', async () => {
      const { event, inside, outside } = await twoTeams();
      await (await clientWith(at.client.url, 'conductor:controller')).publish(event, 'key', {});
      const hook = fresh('hook');
      const body = {
        scheme: 'github',
        secret: SECRET,
        publish: { name: `"${event}"`, key: '"key"' },
      };
      const put = async (caller: Client) =>
        caller.call('PUT', `/api/webhook/${hook}`, {
          body: JSON.stringify(body),
          type: 'application/json',
        });
      // Only an author, who reaches everything, can set up a door for others.
      expect((await put(await own())).status).toBe(403);
      expect((await put(admin)).status).toBe(200);
      expect((await deliver(admin, hook, {})).status).toBe(202);
      await expect.poll(async () => (await runsOf(admin, inside)).length).toBe(2);
      await expect.poll(async () => (await runsOf(admin, outside)).length).toBe(2);
    });

    describe('the right to publish an event', () => {
      it("doesn't come from a computed name, whatever waits for it", async () => {
        const { event, outside } = await twoTeams();
        const id = `${prefix}-in-computed`;
        const texts = ['data.event', 'f"{data.event}"', '"" + data.event', 'str(data.event)'];
        for (const text of texts) await define(id, text);
        await define(`${prefix}-in-b`, '"something else"');
        const caller = await clientWith(
          at.client.url,
          `conductor:controller:${prefix}-in-c* conductor:viewer:${prefix}-in-c*`,
        );
        const run = await caller.start(id, { event });
        await admin.untilWaiting(run, 'wait');
        expect(await publish(caller, event)).toBe(403);
        // By no other way to have a run that waits for it.
        const reason = { reason: 'because' };
        expect((await caller.post(`/api/workflow/${run}/restart`, reason)).status).toBe(201);
        const data = { ...reason, data: { event } };
        expect((await caller.post(`/api/workflow/${run}/rerun`, data)).status).toBe(200);
        expect((await caller.post(`/api/workflow/${run}/modify`, data)).status).toBe(200);
        const { body: job } = await postBulk(caller, { action: 'restart', workflowIds: [run] });
        await bulkDone(admin, job.id);
        expect(await publish(caller, event)).toBe(403);
        const named = await caller.post<Problem>(`/api/event/${event}/key?workflowId=${run}`, {});
        expect([named.status, named.body.detail]).toEqual([
          403,
          expect.stringContaining('Names that expressions compute do not count'),
        ]);
        expect((await triggerOf(admin, outside)).last).toBeNull();
        expect(await runsOf(admin, outside)).toEqual([]);
      });

      it('comes from a literal name, also in the version of a waiting run', async () => {
        const { event } = await twoTeams();
        const id = await define(`${prefix}-in-old`, `"${event}-old"`);
        const run = await startWaiting(id);
        await define(id, `"${event}-new"`);
        const caller = await own();
        expect(await publish(caller, `${event}-new`)).toBe(202);
        expect(await publish(caller, `${event}-old`)).toBe(202);
        await admin.ended(run);
      });

      it('is refused to the SDK with its own error code', async () => {
        const { outside } = await twoTeams();
        const token = await tokenWith(`conductor:controller:${prefix}-in*`);
        const client = createClient({ baseUrl: at.client.url, token });
        const refusals = await Promise.all([
          client.events.publish('nothing', 'key', {}).catch((error: unknown) => error),
          client.workflows.start(outside, {}).catch((error: unknown) => error),
        ]);
        expect(refusals.map((error) => isApiError(error, 'forbidden'))).toEqual([true, true]);
      });
    });

    it('starts nothing outside the scope through any other call', async () => {
      const { outside } = await twoTeams();
      const caller = await own();
      const run = await admin.start(outside, {});
      const reason = { reason: 'because' };
      const triggers = `/api/definition/${outside}/triggers/main`;
      const statuses = [
        await caller.post(`/api/workflow/${outside}`, {}),
        await caller.post(`/api/workflow/${run}/restart`, reason),
        await caller.post(`/api/workflow/${run}/rerun`, reason),
        await caller.post(`/api/workflow/${run}/modify`, { ...reason, start: [{ stepId: 'end' }] }),
        await caller.call('PUT', `/api/workflow/${run}/retry`),
        await caller.post(`${triggers}/fire`, {}),
        await caller.post(`${triggers}/backfill`, { from: '2026-01-01', to: '2026-01-02' }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([403, 404, 404, 404, 404, 404, 404]);
      const { body: job } = await postBulk(caller, { action: 'restart', workflowIds: [run] });
      expect(await bulkDone(admin, job.id)).toMatchObject({ done: 0, failed: 1 });
      expect(await runsOf(admin, outside)).toHaveLength(1);
    });
  },
  { environment: TOKEN_ENVIRONMENT, dialects: 'alternating' },
);
