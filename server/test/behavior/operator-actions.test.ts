/** What operators do with runs that do not advance, and what is recorded of it. */
import { expect, it } from 'vitest';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';

interface Workflow {
  readonly workflowId: string;
  readonly status: string;
  readonly data: Record<string, unknown>;
}

everyStore(
  'operator actions',
  (at) => {
    const send = <Body = unknown>(method: string, path: string, body: unknown) =>
      at.client.call<Body>(method, path, { body: JSON.stringify(body), type: 'application/json' });
    const start = async (step: object): Promise<string> => {
      const id = fresh('acted');
      const defined = await send('POST', '/api/definition', {
        id,
        steps: [{ id: 'one', ...step }],
      });
      expect(defined.status, defined.text).toBe(201);
      return (await send<Workflow>('POST', `/api/workflow/${id}`, {})).body.workflowId;
    };
    const ended = async (id: string): Promise<Workflow> =>
      (await at.client.call<Workflow>('GET', `/api/workflow/${id}?wait=20`)).body;
    const actions = async (id: string) =>
      (
        await at.client.call<{ items: { action: string; detail: string | null; actor: string }[] }>(
          'GET',
          `/api/workflow/${id}/audit`,
        )
      ).body.items;
    const waitsFor = (id: string, wait: string) =>
      expect
        .poll(async () => {
          const { body } = await at.client.call<{ items: { waitsFor: { kind: string } | null }[] }>(
            'GET',
            `/api/workflow/${id}/steps`,
          );
          return body.items.map(({ waitsFor: waits }) => waits?.kind);
        })
        .toContain(wait);
    const activity = (name: string) => ({
      stepType: 'Activity',
      inputs: { ActivityName: JSON.stringify(name) },
      outputs: { result: 'step.Result' },
      errorBehavior: 'Terminate',
    });

    it('terminates a run with a reason, which its audit log and its explanation show', async () => {
      const reason = 'the customer has called';
      const texts = { plain: reason, compensate: `with compensation; ${reason}` };
      const query = `reason=${encodeURIComponent(reason)}`;
      const one = await start(activity('nobody'));
      await at.client.call('DELETE', `/api/workflow/${one}?${query}`);
      const undone = await start(activity('nobody'));
      await at.client.call('DELETE', `/api/workflow/${undone}?compensate=true&${query}`);
      await at.client.ended(undone);
      const many = await start(activity('nobody'));
      await send('PATCH', '/api/workflow', { action: 'terminate', workflowIds: [many], reason });
      for (const [id, detail] of [
        [one, texts.plain],
        [undone, texts.compensate],
        [many, texts.plain],
      ] as const) {
        expect(await actions(id)).toMatchObject([{ action: 'terminate', detail }]);
        const { body } = await at.client.call<{ summary: string }>(
          'GET',
          `/api/workflow/${id}/explain`,
        );
        expect(body.summary).toContain(`(${detail})`);
      }
    });

    it('rejects a reason that is blank or too long', async () => {
      const id = await start(activity('nobody'));
      for (const reason of ['', '%20', 'x'.repeat(501)]) {
        const answer = await at.client.call('DELETE', `/api/workflow/${id}?reason=${reason}`);
        expect(answer.status, answer.text).toBe(400);
        const body = { action: 'suspend', workflowIds: [id], reason: decodeURIComponent(reason) };
        expect((await send('PATCH', '/api/workflow', body)).status).toBe(400);
      }
      expect(await actions(id)).toEqual([]);
    });

    it('retries a step at once, but only if a step is waiting for a retry', async () => {
      const id = await start({
        stepType: 'NoOp',
        errorBehavior: 'Retry',
        retryInterval: '01:00:00',
        outputs: { x: 'data.missing["x"]' },
      });
      await waitsFor(id, 'retry');
      expect((await at.client.call('PUT', `/api/workflow/${id}/retry`)).status).toBe(200);
      await expect
        .poll(async () => {
          const { body } = await at.client.call<{ items: { attempt: number }[] }>(
            'GET',
            `/api/workflow/${id}/steps`,
          );
          return Math.max(...body.items.map(({ attempt }) => attempt));
        })
        .toBe(3);
      await at.client.call('PUT', `/api/workflow/${id}/suspend`);
      const refused = await at.client.call('PUT', `/api/workflow/${id}/retry`);
      expect([refused.status, refused.body]).toMatchObject([409, { code: 'action_conflict' }]);
      expect(await actions(id)).toMatchObject([
        { action: 'suspend', actor: 'anonymous', detail: null },
        { action: 'retry', actor: 'anonymous', detail: null },
      ]);
    });

    it('completes an activity that no worker claims', async () => {
      const id = await start(activity(fresh('nobody')));
      await waitsFor(id, 'activity');
      const path = `/api/workflow/${id}/steps/1/success`;
      expect((await send('POST', path, { paid: true })).status).toBe(202);
      expect(await ended(id)).toMatchObject({
        status: 'Complete',
        data: { result: { paid: true } },
      });
      expect((await send('POST', path, { paid: true })).status).toBe(409);
      expect((await send('POST', `/api/workflow/${id}/steps/77/success`, 1)).status).toBe(404);
      expect((await send('POST', `/api/workflow/none/steps/1/success`, 1)).status).toBe(404);
      expect(await actions(id)).toMatchObject([
        { action: 'complete-activity', detail: 'step one (execution 1)' },
      ]);
    });

    it('fails an activity that a worker holds, and makes its token stale', async () => {
      const name = fresh('held');
      const id = await start(activity(name));
      await waitsFor(id, 'activity');
      const { token } = (await at.client.call<{ token: string }>('GET', `/api/activity/${name}`))
        .body;
      expect((await send('POST', `/api/workflow/${id}/steps/1/fail`, 'lost')).status).toBe(202);
      expect((await send('POST', `/api/activity/success/${token}`, 1)).status).toBe(404);
      expect(await ended(id)).toMatchObject({
        status: 'Terminated',
        lastError: { message: 'lost' },
      });
      expect(await actions(id)).toMatchObject([{ action: 'fail-activity' }]);
    });

    it('controls many runs at once, and reports the outcome for each', async () => {
      const [one, two] = [await start(activity('never')), await start(activity('never'))];
      await at.client.call('PUT', `/api/workflow/${two}/suspend`);
      const workflowIds = [one, 'none', two];
      const { status, body } = await send('PATCH', '/api/workflow', {
        action: 'suspend',
        workflowIds,
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        results: [
          { workflowId: one, outcome: 'done', status: 'Suspended' },
          { workflowId: 'none', outcome: 'missing', status: null },
          { workflowId: two, outcome: 'refused', status: 'Suspended' },
        ],
      });
      const retried = await send('PATCH', '/api/workflow', { action: 'retry', workflowIds });
      expect(retried.body).toMatchObject({
        results: [{ outcome: 'refused' }, { outcome: 'missing' }, { outcome: 'refused' }],
      });
      await send('PATCH', '/api/workflow', { action: 'terminate', workflowIds });
      const again = await send('PATCH', '/api/workflow', {
        action: 'terminate',
        workflowIds: [one],
      });
      expect(again.body).toMatchObject({ results: [{ outcome: 'refused', status: 'Terminated' }] });
      for (const wrong of [
        { action: 'explode', workflowIds },
        { action: 'resume', workflowIds: [] },
        { action: 'resume', workflowIds: Array.from({ length: 101 }, () => one) },
        { action: 'resume', workflowIds: 'all' },
        { action: 'resume' },
      ]) {
        expect((await send('PATCH', '/api/workflow', wrong)).status).toBe(400);
      }
    });

    it('publishes an event for a given run', async () => {
      const key = fresh('key');
      const inputs = { EventName: '"asked"', EventKey: JSON.stringify(key) };
      const id = await start({ stepType: 'WaitFor', inputs });
      expect((await send('POST', `/api/event/asked/${key}?workflowId=none`, 1)).status).toBe(404);
      expect((await send('POST', `/api/event/asked/${key}?workflowId=${id}`, 1)).status).toBe(202);
      expect((await ended(id)).status).toBe('Complete');
      expect(await actions(id)).toMatchObject([
        { action: 'publish-event', detail: `event asked/${key}` },
      ]);
      expect((await at.client.call('GET', '/api/workflow/none/audit')).status).toBe(404);
    });
  },
  { dialects: [CAMEL_JSON] },
);
