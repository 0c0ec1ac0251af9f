/**
 * `pnpm bench:flow [--runs=2000] [--nodes=1]`: limits of steps. With `dbhost`, on that database server and any number of nodes.
 *
 *  - hot: all runs wait for one limit of 50 slots. How many slots change hands a second.
 *  - keys: each run has a key of its own, and finds its slot free. What a slot costs compared with the same run without a limit.
 *  - rate: all runs wait for 1,000 a second. How many begin in each second, and the most in any one.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BenchServer } from './bench-server.ts';
import { throughputOf } from './measure.ts';

const SLOTS = 50;
const RATE = 1000;
const STARTS_AT_ONCE = 32;
const POLL_MS = 50;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    nodes: { type: 'string', default: '1' },
  },
});
const runs = Number(values.runs);

/** Answers at once, except the calls that wait for `release`, and notes when each call came. */
class Target {
  readonly times: number[] = [];
  readonly #waiting: ServerResponse[] = [];
  readonly #server: Server = createServer((request, response) => {
    this.times.push(performance.now());
    if (request.url === '/wait') this.#waiting.push(response);
    else response.end('{}');
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  release(): void {
    for (const response of this.#waiting.splice(0)) response.end('{}');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const target = new Target();
const baseUrl = await target.start();
const settings = { http_allow_private: 'true' };
const servers = await Promise.all(
  Array.from({ length: Number(values.nodes) }, () => BenchServer.start({ settings })),
);
const [first] = servers;
if (first === undefined) throw new Error('at least one node');
const { client } = first;
try {
  await hot();
  await keys();
  await rate();
} finally {
  for (const server of servers) await server.stop();
  target.stop();
}

async function hot(): Promise<void> {
  await client.call('PUT', '/api/limit/hot', { concurrency: 1 });
  await define('hot', [{ Name: 'hot' }], "data.get('path', '/')");
  await client.call('POST', '/api/workflow/hot', { path: '/wait' });
  await startAll('hot');
  await client.call('PUT', '/api/limit/hot', { concurrency: SLOTS });
  const startedAt = performance.now();
  target.release();
  await untilAllEnded('hot');
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `hot: ${runs} runs through ${SLOTS} slots in ${seconds.toFixed(1)} s: ${(runs / seconds).toFixed(0)} slots changed hands a second`,
  );
}

async function keys(): Promise<void> {
  await client.call('PUT', '/api/limit/keys', { concurrency: 1 });
  await define('without', [], '"/"');
  await define('keys', [{ Name: 'keys', Key: 'data.key' }], '"/"');
  const costs: number[] = [];
  for (const id of ['without', 'keys']) {
    const before = await spent();
    const perSecond = await startAll(id);
    await untilAllEnded(id);
    const operations = ((await spent()) - before) / runs;
    costs.push(operations);
    console.log(
      `${id}: ${perSecond.toFixed(0)} starts a second, ${operations.toFixed(2)} store operations a run`,
    );
  }
}

async function rate(): Promise<void> {
  await client.call('PUT', '/api/limit/rate', { rate: { count: RATE, per: '1s' } });
  await define('rate', [{ Name: 'rate' }], '"/"');
  target.times.length = 0;
  await startAll('rate');
  await untilAllEnded('rate');
  const times = target.times.toSorted((left, right) => left - right);
  const lasted = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  console.log(
    `rate: ${times.length} calls in ${lasted.toFixed(1)} s, ${(times.length / lasted).toFixed(0)} a second; at most ${mostInOneSecond(times)} in any second`,
  );
}

function mostInOneSecond(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [at, time] of times.entries()) {
    while (time - (times[from] ?? 0) >= 1000) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

async function define(id: string, Limits: readonly object[], resource: string): Promise<void> {
  const Inputs = { BaseUrl: JSON.stringify(baseUrl), Resource: resource };
  const Steps = [{ Id: 'call', StepType: 'HttpRequest', Limits, Inputs }];
  await client.call('POST', '/api/definition', { Id: id, Steps });
}

/** Returns the number of starts a second. */
function startAll(id: string): Promise<number> {
  return throughputOf(runs, STARTS_AT_ONCE, async (n) => {
    const server = servers[n % servers.length] ?? first;
    await server?.client.call('POST', `/api/workflow/${id}`, { key: `k${n}` });
  });
}

async function untilAllEnded(id: string): Promise<void> {
  for (;;) {
    const open = await client.call(
      'GET',
      `/api/workflow?definitionId=${id}&status=Runnable&limit=1`,
    );
    if ((open.json as { readonly items: readonly unknown[] }).items.length === 0) return;
    await setTimeout(POLL_MS);
  }
}

async function spent(): Promise<number> {
  const all = await Promise.all(servers.map((server) => server.spent()));
  return all.reduce((sum, { storeOperations }) => sum + storeOperations, 0);
}
