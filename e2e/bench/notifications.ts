/**
 * `pnpm bench:notifications [--runs=500] [--rounds=20] [--answer-ms=1000] [--per-second=1000]`: what notifications with a slow
 * target cost the runs.
 *
 * In turn, runs of one step start and end without a notification and with one, whose target takes a second for each answer.
 * The turns are short, so that other work on the machine slows both down alike. First at a fixed rate, then as fast as the server
 * can.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BenchServer, type Spent } from './bench-server.ts';
import { latencyFrom, throughputOf } from './measure.ts';

interface Totals {
  ms: number;
  cpuMs: number;
  storeOperations: number;
  /** From each start to the answer that tells the end, in milliseconds. */
  readonly latencies: number[];
}

/** Calls the function once for each run. */
type Load = (once: () => Promise<void>) => Promise<void>;

const LANES = 64;
const NOTIFICATION = '/api/notification/slow';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '20' },
    'answer-ms': { type: 'string', default: '1000' },
    'per-second': { type: 'string', default: '1000' },
  },
});
const [runs, rounds] = [Number(values.runs), Number(values.rounds)];
const perSecond = Number(values['per-second']);
const target = createServer((request, response) => {
  request.resume();
  setTimeout(() => response.writeHead(204).end(), Number(values['answer-ms']));
});
target.listen(0, '127.0.0.1');
await once(target, 'listening');
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
const secret = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;
const server = await BenchServer.start();
const { client } = server;
try {
  const Steps = [{ Id: 'only', StepType: 'NoOp' }];
  await client.call('POST', '/api/definition', { Id: 'short', Steps });
  for (let warmUp = 0; warmUp < 4; warmUp += 1) await turn(newTotals(), atFullSpeed);
  await compare(`at ${perSecond} a second`, atRate);
  await compare('at full speed', atFullSpeed);
} finally {
  await server.stop();
  target.close();
  target.closeAllConnections();
}

function newTotals(): Totals {
  return { ms: 0, cpuMs: 0, storeOperations: 0, latencies: [] };
}

async function compare(how: string, load: Load): Promise<void> {
  const [without, told] = [newTotals(), newTotals()];
  for (let round = 0; round < rounds; round += 1) {
    // Whatever makes every second turn slower must not make the same side slower each time.
    const sides = round % 2 === 0 ? [without, told] : [told, without];
    for (const side of sides) {
      if (side === told) await turnWithNotification(told, load);
      else await turn(without, load);
    }
  }
  show(`${how}, without a notification`, without);
  show(`${how}, with a notification`, told);
  console.log(`throughput: ${((100 * without.ms) / told.ms).toFixed(1)} % of that without`);
}

async function turnWithNotification(totals: Totals, load: Load): Promise<void> {
  await client.call('PUT', NOTIFICATION, { url, on: ['completed'], secret });
  await turn(totals, load);
  await client.call('DELETE', NOTIFICATION);
}

async function turn(totals: Totals, load: Load): Promise<void> {
  const before = await server.spent();
  const startedAt = performance.now();
  await load(async () => {
    const began = performance.now();
    await client.call('POST', '/api/workflow/short?wait=30', {});
    totals.latencies.push(performance.now() - began);
  });
  totals.ms += performance.now() - startedAt;
  const after: Spent = await server.spent();
  totals.cpuMs += after.cpuMs - before.cpuMs;
  totals.storeOperations += after.storeOperations - before.storeOperations;
}

async function atFullSpeed(once: () => Promise<void>): Promise<void> {
  await throughputOf(runs, LANES, once);
}

/** Runs start at this rate, whether or not earlier ones have ended. */
async function atRate(once: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const open: Promise<void>[] = [];
  while (open.length < runs) {
    const due = Math.min(runs, Math.ceil(((performance.now() - startedAt) / 1000) * perSecond));
    while (open.length < due) open.push(once());
    await pause(1);
  }
  await Promise.all(open);
}

function show(name: string, { cpuMs, latencies, ms, storeOperations }: Totals): void {
  const count = runs * rounds;
  const { p50Ms, p99Ms } = latencyFrom(latencies);
  console.log(
    `${name}: ${Math.round((1000 * count) / ms)} runs a second, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms; each ` +
      `takes ${(cpuMs / count).toFixed(3)} ms of CPU time and ${(storeOperations / count).toFixed(2)} store operations`,
  );
}
