/**
 * `pnpm bench [W1 W2 …] [--scale=0.2] [--json]`: measures the built server on the embedded store (or on `dbhost`).
 *
 * It is not a test: machines differ and are noisy. What can be compared are the ratios to the raw store, measured in the
 * same run. The server is on loopback, the load is bounded, and everything ends by itself.
 */
import { cpus } from 'node:os';
import { BenchServer } from './bench-server.ts';
import { measureRawStore } from './raw-store.ts';
import { WORKLOADS, type Numbers } from './workloads.ts';

const given = process.argv.slice(2);
const scale = Number(/--scale=([\d.]+)/.exec(given.join(' '))?.[1] ?? '1');
const names = given.filter((argument) => /^W\d$/.test(argument));
const asJson = given.includes('--json');

const raw = measureRawStore(600);
const server = await BenchServer.start();
const results: Record<string, Numbers> = {
  machine: { cores: cpus().length },
  raw: { singleMs: raw.singleMs, batchedPerSecond: raw.batchedPerSecond },
  server: { readyMs: server.readyMs },
};
try {
  for (const workload of WORKLOADS) {
    if (names.length > 0 && !names.includes(workload.name)) continue;
    if (!asJson) console.log(`\n${workload.name}: ${workload.about}`);
    const numbers = await workload.run(server, scale);
    results[workload.name] = { ...numbers, ...ratios(numbers) };
    if (!asJson) show(results[workload.name] ?? {});
  }
} finally {
  await server.stop();
}
if (asJson) console.log(JSON.stringify(results, null, 2));
else {
  console.log('\nraw store: one synced write, and writes a second in synced batches of 32');
  show(results['raw'] ?? {});
  show(results['server'] ?? {});
}

function ratios(numbers: Numbers): Numbers {
  const { p50Ms, perSecond } = numbers;
  return {
    ...(p50Ms === undefined ? {} : { p50ToOneWrite: p50Ms / raw.singleMs }),
    ...(perSecond === undefined ? {} : { shareOfRawWrites: perSecond / raw.batchedPerSecond }),
  };
}

function show(numbers: Numbers): void {
  for (const [name, value] of Object.entries(numbers)) {
    console.log(`  ${name.padEnd(22)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)}`);
  }
}
