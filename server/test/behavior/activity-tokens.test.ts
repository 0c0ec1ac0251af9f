/** The tokens of activities, and their leases. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity } from './support/steps.js';

everyStore(
  'activity tokens',
  (at) => {
    describe('the token of a work item', () => {
      it("gets 404 and changes nothing if it's unknown", async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const { token } = await client.work(name);
        const forged = `${token.split('.')[0]!}.${'A'.repeat(22)}`;
        for (const wrong of ['x', forged, `${token}x`, '%00', 'a.b.c']) {
          for (const call of ['success', 'fail']) {
            const answer = await client.post<Problem>(`/api/activity/${call}/${wrong}`, 1);
            expect([404, 400], wrong).toContain(answer.status);
          }
          expect([404, 400], wrong).toContain(
            (await client.call('DELETE', `/api/activity/${wrong}`)).status,
          );
          const heartbeat = await client.call('PUT', `/api/activity/${wrong}/heartbeat?lease=5`);
          expect([404, 400], wrong).toContain(heartbeat.status);
        }
        expect(await client.workflow(id)).toMatchObject({ status: 'Runnable', data: {} });
        await client.succeed(token, 'real');
        expect((await client.ended(id)).data).toEqual({ result: 'real' });
      });

      it('accepts the same result again, and rejects a different one', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const { token } = await client.work(name);
        await client.succeed(token, { v: 1 });
        await client.succeed(token, { v: 1 });
        expect((await client.post(`/api/activity/success/${token}`, { v: 2 })).status).toBe(404);
        expect((await client.post(`/api/activity/fail/${token}`, { v: 1 })).status).toBe(404);
        expect((await client.ended(id)).data).toEqual({ result: { v: 1 } });
        await client.succeed(token, { v: 1 });
        expect((await client.call('DELETE', `/api/activity/${token}`)).status).toBe(404);
      });

      it('accepts one of two concurrent results', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const { token } = await client.work(name);
        const answers = await Promise.all(
          [1, 2, 3, 4].map((v) => client.post(`/api/activity/success/${token}`, v)),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([202, 404, 404, 404]);
        const winner = answers.findIndex(({ status }) => status === 202) + 1;
        expect((await client.ended(id)).data).toEqual({ result: winner });
      });

      it('is stale after the item was released, and the item goes to another worker', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const first = await client.work(name);
        expect((await client.call('DELETE', `/api/activity/${first.token}`)).status).toBe(202);
        const second = await client.work(name);
        expect(second).toMatchObject({ workflowId: id, stepId: 'ask' });
        expect(second.token).not.toBe(first.token);
        for (const call of ['success', 'fail']) {
          expect((await client.post(`/api/activity/${call}/${first.token}`, 1)).status).toBe(404);
        }
        expect((await client.call('DELETE', `/api/activity/${first.token}`)).status).toBe(404);
        await client.succeed(second.token, 2);
        expect((await client.ended(id)).data).toEqual({ result: 2 });
      });

      it('changes nothing once its instance has ended', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const { token } = await client.work(name);
        const { body } = await client.terminate(id);
        const late = await client.post(`/api/activity/success/${token}`, 1);
        expect([202, 404]).toContain(late.status);
        // Its node commits once more after the end was written, which changes nothing else.
        expect(await client.workflow(id)).toEqual({
          ...body,
          lastChangeTime: expect.any(String) as string,
        });
      });
    });

    describe('a lease', () => {
      it('releases the item when it expires, and makes the old token stale once another worker claims it', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const first = await client.work(name, '&lease=1');
        const expiresInMs = Date.parse(first.tokenExpiry) - Date.now();
        expect(first.tokenExpiry).toMatch(/Z$/);
        expect(expiresInMs).toBeLessThanOrEqual(1000);
        expect((await client.pull(name)).status).toBe(404);
        // This poll is parked while the lease expires.
        const second = await client.work(name, '&lease=60');
        expect(second).toMatchObject({ workflowId: id, attempt: 2 });
        expect((await client.post(`/api/activity/success/${first.token}`, 1)).status).toBe(404);
        await client.succeed(second.token, 2);
        expect((await client.ended(id)).data).toEqual({ result: 2 });
      });

      it('is extended by heartbeats', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const item = await client.work(name, '&lease=1');
        const answer = await client.call<{ tokenExpiry: string }>(
          'PUT',
          `/api/activity/${item.token}/heartbeat?lease=60`,
        );
        expect(answer.status).toBe(200);
        expect(Date.parse(answer.body.tokenExpiry)).toBeGreaterThan(Date.now() + 50_000);
        expect((await client.pull(name, '?timeout=2')).status).toBe(404);
        await client.succeed(item.token, 1);
        expect((await client.ended(id)).data).toEqual({ result: 1 });
      });

      it('is extended by its original duration if the heartbeat gives none', async () => {
        const { client } = at;
        const name = fresh('work');
        const id = await client.defineAndStart([activity('ask', name)]);
        const beat = (token: string) =>
          client.call<{ tokenExpiry: string }>('PUT', `/api/activity/${token}/heartbeat`);
        const leased = await client.work(name, '&lease=60');
        const from = Date.now();
        const extended = await beat(leased.token);
        expect(extended.status, extended.text).toBe(200);
        // The test and the server use the same clock, except for rounding.
        expect(Date.parse(extended.body.tokenExpiry)).toBeGreaterThanOrEqual(from + 59_000);
        expect(Date.parse(extended.body.tokenExpiry)).toBeLessThanOrEqual(Date.now() + 61_000);
        await client.call('DELETE', `/api/activity/${leased.token}`);
        expect((await beat(leased.token)).status).toBe(404);
        const kept = await client.work(name);
        expect((await beat(kept.token)).body.tokenExpiry).toBe(kept.tokenExpiry);
        await client.succeed(kept.token, 1);
        expect((await client.ended(id)).data).toEqual({ result: 1 });
      });

      it.each(['0', '-1', 'x', '1.5'])("is rejected if it's %s", async (lease) => {
        const { client } = at;
        expect((await client.pull(fresh('none'), `?lease=${lease}`)).status).toBe(400);
        expect((await client.call('PUT', `/api/activity/x/heartbeat?lease=${lease}`)).status).toBe(
          400,
        );
      });
    });
  },
  { dialects: 'alternating' },
);
