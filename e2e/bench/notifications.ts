/**
 * `pnpm bench:notifications [--runs=500] [--rounds=20] [--answer-ms=1000]`: what notifications with a slow target cost the runs.
 *
 * In turn, runs of one step start and end without a notification and with one, whose target takes a second for each answer.
 * The turns are short, so that other work on the machine slows both down alike.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { BenchServer, type Spent } from './bench-server.ts';
import { throughputOf } from './measure.ts';

interface Totals {
  ms: number;
  cpuMs: number;
  storeOperations: number;
}

const LANES = 64;
const NOTIFICATION = '/api/notification/slow';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '20' },
    'answer-ms': { type: 'string', default: '1000' },
  },
});
const [runs, rounds] = [Number(values.runs), Number(values.rounds)];
const target = createServer((request, response) => {
  request.resume();
  setTimeout(() => response.writeHead(204).end(), Number(values['answer-ms']));
});
target.listen(0, '127.0.0.1');
await once(target, 'listening');
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
const secret = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;
const server = await BenchServer.start(null);
const { client } = server;
const without: Totals = { ms: 0, cpuMs: 0, storeOperations: 0 };
const told: Totals = { ms: 0, cpuMs: 0, storeOperations: 0 };
try {
  const Steps = [{ Id: 'only', StepType: 'NoOp' }];
  await client.call('POST', '/api/definition', { Id: 'short', Steps });
  for (let warmUp = 0; warmUp < 4; warmUp += 1) await turn(without);
  Object.assign(without, { ms: 0, cpuMs: 0, storeOperations: 0 });
  for (let round = 0; round < rounds; round += 1) {
    // Whatever makes every second turn slower must not make the same side slower each time.
    const sides = round % 2 === 0 ? [without, told] : [told, without];
    for (const side of sides) await (side === told ? turnWithNotification() : turn(without));
  }
  show('without a notification', without);
  show('with a notification', told);
  console.log(`throughput: ${((100 * without.ms) / told.ms).toFixed(1)} % of that without`);
} finally {
  await server.stop();
  target.close();
  target.closeAllConnections();
}

async function turnWithNotification(): Promise<void> {
  await client.call('PUT', NOTIFICATION, { url, on: ['completed'], secret });
  await turn(told);
  await client.call('DELETE', NOTIFICATION);
}

async function turn(totals: Totals): Promise<void> {
  const before = await server.spent();
  const startedAt = performance.now();
  await throughputOf(runs, LANES, async () => {
    await client.call('POST', '/api/workflow/short?wait=30', {});
  });
  totals.ms += performance.now() - startedAt;
  const after: Spent = await server.spent();
  totals.cpuMs += after.cpuMs - before.cpuMs;
  totals.storeOperations += after.storeOperations - before.storeOperations;
}

function show(name: string, { cpuMs, ms, storeOperations }: Totals): void {
  const count = runs * rounds;
  console.log(
    `${name}: ${Math.round((1000 * count) / ms)} runs a second; each takes ${(cpuMs / count).toFixed(3)} ms of CPU time ` +
      `and ${(storeOperations / count).toFixed(2)} store operations`,
  );
}
