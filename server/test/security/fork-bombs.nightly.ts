/**
 * S-48 on the built server: workflows that start workflows without end. In the meantime a process beside the server
 * calls `/health/live` and runs unrelated workflows, and the test counts the runs that are open and in memory.
 */
import { expect, it } from 'vitest';
import { Client } from '../behavior/support/client.js';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import { chain, mark, step } from '../behavior/support/steps.js';
import { expectLively, worstLiveLatency } from './support/live-latency.js';

const BUDGET = 1000;
/** The default of `instances_parked_max`. */
const IN_MEMORY_MAX = 2000;
/** The interval at which open runs are counted. */
const LOOKS = 12;

const start = (id: string, definitionId: string, rest = {}) =>
  step(id, 'SubWorkflow', { DefinitionId: `"${definitionId}"`, Wait: 'False' }, rest);

interface Bomb {
  readonly definitions: Readonly<Record<string, readonly object[]>>;
  readonly roots: number;
}

const BOMBS: Readonly<Record<string, Bomb>> = {
  // A rejected start ends its run, which makes room for others: this one never comes to rest.
  'two children of the same definition, recursively': {
    definitions: {
      bomb: chain(
        start('left', 'bomb', { ErrorBehavior: 'Terminate' }),
        start('right', 'bomb', { ErrorBehavior: 'Terminate' }),
      ),
    },
    roots: 1,
  },
  'two children of the same definition, recursively, started by three clients': {
    definitions: { bomb: chain(start('left', 'bomb'), start('right', 'bomb')) },
    roots: 3,
  },
  'one child for each of 3,000 items': {
    definitions: {
      sleeper: [step('sleep', 'Delay', { Period: '"01:00:00"' })],
      bomb: [
        step(
          'each',
          'Foreach',
          { Collection: 'list(range(3000))', RunParallel: 'True' },
          { Do: [[start('one', 'sleeper')]] },
        ),
      ],
    },
    roots: 1,
  },
};

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? Number.NaN);
}

it.each(Object.entries(BOMBS))(
  'keeps a fork bomb (%s) within the budget and delays no other run',
  { timeout: 240_000 },
  async (_, { definitions, roots }) => {
    const server = await startProcess({ PORT: '0', DATA_DIR: await temporaryFolder() });
    const { pid, url } = server;
    const client = new Client(url);
    const healthy = await client.define(chain(mark('a'), mark('b'), mark('c')));
    for (const [Id, Steps] of Object.entries(definitions)) {
      const stored = await client.post('/api/definition', { Id, Steps } as never);
      expect(stored.status, stored.text).toBe(201);
    }
    await client.ended(await client.start(healthy));

    const measured = await worstLiveLatency({ pid, url }, async () => {
      for (let root = 0; root < roots; root += 1) await client.start('bomb');
      // The bomb explodes: the budget is used up.
      const refused = () => metric(url, 'stepwright_descendants_refused_total');
      await expect.poll(refused, { timeout: 120_000 }).toBeGreaterThan(0);
      const worst = { open: 0, inMemory: 0 };
      for (let look = 0; look < LOOKS; look += 1) {
        await client.ended(await client.start(healthy));
        const open = await metric(url, 'stepwright_workflows{status="Runnable"}');
        worst.open = Math.max(worst.open, open);
        const inMemory = await metric(url, 'stepwright_workflows_in_memory');
        worst.inMemory = Math.max(worst.inMemory, inMemory);
      }
      return worst;
    });
    const { inMemory, open } = measured.answer;
    expect(open).toBeGreaterThan(0);
    // In addition, the roots and two unrelated runs.
    expect(open).toBeLessThanOrEqual(roots * (BUDGET + 1) + 2);
    // Runs that clients start are loaded in addition; others wait in the store.
    expect(inMemory).toBeLessThanOrEqual(IN_MEMORY_MAX + 2);
    expectLively(measured);
  },
);
