/**
 * T-01: the server is killed (SIGKILL) right before a store call, for every store call of a mixed workload, and started
 * again on the same file. Each time the workload must end exactly as it does without a crash.
 *
 * A call is named by its operation and its place among the calls of that operation: unlike a number over all operations, that
 * names the same moment in every run, whatever timers and heartbeats did in between.
 *
 * The server is the built one, in a process of its own. A call that finds no server starts it again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Ledger } from './support/ledger.js';
import {
  EXPECTED,
  EXPECTED_STEPS,
  PersistentClient,
  runMixedWorkload,
  type Instance,
  type StepRow,
} from './support/mixed-workload.js';
import { ServerProcess, type StoreCalls } from './support/server-process.js';

/** Two cores: two servers at a time. */
const SIDE_BY_SIDE = 2;

interface Outcome {
  readonly instance: Instance;
  readonly steps: readonly StepRow[];
  readonly ledgerCalls: ReadonlyMap<string, number>;
  readonly crashedBefore: string | null;
  readonly storeCalls: StoreCalls;
}

async function runWithCrash(crashAt: string | null): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-crash-'));
  const ledger = new Ledger();
  await ledger.start();
  const server = new ServerProcess({
    DATA_DIR: folder,
    PYTHON_SPARES: '0',
    // A step that fails because a busy machine is slow would be another run than the one without a crash.
    EXPRESSION_TIMEOUT_MS: '60000',
  });
  const address = (): Promise<string> => server.url(crashAt);
  try {
    const instance = await runMixedWorkload(address, ledger);
    const client = new PersistentClient(address);
    const page = (await client.get(`/api/workflow/${instance.workflowId}/steps?limit=500`)) as {
      readonly items: readonly StepRow[];
    };
    return {
      instance,
      steps: page.items,
      ledgerCalls: ledger.calls,
      crashedBefore: server.crashedBefore,
      storeCalls: await server.storeCalls(),
    };
  } finally {
    await server.kill();
    await ledger.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(outcome: Outcome): void {
  expect(outcome.instance.status).toBe('Complete');
  expect(outcome.instance.data).toMatchObject(EXPECTED);
  const counts: Record<string, number> = {};
  for (const { stepId } of outcome.steps) counts[stepId] = (counts[stepId] ?? 0) + 1;
  expect(counts).toEqual(EXPECTED_STEPS);
  // One execution, however often it was repeated: every call carried the same key.
  expect(outcome.ledgerCalls.size).toBe(1);
}

describe('a server that is killed before any store call', () => {
  it('ends the workload as if it had not been killed', { timeout: 1_800_000 }, async () => {
    const undisturbed = await runWithCrash(null);
    check(undisturbed);
    expect([...undisturbed.ledgerCalls.values()]).toEqual([1]);
    const calls = Object.entries(undisturbed.storeCalls).flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index) => `${name} ${String(index + 1)}`),
    );
    expect(calls.length).toBeGreaterThan(25);

    const reached = new Set<string | null>();
    const open = [...calls];
    const runner = async (): Promise<void> => {
      for (let crashAt = open.shift(); crashAt !== undefined; crashAt = open.shift()) {
        try {
          const outcome = await runWithCrash(crashAt);
          reached.add(outcome.crashedBefore);
          check(outcome);
        } catch (error) {
          throw new Error(`killed before ${crashAt}`, { cause: error });
        }
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runner));
    // The crashes did happen. Of scans and the like a run may need fewer than the first one did.
    for (const operation of [
      'insertDefinition',
      'insertInstance',
      'commitInstance',
      'claimActivity',
      'completeActivity',
      'postMessages',
      'insertEvent',
    ]) {
      expect(reached).toContain(`${operation} 1`);
    }
  });
});
