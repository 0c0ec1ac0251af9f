/** Work over HTTP whose run is being undone: the store withdraws it as the engine does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readToken } from '../../src/base/ids.js';
import type { Store } from '../../src/store/store.js';
import { activityStep, type WorkItem, type Workflow } from './support/contract-server.js';
import { startRealServer, type RealServer } from './support/real-server.js';

let server: RealServer;
let store: Store;
let names = 0;

beforeAll(async () => {
  server = await startRealServer({}, (real) => (store = real));
});
afterAll(() => server.stop());

/** A work item that a worker has, and that nobody else will get. */
async function withdrawn() {
  const name = `act-${(names += 1)}`;
  const definition = { id: name, steps: [activityStep(name)] };
  await server.call('POST /api/definition', { json: definition });
  const { body: run } = await server.call<Workflow>(`POST /api/workflow/${name}`, {
    json: { n: 1 },
  });
  const { body: item } = await server.call<WorkItem>(
    `GET /api/activity/${name}?timeout=10&lease=60`,
  );
  const { activityId } = readToken(item.token)!;
  await store.withdrawActivities([activityId]);
  const stored = async () => (await store.getActivities([activityId]))[0];
  return { activityId, name, run, stored, token: item.token };
}

const codeOf = async (line: string) => {
  const { body, status } = await server.call(line);
  return [status, body['code']];
};

describe('a worker whose run is being undone', () => {
  it('learns from its heartbeats that the run is being undone, keeps the work, and reports its result', async () => {
    const { name, run, token } = await withdrawn();
    const beat = await server.call(`PUT /api/activity/${token}/heartbeat?lease=600`);
    expect(beat.body).toEqual({
      tokenExpiry: expect.any(String) as unknown,
      cancelRequested: true,
    });
    expect(await codeOf(`GET /api/activity/${name}?timeout=0`)).toEqual([404, 'no_work']);
    const { body: queue } = await server.call(`GET /api/activity/${name}/queue`);
    expect(queue).toMatchObject({ items: [{ workflowId: run.workflowId, state: 'held' }] });
    const report = `POST /api/activity/success/${token}`;
    expect((await server.call(report, { json: 'done' })).status).toBe(202);
    expect((await server.call(report, { json: 'done' })).status).toBe(202);
    expect(await codeOf(`PUT /api/activity/${token}/heartbeat`)).toEqual([
      404,
      'activity_not_found',
    ]);
  });

  it('gives the work back, and no other worker gets it', async () => {
    const { name, stored, token } = await withdrawn();
    expect((await server.call(`DELETE /api/activity/${token}`)).status).toBe(202);
    expect((await server.call(`DELETE /api/activity/${token}`)).status).toBe(202);
    expect(await stored()).toMatchObject({ done: true, withdrawn: false });
    expect(await codeOf(`GET /api/activity/${name}?timeout=0`)).toEqual([404, 'no_work']);
    expect(await codeOf(`POST /api/activity/success/${token}`)).toEqual([
      404,
      'activity_not_found',
    ]);
  });

  it('learns that the work was canceled once the run no longer waits for it', async () => {
    const { run, stored, token } = await withdrawn();
    await server.call(`DELETE /api/workflow/${run.workflowId}`);
    await expect.poll(stored).toMatchObject({ done: true, withdrawn: true });
    for (const line of [
      `PUT /api/activity/${token}/heartbeat?lease=5`,
      `DELETE /api/activity/${token}`,
      `POST /api/activity/success/${token}`,
      `POST /api/activity/fail/${token}`,
    ]) {
      expect(await codeOf(line), line).toEqual([404, 'work_cancelled']);
    }
  });

  it('learns nothing with a wrong token', async () => {
    const { run, stored, token } = await withdrawn();
    await server.call(`DELETE /api/workflow/${run.workflowId}`);
    await expect.poll(stored).toMatchObject({ done: true, withdrawn: true });
    const forged = `${token.split('.')[0]!}.${'A'.repeat(22)}`;
    for (const line of [
      `PUT /api/activity/${forged}/heartbeat`,
      `DELETE /api/activity/${forged}`,
      `POST /api/activity/success/${forged}`,
    ]) {
      expect(await codeOf(line), line).toEqual([404, 'activity_not_found']);
    }
  });
});
