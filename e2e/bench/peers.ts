/**
 * Comparison with other engines: runs their own scripts, each in a folder `<peers>/<name>` with a `bench.mjs`, right
 * after ours on the same machine. A folder that is not set up (no `node_modules`) is skipped with a message.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Numbers } from './workloads.ts';

const LONGEST_MS = 300_000;

/** The format in which their scripts record each measurement. */
interface PeerMeasurement {
  readonly p50?: number;
  readonly wfPerS?: number;
  /** By process; `bench` is the one that generates the load. */
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
      report(`${name}: skipped, because it was not set up`);
      continue;
    }
    report(`${name}: running`);
    const measured = await runPeer(home);
    if (measured === null) report(`${name}: skipped, because its script failed`);
    else results[name] = measured;
  }
  return results;
}

/** Our number and theirs for one workload; a ratio above 1 means that ours is better. */
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
    // QL=0: their scripts would otherwise wait for an idle machine.
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

/** Their names are `W1_seq`, `W2_2000x32` and so on: one for the latency and one for the throughput of a workload. */
function readResult(file: string): Record<string, Numbers> {
  // The harness of the peers writes this file.
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
      // Throughput comes after latency; our own number is a throughput too.
      cpuMsEach,
    };
  }
  return workloads;
}
