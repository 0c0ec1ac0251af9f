/**
 * S-27, S-36 and S-40 on the built server: evaluations and calls that never end by themselves. Other clients are served
 * meanwhile, as a separate process measures.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../behavior/support/client.js';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import { compute, step } from '../behavior/support/steps.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { expectLively, worstLiveLatency } from './support/live-latency.js';

const ENDLESS = 'sum(1 for _ in iter(int, 1))';
const RUNS = 25;
/** Starting an interpreter, and an attack of several seconds, take long on a busy machine. */
const TIMEOUT = { timeout: 180_000 };
const PATIENCE = { timeout: 90_000, interval: 20 };

async function start(environment: Readonly<Record<string, string>> = {}): Promise<SpawnedServer> {
  return startProcess({ PORT: '0', DATA_DIR: await temporaryFolder(), ...environment });
}

/** Calls that Python is running, and calls that wait for it. */
async function pythonCalls(client: Client): Promise<number> {
  const { text } = await client.get('/metrics');
  const gauge = (name: string) =>
    Number(new RegExp(`^stepwright_python_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return gauge('busy') + gauge('queued');
}

async function startRuns(client: Client, definition: string): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: RUNS }, () => client.start(definition)));
}

describe('an endless evaluation of one definition', () => {
  it('delays no other definition while it runs until it times out (S-27)', TIMEOUT, async () => {
    const { pid, url } = await start();
    const client = new Client(url);
    const endless = await client.define({
      DefaultErrorBehavior: 'Terminate',
      Steps: [compute('s', { x: ENDLESS })],
    });
    const measured = await worstLiveLatency({ pid, url }, async () => {
      const ids = await startRuns(client, endless);
      for (const id of ids) {
        const { lastError } = await client.ended(id);
        expect(lastError).toMatchObject({ type: 'Timeout' });
      }
    });
    expectLively(measured);
  });

  it('delays no other definition while its run is terminated (S-36)', TIMEOUT, async () => {
    const { pid, url } = await start();
    const client = new Client(url);
    const endless = await client.define([compute('s', { x: ENDLESS })]);
    const measured = await worstLiveLatency({ pid, url }, async () => {
      const ids = await startRuns(client, endless);
      await expect.poll(() => pythonCalls(client), PATIENCE).toBeGreaterThan(0);
      for (const id of ids) expect((await client.terminate(id)).status).toBe(200);
      for (const id of ids) await client.ended(id);
    });
    expectLively(measured);
  });
});

describe('a call of one definition that hangs', () => {
  it('delays no other definition, and ends at its Timeout (S-40)', TIMEOUT, async () => {
    const sockets: { destroy(): void }[] = [];
    const callee = createServer(() => undefined).on('connection', (socket) => sockets.push(socket));
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      callee.close();
    });
    const { port } = callee.address() as AddressInfo;
    const { pid, url } = await start({ http_timeout_ms: '3000', http_timeout_ms_max: '3000' });
    const client = new Client(url);
    const hanging = await client.define([
      step(
        'call',
        'HttpRequest',
        { BaseUrl: `"http://127.0.0.1:${port}/"`, Timeout: 86_400 },
        { Outputs: { error: 'step.ErrorMessage' } },
      ),
    ]);
    const measured = await worstLiveLatency({ pid, url }, async () => {
      // More than the connections to one host.
      const ids = (await Promise.all([1, 2, 3].map(() => startRuns(client, hanging)))).flat();
      for (const id of ids) {
        expect((await client.ended(id)).data['error']).toMatch(/took longer than 3000 ms/);
      }
    });
    expectLively(measured);
  });
});
