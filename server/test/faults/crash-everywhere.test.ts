/**
 * T-01: the server is killed (SIGKILL) right before a store call, for every store call of a mixed workload, and
 * restarted on the same file. The workload must always end exactly as it does without a crash.
 *
 * A call is identified by its operation and its index among the calls of that operation: unlike an index over all
 * operations, this identifies the same moment in every run, whatever timers and heartbeats did in between.
 *
 * The daily set has the first call of each operation, `pnpm test:nightly` has all.
 *
 * The server is the built one, in its own process. A call that finds no server restarts it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { Ledger } from '../support/ledger.js';
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
  const ledger = await Ledger.start();
  const server = new ServerProcess({
    DATA_DIR: folder,
    PYTHON_SPARES: '0',
    // A step that fails because a busy machine is slow would make the run differ from the one without a crash.
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
      ledgerCalls: ledger.countByKey,
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
  // One execution, however often it was repeated: every call had the same key.
  expect(outcome.ledgerCalls.size).toBe(1);
}

describe('a server that is killed before any store call', () => {
  it('ends the workload as if it had not been killed', { timeout: 1_800_000 }, async () => {
    const undisturbed = await runWithCrash(null);
    check(undisturbed);
    expect([...undisturbed.ledgerCalls.values()]).toEqual([1]);
    const calls = Object.entries(undisturbed.storeCalls).flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index) => index + 1)
        .filter((index) => IS_NIGHTLY || index === 1)
        .map((index) => `${name} ${String(index)}`),
    );
    expect(calls.length).toBeGreaterThan(IS_NIGHTLY ? 25 : 10);

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
    // The crashes did happen. A run may need fewer scans and the like than the first one.
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
