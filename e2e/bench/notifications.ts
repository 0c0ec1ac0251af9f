/**
 * `pnpm bench:notifications [--runs=3000] [--rounds=4]`: what notifications with a slow target cost the runs.
 *
 * In turn, runs of one step start and end without a notification and with one, whose target takes a second for each answer.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { BenchServer } from './bench-server.ts';
import { throughputOf } from './measure.ts';

const ANSWER_MS = 1000;
const LANES = 64;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '4' },
  },
});
const runs = Number(values.runs);
const target = createServer((request, response) => {
  request.resume();
  setTimeout(() => response.writeHead(204).end(), ANSWER_MS);
});
target.listen(0, '127.0.0.1');
await once(target, 'listening');
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
const secret = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;
const server = await BenchServer.start(null);
const { client } = server;
try {
  const Steps = [{ Id: 'only', StepType: 'NoOp' }];
  await client.call('POST', '/api/definition', { Id: 'short', Steps });
  await endedPerSecond();
  const totals = { without: 0, with: 0 };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    totals.without += await endedPerSecond();
    await client.call('PUT', '/api/notification/slow', { url, on: ['completed'], secret });
    totals.with += await endedPerSecond();
    await client.call('DELETE', '/api/notification/slow');
  }
  for (const [name, total] of Object.entries(totals)) {
    console.log(
      `${name} a notification: ${Math.round(total / Number(values.rounds))} runs a second`,
    );
  }
  console.log(`share: ${((100 * totals.with) / totals.without).toFixed(1)} %`);
} finally {
  await server.stop();
  target.close();
  target.closeAllConnections();
}

async function endedPerSecond(): Promise<number> {
  const startedAt = performance.now();
  await throughputOf(runs, LANES, async () => {
    await client.call('POST', '/api/workflow/short?wait=30', {});
  });
  return (1000 * runs) / (performance.now() - startedAt);
}
