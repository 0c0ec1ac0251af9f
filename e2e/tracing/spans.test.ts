/** What a collector receives of calls, retries, events and sub-workflows, and what happens without a collector. */
import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpawnedServer } from '../../server/test/support/spawned-server.js';
import { Collector, type ReceivedSpan } from './support/collector.js';

const CHILD = { Id: 'child', Steps: [{ Id: 'rest', StepType: 'NoOp' }] };
const CLIENT = 3;
const ERROR = 2;

const LISTENER = {
  Id: 'listener',
  Steps: [
    { Id: 'before', StepType: 'NoOp', NextStepId: 'listen' },
    { Id: 'listen', StepType: 'WaitFor', Inputs: { EventName: "'heard'", EventKey: "'1'" } },
  ],
};

/** Calls a service that fails once, waits for an event, and starts a child. */
function parentOf(service: string): object {
  return {
    Id: 'parent',
    Steps: [
      {
        Id: 'call',
        StepType: 'HttpRequest',
        ErrorBehavior: 'Retry',
        RetryInterval: '00:00:00.2',
        Inputs: { BaseUrl: `'${service}/secret-path?q=secret-query'`, SucceedOn: '[200]' },
        NextStepId: 'say',
      },
      {
        Id: 'say',
        StepType: 'EmitLog',
        Inputs: { Message: "'said'" },
        NextStepId: 'listen',
      },
      {
        Id: 'listen',
        StepType: 'WaitFor',
        Inputs: { EventName: "'paid'", EventKey: "'secret-key'" },
        NextStepId: 'sub',
      },
      { Id: 'sub', StepType: 'SubWorkflow', Inputs: { DefinitionId: "'child'" } },
    ],
  };
}

