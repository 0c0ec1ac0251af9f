/**
 * `pnpm bench [W1 W2 …] [--scale=0.2] [--json] [--peers=folder] [--profile[=folder]]`: measures the built server on the
 * embedded store (or on `dbhost`), and then other engines if their scripts are available. With `--profile` it draws a
 * flame graph of each workload; profiling slows the server down, so do not compare its numbers with others.
 *
 * This is not a test: machines differ, and results are noisy. Only the ratios to the raw store, measured in the same
 * run, are comparable. The server is on loopback, the load is limited, and everything ends by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { BenchServer } from './bench-server.ts';
import type { Span } from './cpu-profile.ts';
import { compareWith, measurePeers } from './peers.ts';
import { writeProfiles } from './profile.ts';
import { measureRawMongo } from './raw-mongo.ts';
import { measureRawPostgres } from './raw-postgres.ts';
import { measureRawStore, type RawStore } from './raw-store.ts';
import { WORKLOADS, type Numbers } from './workloads.ts';

const given = process.argv.slice(2);
const scale = Number(/--scale=([\d.]+)/.exec(given.join(' '))?.[1] ?? '1');
const names = given.filter((argument) => /^W\d$/.test(argument));
const asJson = given.includes('--json');
const peersFolder = given.find((argument) => argument.startsWith('--peers='))?.slice(8);
const drawInto = given
  .map((argument) => /^--profile(?:=(.+))?$/.exec(argument))
  .find((match) => match !== null);
const profilesFolder =
  drawInto === undefined ? null : mkdtempSync(path.join(tmpdir(), 'stepwright-profiles-'));
const spans: Record<string, Span> = {};
const { dbhost } = process.env;

const raw = await measureRaw(600);
const server = await BenchServer.start({ profilesFolder });
const results: Record<string, Numbers> = {
  machine: { cores: cpus().length },
  raw: { singleMs: raw.singleMs, batchedPerSecond: raw.batchedPerSecond },
  server: { readyMs: server.readyMs },
};
try {
  for (const workload of WORKLOADS) {
    if (names.length > 0 && !names.includes(workload.name)) continue;
    if (!asJson) console.log(`\n${workload.name}: ${workload.about}`);
    const fromUs = nowUs();
    const numbers = await workload.run(server, scale);
    spans[workload.name] = { fromUs, toUs: nowUs() };
    results[workload.name] = { ...numbers, ...ratios(numbers) };
    if (!asJson) show(results[workload.name] ?? {});
  }
} finally {
  await server.stop();
}
if (profilesFolder !== null) {
  writeProfiles(profilesFolder, spans, drawInto?.[1] ?? 'docs/evidence/flame-graphs');
  rmSync(profilesFolder, { recursive: true, force: true });
}
if (peersFolder !== undefined) await compare(peersFolder);
if (asJson) console.log(JSON.stringify(results, null, 2));
else {
  console.log('\nraw store: one synced write, and writes per second in synced batches of 32');
  show(results['raw'] ?? {});
  show(results['server'] ?? {});
}

async function measureRaw(documentBytes: number): Promise<RawStore> {
  if (dbhost === undefined) return measureRawStore(documentBytes);
  const measure = dbhost.startsWith('postgres') ? measureRawPostgres : measureRawMongo;
  return measure(dbhost, documentBytes);
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

async function compare(folder: string): Promise<void> {
  const peers = await measurePeers(folder, (text) => {
    if (!asJson) console.log(`\n${text}`);
  });
  for (const [peer, workloads] of Object.entries(peers)) {
    for (const [name, theirs] of Object.entries(workloads)) {
      const ours = results[name];
      if (ours === undefined) continue;
      const compared = { ...theirs, ...compareWith(ours, theirs) };
      results[`${name} ${peer}`] = compared;
      if (asJson) continue;
      console.log(`${name} of ${peer}; ratios above 1 are in our favor`);
      show(compared);
    }
  }
}

function ratios(numbers: Numbers): Numbers {
  const { p50Ms, perSecond, storeOperationsEach } = numbers;
  const rawMs = raw.singleMs * Math.max(1, storeOperationsEach ?? 1);
  return {
    ...(p50Ms === undefined ? {} : { p50ToOneWrite: p50Ms / raw.singleMs }),
    ...(p50Ms === undefined ? {} : { p50ToAsManyWrites: p50Ms / rawMs }),
    ...(perSecond === undefined ? {} : { shareOfRawWrites: perSecond / raw.batchedPerSecond }),
  };
}

function show(numbers: Numbers): void {
  for (const [name, value] of Object.entries(numbers)) {
    console.log(`  ${name.padEnd(22)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)}`);
  }
}
