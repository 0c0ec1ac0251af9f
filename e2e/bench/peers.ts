/**
 * Comparison with other engines: runs their own scripts, each in a folder `<peers>/<name>` with a `bench.mjs`, right after
 * ours on the same machine. A folder that was not set up (no `node_modules`) is left out, and said so.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Numbers } from './workloads.ts';

const LONGEST_MS = 300_000;

/** What their scripts write down for each of their measurements. */
interface PeerMeasurement {
  readonly p50?: number;
  readonly wfPerS?: number;
  /** By process; `bench` is the one that makes the load. */
  readonly cpuMsPerWf?: Readonly<Record<string, number>>;
}

/** @returns the numbers of each workload by peer */
export async function measurePeers(
  folder: string,
  report: (text: string) => void,
): Promise<Record<string, Record<string, Numbers>>> {
  const results: Record<string, Record<string, Numbers>> = {};
  for (const name of readdirSync(folder).sort()) {
    const home = path.join(folder, name);
    if (!existsSync(path.join(home, 'bench.mjs'))) continue;
    if (!existsSync(path.join(home, 'node_modules'))) {
      report(`${name}: left out, it was not set up`);
      continue;
    }
    report(`${name}: running`);
    const measured = await runPeer(home);
    if (measured === null) report(`${name}: left out, its script failed`);
    else results[name] = measured;
  }
  return results;
}

/** Ours and theirs, for one workload; a ratio above 1 is in our favour. */
export function compareWith(ours: Numbers, theirs: Numbers): Numbers {
  const ratio = (over?: number, under?: number): number | undefined =>
    over === undefined || under === undefined ? undefined : over / under;
  const ratios = {
    p50Ratio: ratio(theirs['p50Ms'], ours['p50Ms']),
    perSecondRatio: ratio(ours['perSecond'], theirs['perSecond']),
    cpuRatio: ratio(theirs['cpuMsEach'], ours['cpuMsEach']),
  };
  const known = Object.entries(ratios).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  return Object.fromEntries(known);
}

async function runPeer(home: string): Promise<Record<string, Numbers> | null> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'stepwright-peer-'));
  const result = path.join(scratch, 'result.json');
  mkdirSync(path.join(home, '..', 'logs'), { recursive: true });
  try {
    // QL=0: their scripts would wait for a quiet machine, ours do not.
    const child = spawn(process.execPath, ['bench.mjs'], {
      cwd: home,
      env: { ...process.env, RESULT: result, QL: '0' },
      stdio: 'ignore',
      timeout: LONGEST_MS,
    });
    await new Promise((resolve) => child.once('exit', resolve));
    return existsSync(result) ? readResult(result) : null;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Their names are `W1_seq`, `W2_2000x32` and so on: one for latency, one for throughput of a workload. */
function readResult(file: string): Record<string, Numbers> {
  // Written by the peers' own harness.
  const written = JSON.parse(readFileSync(file, 'utf8')) as Record<string, PeerMeasurement>;
  const workloads: Record<string, Numbers> = {};
  for (const [key, { p50, wfPerS, cpuMsPerWf = {} }] of Object.entries(written)) {
    const name = /^(W[1-9])_/.exec(key)?.[1];
    if (name === undefined) continue;
    const cpuMsEach = Object.entries(cpuMsPerWf)
      .filter(([process]) => process !== 'bench')
      .reduce((sum, [, spentMs]) => sum + spentMs, 0);
    workloads[name] = {
      ...workloads[name],
      ...(p50 === undefined ? {} : { p50Ms: p50 }),
      ...(wfPerS === undefined ? {} : { perSecond: wfPerS }),
      // Throughput comes after latency, and is what our own figure is of.
      cpuMsEach,
    };
  }
  return workloads;
}
