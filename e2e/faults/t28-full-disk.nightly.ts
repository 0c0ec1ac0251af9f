import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { eventually } from './support/eventually.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';

const RUNS = 80;
const PER_SECOND = 8;
const OUTAGE_MS = 6000;
/**
 * The time after its last heartbeat at which the node reports that it is not ready; this must be well before the outage
 * ends.
 */
const settings = { NODE_LEASE_MS: '3000' };

/** The size limit for files of the process; writes beyond it fail, as on a full disk. */
function limitFiles(pid: number, bytes: '0' | 'unlimited'): boolean {
  const { status } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  return status === 0;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: number;
}

async function startOnce(url: string): Promise<Refusal> {
  const response = await fetch(`${url}/api/workflow/pure`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'refused', n: 1 }),
  });
  const { code } = (await response.json()) as { readonly code: string };
  return { status: response.status, code, retryAfter: Number(response.headers.get('retry-after')) };
}

describe('T-28 a disk that is full for a while', () => {
  it('is reported with 503, and no confirmed write is lost', async ({ skip }) => {
    await withFleet({ count: 1, store: 'sqlite', settings }, async ({ fleet, ledger, random }) => {
      const { pid, url } = fleet.node(0);
      if (!limitFiles(pid, 'unlimited')) skip('prlimit sets the limit, which is Linux only');
      const workload = new Workload({ urls: () => fleet.urls, ledger, random });
      await workload.begin();
      const started = workload.start(scaled(RUNS), PER_SECOND);
      await setTimeout(2000);
      const before = workload.runs.length;
      limitFiles(pid, '0');
      const fullAt = Date.now();
      const refusals: Refusal[] = [];
      const reads: number[] = [];
      while (Date.now() < fullAt + OUTAGE_MS) {
        refusals.push(await startOnce(url));
        reads.push((await fetch(`${url}/api/workflow?limit=1`)).status);
        await setTimeout(100);
      }
      const wasReady = (await fetch(`${url}/health/ready`)).ok;
      const during = workload.runs.length - before;
      limitFiles(pid, 'unlimited');
      const roomAt = Date.now();
      await eventually('it is ready again', async () => (await fetch(`${url}/health/ready`)).ok);
      const recoveryMs = Date.now() - roomAt;
      await started;
      const verdict = await check(workload, ledger, fleet);
      await workload.end();
      console.log('T-28', {
        runs: verdict.runs,
        refused: refusals.length,
        acknowledgedMeanwhile: during,
        clientRetries: workload.client.retries,
        wasReady,
        recoveryMs,
      });
      expect(verdict.violations).toEqual([]);
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ status: 503, code: 'store_unavailable' });
        expect(refusal.retryAfter).toBeGreaterThan(0);
      }
      // Existing data can be read whether or not the disk is full.
      expect(new Set(reads)).toEqual(new Set([200]));
      expect(wasReady).toBe(false);
      expect(workload.client.retries).toBeGreaterThan(0);
    });
  });
});
