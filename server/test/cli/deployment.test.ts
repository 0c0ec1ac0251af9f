/**
 * Goal: of several folders that are deployed at once, the server ends with one, whole.
 * Method: deployments in one process, whose requests alternate, on a real server.
 */
import { expect, it } from 'vitest';
import { deploy, planOf } from '../../src/cli/files/deployment.js';
import { withOfflineServer } from '../../src/cli/files/offline-server.js';
import type { WorkflowFile } from '../../src/cli/files/workflow-files.js';

const DEFINITIONS = 6;
const FILES = DEFINITIONS + 1;

/** Definitions with a trigger each, and the script that they use. */
function folderOf(name: 'one' | 'two'): WorkflowFile[] {
  const cron = name === 'one' ? '@daily' : '@weekly';
  const definitions = Array.from({ length: DEFINITIONS }, (_, index) => ({
    path: `flow-${index}.yaml`,
    kind: 'definition' as const,
    text: `Id: flow-${index}
Triggers: [{ Name: regular, Cron: '${cron}' }]
Steps: [{ Id: a, StepType: step }]
`,
  }));
  const script = { path: 'step.py', kind: 'script' as const, text: `loud = '${name}'\n` };
  return [script, ...definitions].map((file) => ({
    ...file,
    unreadable: null,
    realPath: file.path,
  }));
}

async function cronsOn(url: string): Promise<string[]> {
  const ids = Array.from({ length: DEFINITIONS }, (_, index) => `flow-${index}`);
  return Promise.all(
    ids.map(async (id) => {
      const response = await fetch(`${url}/api/definition/${id}/triggers`);
      const [trigger] = (await response.json()) as { readonly cron: string }[];
      return trigger?.cron ?? 'none';
    }),
  );
}

it('ends with one complete folder', async () => {
  await withOfflineServer(async (server) => {
    const [one, two] = [folderOf('one'), folderOf('two')];
    // Both know the script. In opposite orders, each then stores first what the other stores last.
    await deploy(server, one.slice(0, 1));
    const deployed = await Promise.all([deploy(server, one), deploy(server, two.toReversed())]);
    expect(deployed.map(({ rejected }) => rejected)).toEqual([null, null]);
    const unchanged: number[] = [];
    for (const folder of [one, two]) {
      const plan = await planOf(server, folder);
      unchanged.push(plan.filter(({ action }) => action === 'unchanged').length);
    }
    expect(unchanged.toSorted((a, b) => a - b)).toEqual([0, FILES]);
    const winner = unchanged[0] === FILES ? '@daily' : '@weekly';
    expect(new Set(await cronsOn(server.url))).toEqual(new Set([winner]));
  });
});
