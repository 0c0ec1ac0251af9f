/** GET /api/stream with whole servers: the reported changes, across nodes with Redis, and at the end of a server. */
import { afterAll, describe, expect, it } from 'vitest';
import { startRedis } from '../support/redis-container.js';
import { Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { LiveChanges, type LiveChange } from './support/live-changes.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { mark, step } from './support/steps.js';

async function listeners(client: Client): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(/^stepwright_change_listeners (\d+)$/m.exec(text)?.[1]);
}

const WAIT = [step('wait', 'WaitFor', { EventName: "'never'", EventKey: "'k'" })];

everyStore(
  'the stream of changes',
  (at) => {
    it('reports the events in the life of a run, and new definitions', async () => {
      const live = await LiveChanges.open(at.server.url);
      const definitionId = await at.client.define(WAIT);
      await live.until((change) => change.event === 'definition' && change.data['version'] === 1);
      const id = await at.client.start(definitionId, {}, 'mine');
      const is = (status: string) =>
        live.until(({ data }) => data['workflowId'] === id && data['status'] === status);
      expect((await is('Runnable')).data).toMatchObject({ definitionId, reference: 'mine' });
      await at.client.control(id, 'suspend');
      await is('Suspended');
      await at.client.control(id, 'resume');
      await is('Runnable');
      await at.client.terminate(id);
      const { data } = await is('Terminated');
      expect(data['endTime']).toBe((await at.client.workflow(id)).endTime);
      live.close();
    });

    it('reports how a run ended, and which run started it', async () => {
      const child = await at.client.define([mark('a')]);
      const top = await at.client.define([
        step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }),
      ]);
      // The order of the two is not defined.
      const ofChild = await LiveChanges.open(at.server.url, `?definitionId=${child}`);
      const ofTop = await LiveChanges.open(at.server.url, `?definitionId=${top}`);
      const workflowId = await at.client.start(top);
      const hasEnded = ({ data }: LiveChange) => data['outcome'] === 'Succeeded';
      expect((await ofChild.until(hasEnded)).data).toMatchObject({ parent: { workflowId } });
      expect((await ofTop.until(hasEnded)).data).toMatchObject({ workflowId, parent: null });
      ofChild.close();
      ofTop.close();
    });

    it('reports an ended run that was restarted', async () => {
      const definitionId = await at.client.define([mark('a')]);
      const { workflowId } = await at.client.ended(await at.client.start(definitionId));
      const live = await LiveChanges.open(at.server.url, `?definitionId=${definitionId}`);
      const path = `/api/workflow/${workflowId}/restart`;
      expect((await at.client.post(path, { reason: 'again' })).status).toBe(201);
      await live.until(({ data }) => data['workflowId'] === workflowId);
      expect((await at.client.workflow(workflowId)).restartedAs).not.toBeNull();
      live.close();
    });

    it('reports the time of the failure that suspended a run', async () => {
      const definitionId = await at.client.define({
        DefaultErrorBehavior: 'Suspend',
        Steps: [step('bad', 'NoOp', {}, { Outputs: { x: 'data.nothing' } })],
      });
      const live = await LiveChanges.open(at.server.url, `?definitionId=${definitionId}`);
      const id = await at.client.start(definitionId);
      const { data } = await live.until((change) => change.data['status'] === 'Suspended');
      expect(data['workflowId']).toBe(id);
      expect(data['failureTime']).toBe((await at.client.workflow(id)).lastError?.time);
      live.close();
    });

    it('leaves no resources behind when the listener disconnects', async () => {
      const live = await Promise.all([1, 2, 3].map(() => LiveChanges.open(at.server.url)));
      // Listeners of earlier cases may still be disconnecting.
      await expect.poll(() => listeners(at.client)).toBe(3);
      for (const one of live) one.close();
      await expect.poll(() => listeners(at.client)).toBe(0);
    });

    it('ends at once when the server stops', async () => {
      const live = await LiveChanges.open(at.server.url);
      await at.restart();
      expect(await live.ended).toBe('closed');
    });
  },
  { dialects: 'alternating' },
);

describe('on another node', async () => {
  const redis = await startRedis();
  afterAll(() => redis?.stop());

  async function twoNodes(
    environment: Readonly<Record<string, string>>,
  ): Promise<readonly [SpawnedServer, SpawnedServer]> {
    const common = { PORT: '0', DATA_DIR: await temporaryFolder(), python_spares: '0' };
    return [
      await startProcess({ ...common, ...environment }),
      await startProcess({ ...common, ...environment }),
    ];
  }

  it.skipIf(redis === null)('is delivered over Redis', { timeout: 60_000 }, async () => {
    const [here, there] = await twoNodes({ redis: redis!.url, db_name: 'live-changes' });
    const live = await LiveChanges.open(here.url);
    const elsewhere = new Client(there.url);
    const definitionId = await elsewhere.define([mark('a')]);
    await live.until(({ event, data }) => event === 'definition' && data['id'] === definitionId);
    const id = await elsewhere.start(definitionId);
    await live.until(({ data }) => data['workflowId'] === id && data['status'] === 'Complete');
    live.close();
  });

  it(
    'reports a lag without Redis, so that clients read lists again',
    { timeout: 60_000 },
    async () => {
      const [here, there] = await twoNodes({});
      // A node learns about another one with its next heartbeats.
      await new Client(there.url).define([mark('a')]);
      const live = await LiveChanges.open(here.url);
      await live.until(({ event }) => event === 'lag');
      live.close();
    },
  );
});
