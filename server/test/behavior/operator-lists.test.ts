/** What operators look at: versions, events and the runs waiting for them, the queues of activities. */
import { expect, it } from 'vitest';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';

interface Listed {
  readonly items: readonly Record<string, unknown>[];
  readonly nextCursor: string | null;
}

everyStore(
  'operator lists',
  (at) => {
    const send = (path: string, body: unknown) =>
      at.client.call('POST', path, { body: JSON.stringify(body), type: 'application/json' });
    const list = async (path: string): Promise<Listed> => {
      const answer = await at.client.call('GET', path);
      expect(answer.status, answer.text).toBe(200);
      return answer.body as Listed;
    };

    it('shows the versions of a definition and of a custom step', async () => {
      const id = fresh('versions');
      for (const description of ['one', 'two', 'three']) {
        const steps = [{ id: 'a', stepType: 'NoOp' }];
        await send('/api/definition', { id, description, steps });
        await at.client.call('POST', `/api/step/${id}`, {
          body: `x = 1 # ${description}`,
          type: 'text/x-python',
        });
      }
      for (const noun of ['definition', 'step']) {
        const first = await list(`/api/${noun}/${id}/versions?limit=2`);
        expect(first.items.map(({ version }) => version)).toEqual([3, 2]);
        const rest = await list(`/api/${noun}/${id}/versions?cursor=${first.nextCursor}`);
        expect(rest.items.map(({ version }) => version)).toEqual([1]);
        expect(rest.nextCursor).toBeNull();
        expect((await at.client.call('GET', `/api/${noun}/none/versions`)).status).toBe(404);
      }
      const old = await at.client.call('GET', `/api/step/${id}?version=2`);
      expect(old.text).toBe('x = 1 # two');
      expect((await at.client.call('GET', `/api/step/${id}?version=9`)).status).toBe(404);
    });

    it('shows events, the runs that took them and the runs that are waiting', async () => {
      const key = fresh('key');
      const id = fresh('waits');
      const inputs = { EventName: '"asked"', EventKey: JSON.stringify(key) };
      await send('/api/definition', { id, steps: [{ id: 'ask', stepType: 'WaitFor', inputs }] });
      const started = await send(`/api/workflow/${id}`, {});
      const { workflowId } = started.body as { workflowId: string };
      await expect
        .poll(async () => (await list(`/api/event/asked/${key}/waiting`)).items)
        .toEqual([{ workflowId, executionId: 1, since: expect.any(String) as unknown }]);
      await send(`/api/event/asked/${key}`, { long: 'x'.repeat(5000) });
      await send(`/api/event/asked/${key}`, { by: 'Ada' });
      // Deliveries are recorded shortly after the publication was answered.
      await expect
        .poll(async () => (await list(`/api/event?name=asked&key=${key}`)).items)
        .toMatchObject([
          { name: 'asked', key, data: { by: 'Ada' }, dataOmitted: false },
          { data: null, dataOmitted: true, deliveredTo: 1, takenBy: [workflowId] },
        ]);
      expect((await list('/api/event?limit=1')).items).toMatchObject([{ key }]);
      expect((await at.client.call('GET', '/api/event?name=asked')).status).toBe(400);
      expect((await at.client.call('GET', '/api/event?key=k')).status).toBe(400);
    });

    it('shows the queues of activities, but never a token', async () => {
      const name = fresh('work');
      const id = fresh('works');
      const inputs = { ActivityName: JSON.stringify(name) };
      await send('/api/definition', { id, steps: [{ id: 'work', stepType: 'Activity', inputs }] });
      const [first, second] = [{}, {}].map((data) =>
        send(`/api/workflow/${id}?reference=4711`, data),
      );
      await Promise.all([first, second]);
      const queue = async () =>
        (await list('/api/activity')).items.find(({ activityName }) => activityName === name);
      await expect.poll(queue).toMatchObject({ waiting: 2, held: 0, pollers: 0 });
      const pulled = await at.client.call('GET', `/api/activity/${name}?workerId=w1&lease=600`);
      const { token, workflowId } = pulled.body as { token: string; workflowId: string };
      expect(await queue()).toMatchObject({ waiting: 1, held: 1 });
      const answer = await at.client.call('GET', `/api/activity/${name}/queue`);
      expect((answer.body as Listed).items).toMatchObject([
        { executionId: 1, attempt: 1, state: 'waiting', workerId: null, leaseUntil: null },
        {
          workflowId,
          definitionId: id,
          reference: '4711',
          attempt: 1,
          state: 'held',
          workerId: 'w1',
        },
      ]);
      expect(answer.text).not.toContain(token.split('.')[1]);
      expect(answer.text).not.toMatch(/token/i);
    });
  },
  { dialects: [CAMEL_JSON] },
);
