/** With the log level debug, traces show the calls of the store: in the request or the run that made them, and nowhere else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpawnedServer } from '../../server/test/support/spawned-server.js';
import { Collector, type ReceivedSpan } from './support/collector.js';

const CLIENT = 3;
const DEFINITION = {
  Id: 'stored',
  Steps: [{ Id: 'listen', StepType: 'WaitFor', Inputs: { EventName: "'go'", EventKey: "'1'" } }],
};

describe('a store call', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-store-calls-'));
  let collector: Collector;
  let server: SpawnedServer;

  beforeAll(async () => {
    collector = await Collector.start();
    server = await SpawnedServer.start({
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'debug',
      PYTHON_SPARES: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
  });

  afterAll(async () => {
    await server.kill();
    await collector.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is in the trace of the run, inside the run or the request', async () => {
    const client = createClient({ baseUrl: server.url });
    await client.definitions.register(JSON.stringify(DEFINITION));
    const run = await client.workflows.start('stored', { word: 'secret-data' });
    await expect
      .poll(async () => await (await fetch(`${server.url}/api/workflow/${run.id}/explain`)).text())
      .toContain('waiting for event go');
    await client.events.publish('go', '1', {});
    expect((await run.wait({ timeoutMs: 60_000 })).outcome).toBe('Succeeded');
    const { traceId = '' } = await client.workflows.get(run.id);
    const spans = () => [...collector.trace(traceId).values()];
    await expect.poll(() => spans().map(({ name }) => name)).toContain('run stored');

    const named = (name: string): ReceivedSpan => spans().find((span) => span.name === name)!;
    const request = named('POST /api/workflow/:id');
    const whole = named('run stored');
    const calls = spans().filter(({ name }) => name.startsWith('store '));
    const namesIn = (parent: ReceivedSpan) =>
      calls.filter(({ parentSpanId }) => parentSpanId === parent.spanId).map(({ name }) => name);
    expect(namesIn(whole)).toContain('store insertInstance');
    expect(namesIn(whole)).toContain('store commitInstance');
    expect(namesIn(request).length + namesIn(whole).length).toBe(calls.length);
    for (const { attributes, end, kind, name, start, status } of calls) {
      expect({ kind, status }).toEqual({ kind: CLIENT, status: 0 });
      expect(attributes).toEqual({
        'db.system.name': 'sqlite',
        'db.operation.name': name.slice('store '.length),
      });
      expect(start).toBeGreaterThanOrEqual(request.start);
      expect(end).toBeLessThanOrEqual(whole.end + 1000);
    }
    expect(collector.received).not.toContain('secret-data');
  });

  it('is in no trace if its request has ended', async () => {
    const client = createClient({ baseUrl: server.url });
    const before = await client.workflows.start('stored', {});
    const { traceId = '' } = await client.workflows.get(before.id);
    const calls = () =>
      [...collector.trace(traceId).values()].filter(({ name }) => name.startsWith('store '));
    await expect.poll(() => calls().length).toBeGreaterThan(0);
    const last = Math.max(...calls().map(({ end }) => end));
    const request = [...collector.trace(traceId).values()].find(({ name }) =>
      name.startsWith('POST'),
    )!;
    // Scans and heartbeats of the node go on meanwhile.
    const other = await client.workflows.start('stored', {});
    await client.events.publish('go', '1', {});
    await other.wait({ timeoutMs: 60_000 });
    const late = calls().filter(
      ({ parentSpanId, start }) => parentSpanId === request.spanId && start > last,
    );
    expect(late).toEqual([]);
  });
});
