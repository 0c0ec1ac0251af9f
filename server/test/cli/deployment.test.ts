/**
 * Goal: of several folders that are deployed at once, the server ends with one, whole.
 * Method: deployments in one process, whose requests alternate, on a real server.
 */
import { expect, it } from 'vitest';
import { deploy, planOf } from '../../src/cli/files/deployment.js';
import { withOfflineServer } from '../../src/cli/files/offline-server.js';
import type { WorkflowFile } from '../../src/cli/files/workflow-files.js';

const FILES = 8;

function folderOf(description: string): WorkflowFile[] {
  return Array.from({ length: FILES }, (_, index) => ({
    path: `flow-${index}.yaml`,
    kind: 'definition' as const,
    text: `Id: flow-${index}\nDescription: ${description}\nSteps: [{ Id: a, StepType: NoOp }]\n`,
    unreadable: null,
  }));
}

it('ends with one of the folders, whole', async () => {
  await withOfflineServer(async (server) => {
    const folders = ['one', 'two'].map(folderOf);
    // In opposite orders, each stores first what the other stores last.
    const [one = [], two = []] = folders;
    const deployed = await Promise.all([deploy(server, one), deploy(server, two.toReversed())]);
    expect(deployed.map(({ rejected }) => rejected)).toEqual([null, null]);
    const unchanged: number[] = [];
    for (const folder of folders) {
      const plan = await planOf(server, folder);
      unchanged.push(plan.filter(({ action }) => action === 'unchanged').length);
    }
    expect(unchanged.toSorted((a, b) => a - b)).toEqual([0, FILES]);
  });
});
