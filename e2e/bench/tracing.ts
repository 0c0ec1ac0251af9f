/**
 * `pnpm bench:tracing [--rounds=8] [--scale=0.5]`: what tracing costs, as ratios within one run.
 *
 * Servers without tracing, with a sample of 1 % and with all traces take W2 in turn, in another order in each round. A second server
 * without tracing shows how far apart two equal ones are: smaller differences mean nothing. CPU time suffers less from other
 * work on the machine than runs a second.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { BenchServer } from './bench-server.ts';
import { medianOf } from './measure.ts';
import { workloadNamed, type Numbers } from './workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    scale: { type: 'string', default: '0.5' },
  },
});
const load = workloadNamed('W2');

/** It discards what it gets. */
const collector = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const on = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
};
const KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  off: {},
  'off again': {},
  '1 % of traces': { ...on, OTEL_TRACES_SAMPLER_ARG: '0.01' },
  'all traces': { ...on, OTEL_TRACES_SAMPLER_ARG: '1' },
};

const servers = new Map<string, BenchServer>();
const measured = new Map<string, Numbers[]>(Object.keys(KINDS).map((kind) => [kind, []]));
try {
  for (const [kind, environment] of Object.entries(KINDS)) {
    servers.set(kind, await BenchServer.start({ settings: environment }));
  }
  // The first round warms the servers up.
  await measureRound(0);
  for (const numbers of measured.values()) numbers.splice(0);
  for (let round = 1; round <= Number(values.rounds); round += 1) await measureRound(round);
  show();
} finally {
  for (const server of servers.values()) await server.stop();
  collector.close();
  collector.closeAllConnections();
}

async function measureRound(round: number): Promise<void> {
  const inOrder = [...servers];
  const first = round % inOrder.length;
  for (const [kind, server] of [...inOrder.slice(first), ...inOrder.slice(0, first)]) {
    const numbers = await load.run(server, Number(values.scale));
    measured.get(kind)?.push(numbers);
  }
}

function show(): void {
  const names = ['perSecond', 'cpuMsEach', 'storeOperationsEach'];
  console.log(
    `${'W2, to the median of off'.padEnd(26)}${names.map((name) => name.padStart(22)).join('')}`,
  );
  for (const kind of measured.keys()) {
    const cells = names.map((name) => {
      const value = medianIn(kind, name);
      const ratio = value / medianIn('off', name);
      return `${value.toFixed(2)} (${ratio.toFixed(3)})`.padStart(22);
    });
    console.log(`${kind.padEnd(26)}${cells.join('')}`);
  }
}

function medianIn(kind: string, name: string): number {
  return medianOf((measured.get(kind) ?? []).map((numbers) => numbers[name] ?? NaN));
}
