/** How calls behave while the server is unavailable: behind a proxy that disturbs the connection, and during restarts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, isNetworkError, type StepwrightClient } from '../src/index.js';
import { APPROVAL } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { ServerProcess } from './support/server-process.js';
import { TcpProxy } from './support/tcp-proxy.js';
import { clientOf, failureOf } from './support/failing-servers.js';

/** A busy machine takes long to restart a server. */
const PATIENCE = { timeout: 120_000 };

describe('a client whose server is temporarily unavailable', () => {
  let server: ServerProcess;
  let proxy: TcpProxy;
  let client: StepwrightClient;

  beforeAll(async () => {
    server = await ServerProcess.start();
    proxy = await TcpProxy.start(server.url);
    client = clientOf(proxy.url);
    await client.definitions.register(APPROVAL);
  });
  afterAll(async () => {
    await proxy.close();
    await server.remove();
  });

  it('starts one workflow, even if several responses are lost', async () => {
    proxy.loseAnswers(3);
    const { id } = await client.workflows.start('approval', { order: 1 }, { reference: 'lost' });
    const posts = proxy.requests.filter((line) => line.startsWith('POST /api/workflow/approval'));
    expect(posts).toHaveLength(4);
    const { items } = await client.workflows.list({ reference: 'lost' }).page();
    expect(items.map(({ workflowId }) => workflowId)).toEqual([id]);
  });

  it('modifies a run once, even if several responses are lost', async () => {
    const handle = await client.workflows.start('approval', { order: 2 });
    await eventually('it waits', async () => (await handle.steps().page()).items.length > 0);
    const stepId = (await handle.steps().page()).items[0]?.stepId ?? '';
    proxy.loseAnswers(3);
    const { started } = await handle.modify({ reason: 'again', start: [{ stepId }] });
    expect(started).toMatchObject([{ stepId }]);
    const { items } = await handle.steps().page();
    expect(items.filter((step) => step.stepId === stepId)).toHaveLength(2);
  });

  it('publishes one event, even if several responses are lost', async () => {
    const steps = ['first', 'second'].map((id, index, all) => ({
      id,
      stepType: 'WaitFor',
      inputs: { EventName: '"twice"', EventKey: '"key"' },
      nextStepId: all[index + 1] ?? null,
    }));
    await client.definitions.register({ id: 'two-waits', steps });
    const handle = await client.workflows.start('two-waits');
    const isWaiting = async (step: string): Promise<boolean> => {
      const { items } = await handle.steps().page();
      return items.some(({ stepId, status }) => stepId === step && status === 'Waiting');
    };
    await eventually('the first step waits', () => isWaiting('first'));
    proxy.loseAnswers(2);
    await client.events.publish('twice', 'key');
    // The second step would take a second copy of the event, now or as soon as it waits.
    await eventually('the second step waits', () => isWaiting('second'));
    expect((await client.events.publish('twice', 'key')).deliveredTo).toBe(1);
    expect((await handle.wait()).status).toBe('Complete');
  });

  it('registers one version of a definition, even if several responses are lost', async () => {
    const document = { id: 'once', steps: [{ id: 'only', stepType: 'NoOp' }] };
    proxy.loseAnswers(2);
    expect(await client.definitions.register(document)).toMatchObject({ version: 1 });
    expect(await client.definitions.register(document)).toMatchObject({ version: 2 });
  });

  it('keeps waiting for a workflow until the timeout of the caller', PATIENCE, async () => {
    const handle = await client.workflows.start('approval', { order: 3 });
    const waiting = handle.wait({ timeoutMs: PATIENCE.timeout, retry: { limit: 0 } });
    await server.restart();
    await client.events.publish('approved', 'order-3', 'yes');
    expect(await waiting).toMatchObject({ status: 'Complete', data: { approved: 'yes' } });
  });

  it(
    'completes every call after a restart, and a start during the restart creates one workflow',
    PATIENCE,
    async () => {
      const direct = createClient({ baseUrl: server.url, timeoutMs: PATIENCE.timeout });
      const reference = 'outlasts';
      const isSuspended = await direct.workflows.start('approval', { order: 5 });
      await isSuspended.suspend();
      await server.kill();
      // Not retried after a lost response, so it gets its response before the next crash.
      const resumed = isSuspended.resume();
      const calls = Promise.all([
        ...[1, 2, 3, 4].map((order) =>
          direct.workflows.start('approval', { order }, { reference }),
        ),
        direct.events.publish('approved', 'order-9', true),
        direct.definitions.register(APPROVAL),
        direct.info(),
      ]);
      await server.restart();
      await resumed;
      // The next crash comes after some calls have got their response, and others have not.
      const more = [5, 6, 7, 8].map(async (order) => {
        const key = { reference, idempotencyKey: `order-${order}` };
        return direct.workflows.start('approval', { order }, key);
      });
      await Promise.race(more);
      await server.restart();
      await Promise.all([calls, ...more]);
      const { items } = await direct.workflows.list({ reference }).page();
      expect(items).toHaveLength(8);
      expect((await isSuspended.get()).status).toBe('Runnable');
    },
  );

  it('ends a wait at its timeout, and reports why there was no response', async () => {
    const handle = await client.workflows.start('approval', { order: 4 });
    proxy.down();
    const error = await failureOf(handle.wait({ timeoutMs: 500 }));
    proxy.up();
    expect(error).toMatchObject({ name: 'TimeoutError', workflowId: handle.id });
    expect(isNetworkError((error as Error).cause)).toBe(true);
    await handle.terminate();
  });
});