describe('the trace of a run', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-spans-'));
  const received: string[] = [];
  const states: (string | undefined)[] = [];
  let service: Server;
  let collector: Collector;
  let server: SpawnedServer;

  beforeAll(async () => {
    service = createServer((request, response) => {
      received.push(request.headers['traceparent']?.toString() ?? '');
      states.push(request.headers['tracestate']?.toString());
      response.statusCode = received.length === 1 ? 503 : 200;
      response.end('"secret-answer"');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    collector = await Collector.start();
    server = await SpawnedServer.start({
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'info',
      HTTP_ALLOW_LOOPBACK: 'true',
      PYTHON_SPARES: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      TRACE_URL: 'https://traces.example.com/{trace_id}',
    });
  });

  afterAll(async () => {
    await server.kill();
    await collector.stop();
    service.closeAllConnections();
    service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows calls, retries, waits with their reasons, and links to events and children', async () => {
    const client = createClient({ baseUrl: server.url });
    const { port } = service.address() as AddressInfo; // It listens on TCP.
    await client.definitions.register(JSON.stringify(CHILD));
    await client.definitions.register(JSON.stringify(parentOf(`http://127.0.0.1:${port}`)));
    const run = await client.workflows.start('parent', {});
    await expect.poll(() => explained(server.url, run.id)).toContain('waiting for event paid');
    await client.events.publish('paid', 'secret-key', { amount: 'secret-amount' });
    expect((await run.wait({ timeoutMs: 60_000 })).outcome).toBe('Succeeded');

    const { traceId = '' } = await client.workflows.get(run.id);
    const spans = () => [...collector.trace(traceId).values()];
    await expect.poll(() => spans().map(({ name }) => name)).toContain('run parent');
    const named = (name: string): ReceivedSpan[] => spans().filter((span) => span.name === name);
    const [step] = named('call');
    expect(step?.events.map(({ name }) => name)).toEqual([
      'attempt started',
      'attempt failed',
      'attempt started',
      'attempt completed',
    ]);
    const calls = named('GET').toSorted((a, b) => a.start - b.start);
    expect(calls.map(({ status }) => status)).toEqual([ERROR, 0]);
    expect(calls[0]).toMatchObject({
      kind: CLIENT,
      parentSpanId: step?.spanId,
      attributes: { 'error.type': '503', 'server.address': '127.0.0.1' },
    });
    expect(received).toEqual(calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`));
    expect(named('wait retry')[0]).toMatchObject({
      parentSpanId: step?.spanId,
      attributes: { 'stepwright.wait.reason': 'attempt 2 now' },
    });
    const [wait] = named('wait event');
    expect(wait?.attributes['stepwright.wait.reason']).toMatch(
      /^has been waiting for event paid\/… for .*; no matching event has been published/,
    );
    const published = collector.spans.find(({ name }) => name === 'POST /api/event/:name/:key');
    expect(wait?.links).toMatchObject([{ spanId: published?.spanId }]);

    const started = collector.spans.find(({ name }) => name === 'start child');
    expect(named('sub')[0]?.links).toMatchObject([
      { traceId: started?.traceId, spanId: started?.spanId },
    ]);
    expect(started?.links).toMatchObject([{ traceId, spanId: named('sub')[0]?.spanId }]);
    expect(started?.traceId).not.toBe(traceId);
    expect(collector.received).not.toContain('secret-');
    // Only with the log level debug.
    expect(collector.spans.filter(({ name }) => name.startsWith('store '))).toEqual([]);
    for (const message of ['a step attempt failed', 'said']) {
      const line = server.output.split('\n').find((each) => each.includes(`"msg":"${message}"`));
      expect(line).toContain(`"trace_id":"${traceId}"`);
    }
    const info = (await (await fetch(`${server.url}/api/info`)).json()) as { traceUrl?: string };
    expect(info.traceUrl).toBe('https://traces.example.com/{trace_id}');
  });

  it("passes the caller's state and flags on, but not to children", async () => {
    const { port } = service.address() as AddressInfo;
    const BaseUrl = `"http://127.0.0.1:${port}"`;
    const call = { Id: 'call', StepType: 'HttpRequest', Inputs: { BaseUrl } };
    const work = { Id: 'work', StepType: 'Activity', Inputs: { ActivityName: '"stated"' } };
    const sub = { Id: 'sub', StepType: 'SubWorkflow', Inputs: { DefinitionId: '"stated-child"' } };
    const traceId = '5bf92f3577b34da6a3ce929d0e0e4736';
    const headers = {
      traceparent: `00-${traceId}-00f067aa0ba902b7-03`,
      tracestate: 'foo=1 ,\tbar=2',
    };
    const client = createClient({ baseUrl: server.url, headers: () => headers });
    await client.definitions.register(JSON.stringify({ Id: 'stated-child', Steps: [call] }));
    const Steps = [
      { ...call, NextStepId: 'work' },
      { ...work, NextStepId: 'sub' },
      { ...sub, NextStepId: 'own' },
      {
        ...call,
        Id: 'own',
        Inputs: { BaseUrl, Headers: { traceparent: headers.traceparent } },
      },
    ];
    await client.definitions.register(JSON.stringify({ Id: 'stated', Steps }));
    received.splice(1);
    states.splice(0);
    const run = await client.workflows.start('stated', {});
    const item = await client.activities.pull('stated', { waitSeconds: 30 });
    expect(item).toMatchObject({ tracestate: 'foo=1,bar=2' });
    expect(item?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-03$`));
    if (item !== null) await client.activities.succeed(item, null);
    expect((await run.wait({ timeoutMs: 60_000 })).outcome).toBe('Succeeded');
    expect(states).toEqual(['foo=1,bar=2', undefined, undefined]);
    const [called = '', child = '', own = ''] = received.slice(1);
    expect(called).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-03$`));
    expect(child).not.toContain(traceId);
    expect(own).toBe(headers.traceparent);
  });

  it("belongs to the caller's trace if the SDK starts the run", async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = () => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    const client = createClient({ baseUrl: server.url, headers });
    await client.definitions.register(JSON.stringify(CHILD));
    const run = await client.workflows.start('child', {});
    await run.wait({ timeoutMs: 60_000 });
    expect((await client.workflows.get(run.id)).traceId).toBe(traceId);
    const names = () => [...collector.trace(traceId).values()].map(({ name }) => name);
    await expect.poll(names).toContain('run child');
    const request = [...collector.trace(traceId).values()].find(
      ({ name }) => name === 'POST /api/workflow/:id',
    );
    expect(request?.parentSpanId).toBe('00f067aa0ba902b7');
  });
});

describe('a server without a collector', () => {
  it('runs as always, and stops in time', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-no-collector-'));
    const server = await SpawnedServer.start({
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'warn',
      PYTHON_SPARES: '0',
      // Nobody listens on the port for discarded data.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_BSP_MAX_QUEUE_SIZE: '16',
    });
    try {
      const client = createClient({ baseUrl: server.url });
      await client.definitions.register(JSON.stringify(CHILD));
      const runs = Array.from({ length: 50 }, () => client.workflows.start('child', {}));
      for (const run of await Promise.all(runs)) {
        expect((await run.wait({ timeoutMs: 60_000 })).outcome).toBe('Succeeded');
      }
      const began = performance.now();
      expect(await server.stop()).toBe(0);
      expect(performance.now() - began).toBeLessThan(8000);
    } finally {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names the missing packages to install', async () => {
    const hooks =
      'import { registerHooks } from "node:module"; registerHooks({ resolve(name, context, next) {' +
      'if (name === "@opentelemetry/sdk-trace") throw new Error("Cannot find package " + name);' +
      'return next(name, context); } });';
    const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`];
    const environment = { PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    await expect(SpawnedServer.start(environment, { nodeOptions })).rejects.toThrow(
      /npm install @opentelemetry\/api @opentelemetry\/sdk-trace/,
    );
  });
});

describe('a node that dies before it has sent its spans', () => {
  it('is represented by the next node, which records the steps again', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-lost-spans-'));
    const collector = await Collector.start();
    const start = (delay: string): Promise<SpawnedServer> =>
      SpawnedServer.start({
        DATA_DIR: folder,
        PORT: '0',
        LOG_LEVEL: 'warn',
        PYTHON_SPARES: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: delay,
      });
    let server = await start('600000');
    try {
      const first = createClient({ baseUrl: server.url });
      await first.definitions.register(JSON.stringify(LISTENER));
      const { id } = await first.workflows.start('listener', {});
      await expect.poll(() => explained(server.url, id)).toContain('waiting for event heard');
      await server.kill();
      expect(collector.spans).toEqual([]);

      server = await start('100');
      const second = createClient({ baseUrl: server.url });
      await second.events.publish('heard', '1', null);
      await second.workflows.handle(id).wait({ timeoutMs: 60_000 });
      const names = () => collector.spans.map(({ name }) => name);
      await expect.poll(names).toContain('run listener');
      expect(names()).toEqual(expect.arrayContaining(['before', 'listen', 'wait event']));
    } finally {
      await server.kill();
      await collector.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function explained(url: string, id: string): Promise<string> {
  const response = await fetch(`${url}/api/workflow/${id}/explain`);
  return response.text();
}
