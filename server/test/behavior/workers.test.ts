/** GET /api/workers: who polls, what each worker holds, clients that say nothing about themselves, and hostile ids. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Worker, WorkerList } from '../../src/api/wire/models/worker.js';
import type { WorkItem } from '../../src/api/wire/models/activity.js';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { activity } from './support/steps.js';

everyStore(
  'the list of workers',
  (at) => {
    const list = async (query: string): Promise<WorkerList> => {
      const { body, status, text } = await at.client.get<WorkerList>(`/api/workers${query}`);
      expect(status, text).toBe(200);
      return body;
    };
    const workerOf = async (workerId: string): Promise<Worker | undefined> =>
      (await list(`?workerId=${workerId}`)).items[0];
    const pull = (name: string, query: string, headers: Readonly<Record<string, string>> = {}) =>
      at.client.call('GET', `/api/activity/${name}?${query}`, { headers });

    it('shows a waiting worker with the details from its polls', async () => {
      const name = fresh('queue');
      const workerId = fresh('w');
      const hangUp = new AbortController();
      const headers = { 'x-worker-host': 'mailer-1', 'x-worker-version': '2.4.1' };
      const path = `/api/activity/${name}?workerId=${workerId}&timeout=60`;
      const { signal } = hangUp;
      const poll = at.client.call('GET', path, { headers, signal }).catch(() => undefined);
      const waiting = await eventually('the poll is waiting', async () => {
        const worker = await workerOf(workerId);
        return worker?.polling === 1 && worker;
      });
      expect(waiting).toMatchObject({
        workerId,
        host: 'mailer-1',
        version: '2.4.1',
        address: expect.stringMatching(/127\.0\.0\.1|::1/) as unknown,
        activities: [{ activityName: name, polling: 1 }],
        held: 0,
        items: [],
      });
      hangUp.abort();
      await poll;
      await eventually('the poll is over', async () => (await workerOf(workerId))?.polling === 0);
      expect((await list(`?activityName=${name}`)).items).toHaveLength(1);
      expect((await list(`?activityName=${name}x`)).items).toEqual([]);
    });

    it('shows the items that a worker holds, and since when', async () => {
      const name = fresh('queue');
      const workerId = fresh('w');
      const runs = [];
      const definition = await at.client.define([activity('ask', name)]);
      for (let left = 2; left > 0; left -= 1) runs.push(await at.client.start(definition));
      const before = Date.now();
      const first = await pull(name, `workerId=${workerId}&timeout=30&lease=60`);
      const second = await pull(name, `workerId=${workerId}&timeout=30`);
      const tokens = [first, second].map(({ body }) => (body as WorkItem).token);
      const holder = await workerOf(workerId);
      expect(holder).toMatchObject({ held: 2, polling: 0 });
      expect(holder!.items.map(({ workflowId }) => workflowId).sort()).toEqual(runs.sort());
      for (const { activityName, attempt, heldSince } of holder!.items) {
        expect({ activityName, attempt }).toEqual({ activityName: name, attempt: 1 });
        expect(Date.parse(heldSince!)).toBeGreaterThanOrEqual(before - 1000);
      }
      await at.client.call('POST', `/api/activity/success/${tokens[0]}`);
      await at.client.call('DELETE', `/api/activity/${tokens[1]}`);
      expect(await workerOf(workerId)).toMatchObject({ held: 0, items: [] });
    });

    it('keeps a held item without a lease with its worker forever', async () => {
      const name = fresh('queue');
      const workerId = fresh('w');
      await at.client.start(await at.client.define([activity('ask', name)]));
      await pull(name, `workerId=${workerId}&timeout=30`);
      await eventually('the claim is permanent', async () => {
        const worker = await workerOf(workerId);
        return worker?.items[0]?.leaseUntil === null;
      });
      expect(await workerOf(workerId)).toMatchObject({ held: 1 });
    });

    it('distinguishes clients without an id by their address', async () => {
      const name = fresh('queue');
      expect((await pull(name, 'timeout=0')).status).toBe(404);
      const [worker] = (await list(`?activityName=${name}`)).items;
      expect(worker).toMatchObject({ workerId: '', host: null, version: null });
      expect(worker!.address).toMatch(/127\.0\.0\.1|::1/);
    });

    it('rejects ids and headers that are too long or contain control characters', async () => {
      const long = 'x'.repeat(201);
      const name = fresh('queue');
      expect((await pull(name, `workerId=${long}`)).text).toContain('longer than 200');
      expect((await pull(name, 'workerId=a%07b')).text).toContain('control character');
      const tooLong = await pull(name, 'workerId=a', { 'x-worker-host': long });
      expect(tooLong.status).toBe(400);
      expect(tooLong.text).toContain('X-Worker-Host');
      const limit = await at.client.get('/api/workers?limit=501');
      expect(limit.status).toBe(400);
    });
  },
  { dialects: [CAMEL_JSON] },
);
