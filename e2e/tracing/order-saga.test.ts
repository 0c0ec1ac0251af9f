/** The trace of the order saga, as a collector receives it: two workers, and a server that is killed and restarted once. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@stepwright/sdk';
import { ActivityFailure, Worker } from '@stepwright/worker-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpawnedServer } from '../../server/test/support/spawned-server.js';
import { Collector, type ReceivedSpan } from './support/collector.js';

const ORDER = readFileSync(
  new URL('../../examples/16-order-saga/order.yaml', import.meta.url),
  'utf8',
);
const CALLER = 'b7ad6b7169203331';
const INTERNAL = 1;
const SERVER = 2;
const ERROR = 2;

describe('the trace of the order saga', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-tracing-'));
  let collector: Collector;
  let server: SpawnedServer;

  beforeAll(async () => {
    collector = await Collector.start();
    server = await startServer('0');
  });

  afterAll(async () => {
    await server.kill();
    await collector.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function startServer(port: string): Promise<SpawnedServer> {
    return SpawnedServer.start({
      DATA_DIR: folder,
      PORT: port,
      LOG_LEVEL: 'warn',
      PYTHON_SPARES: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    });
  }

  async function startOrder(traceId: string, address: string): Promise<string> {
    const response = await fetch(`${server.url}/api/workflow/order`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${CALLER}-01`,
      },
      body: JSON.stringify({ orderId: 'secret-order', amount: 30, items: ['secret-pen'], address }),
    });
    expect(response.status).toBe(201);
    const { workflowId } = (await response.json()) as { readonly workflowId: string };
    return workflowId;
  }

  it('is complete and valid, although the server is killed and restarted', async () => {
    const client = createClient({ baseUrl: server.url });
    await client.definitions.register(ORDER);
    const held = new AbortController();
    const restarted = new AbortController();
    const continued = new Map<string, string | undefined>();
    const payment = new Worker({
      baseUrl: server.url,
      workerId: 'payment',
      activities: {
        'payment/charge': (_: unknown, context) => {
          continued.set('charge', context.traceparent);
          return { receipt: 'secret-receipt' };
        },
        'payment/refund': () => null,
      },
    });
    const warehouse = new Worker({
      baseUrl: server.url,
      workerId: 'warehouse',
      activities: {
        'warehouse/reserve': async (_: unknown, context) => {
          if (continued.has('reserve')) return { shelf: 7 };
          continued.set('reserve', context.traceparent);
          held.abort();
          await aborted(restarted.signal);
          return { shelf: 7 };
        },
        'warehouse/put-back': () => null,
        'warehouse/ship': ({ address }: { readonly address: string }) => {
          if (address === 'secret-atlantis') throw new ActivityFailure('secret-reason');
          return { parcel: 'secret-parcel' };
        },
      },
    });
    const stop = new AbortController();
    const running = [payment, warehouse].map((worker) => worker.run({ signal: stop.signal }));
    try {
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
      const id = await startOrder(traceId, 'secret-kiel');
      await aborted(held.signal);
      // The request ended before, and is the one span that no other process can repeat.
      await expect
        .poll(() => collector.spans.map(({ name }) => name))
        .toContain('POST /api/workflow/:id');
      const { port } = new URL(server.url);
      await server.kill();
      server = await startServer(port);
      restarted.abort();
      const ended = await client.workflows.handle(id).wait({ timeoutMs: 60_000 });
      expect(ended.outcome).toBe('Succeeded');
      await expect.poll(() => collector.spans.map(({ name }) => name)).toContain('run order');

      const trace = collector.trace(traceId);
      expectValid(trace);
      const named = (name: string): ReceivedSpan => only(trace, name);
      expect(named('POST /api/workflow/:id')).toMatchObject({ kind: SERVER, parentSpanId: CALLER });
      expect(named('run order').parentSpanId).toBe(named('POST /api/workflow/:id').spanId);
      expect(named('fulfil').parentSpanId).toBe(named('run order').spanId);
      for (const step of ['charge', 'reserve', 'ship']) {
        expect(named(step)).toMatchObject({
          kind: INTERNAL,
          status: 0,
          parentSpanId: named('fulfil').spanId,
          attributes: { 'stepwright.step.type': 'Activity', 'stepwright.workflow.id': id },
          events: [{ name: 'attempt started' }, { name: 'attempt completed' }],
        });
      }
      for (const [step, name] of [
        ['charge', 'payment/charge'],
        ['ship', 'warehouse/ship'],
      ] as const) {
        expect(named(`offered ${name}`).parentSpanId).toBe(named(step).spanId);
        expect(named(`held ${name}`).parentSpanId).toBe(named(step).spanId);
      }
      // What the workers continue is in the trace.
      expect(continued.get('charge')).toBe(
        `00-${traceId}-${named('held payment/charge').spanId}-01`,
      );
      expect(continued.get('reserve')).toContain(traceId);
      // Before and after the restart.
      expect(new Set([...trace.values()].map(({ nodeId }) => nodeId)).size).toBe(2);
      expect(named('held payment/charge').attributes['stepwright.wait.reason']).toBe(
        'activity payment/charge: held by a worker (payment)',
      );
      const workflow = await client.workflows.get(id);
      expect(workflow.traceId).toBe(traceId);

      const failedTrace = '0af7651916cd43dd8448eb211c80319c';
      const failed = await startOrder(failedTrace, 'secret-atlantis');
      const end = await client.workflows.handle(failed).wait({ timeoutMs: 60_000 });
      expect(end.outcome).toBe('Compensated');
      const ofFailed = () => [...collector.trace(failedTrace).values()];
      await expect.poll(() => ofFailed().map(({ name }) => name)).toContain('run order');
      expectValid(collector.trace(failedTrace));
      expect(only(collector.trace(failedTrace), 'ship')).toMatchObject({
        status: ERROR,
        attributes: { 'error.type': 'ActivityFailed', 'stepwright.step.status': 'Failed' },
      });
      expect(only(collector.trace(failedTrace), 'held warehouse/ship').status).toBe(ERROR);
      for (const step of ['refund', 'put-back']) {
        expect(only(collector.trace(failedTrace), step).status).toBe(0);
      }
      expect(collector.received).not.toContain('secret-');
    } finally {
      restarted.abort();
      stop.abort();
      await Promise.all(running);
    }
  });

  it('is not recorded without a caller that asks for it, because of the sampler', async () => {
    const { status } = await fetch(`${server.url}/api/event/unheard/1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '1',
    });
    expect(status).toBe(202);
    await server.stop();
    expect(collector.spans.filter(({ name }) => name.includes('/api/event'))).toEqual([]);
  });
});

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Parents are there, and nobody ends before it has started or starts before the instance. */
function expectValid(trace: ReadonlyMap<string, ReceivedSpan>): void {
  const begin = Math.min(...[...trace.values()].map(({ start }) => start));
  for (const { end, name, parentSpanId = '', spanId, start } of trace.values()) {
    expect(spanId, name).toMatch(/^(?!0{16})[\da-f]{16}$/);
    expect(end, name).toBeGreaterThanOrEqual(start);
    expect(end - begin, name).toBeLessThan(120_000);
    if (parentSpanId === CALLER) continue;
    const parent = trace.get(parentSpanId);
    expect(parent, `the parent of ${name}`).toBeDefined();
    expect(start, name).toBeGreaterThanOrEqual(parent?.start ?? 0);
  }
}

function only(trace: ReadonlyMap<string, ReceivedSpan>, name: string): ReceivedSpan {
  const found = [...trace.values()].filter((span) => span.name === name);
  const [span] = found;
  if (found.length !== 1 || span === undefined) {
    const names = [...trace.values()].map((each) => each.name);
    throw new Error(`${found.length} spans are called ${name}: ${names.join(', ')}`);
  }
  return span;
}
