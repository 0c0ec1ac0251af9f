/** Simultaneous starts with one reference: whichever nodes they arrive at, one run is open afterwards. */
import { isApiError } from '@stepwright/sdk';
import { expect } from 'vitest';
import { scenarios, type TestEnvironment } from '../environment/test-environment.js';

const STARTS = 200;

type Rule = 'fail' | 'existing' | 'terminate';

/** The ids in the responses, and in the refusals. */
async function startAll(
  { client }: TestEnvironment,
  definitionId: string,
  onConflict: Rule,
): Promise<{ readonly started: string[]; readonly refused: string[] }> {
  const [started, refused]: [string[], string[]] = [[], []];
  const options = { reference: 'one', onConflict, timeoutMs: 120_000 };
  await Promise.all(
    Array.from({ length: STARTS }, async (_, n) => {
      try {
        started.push((await client.workflows.start(definitionId, { n }, options)).id);
      } catch (error) {
        if (!isApiError(error, 'reference_in_use')) throw error;
        refused.push(String(error.problem['workflowId']));
      }
    }),
  );
  return { started, refused };
}

function leavesOneRun(onConflict: Rule): (environment: TestEnvironment) => Promise<void> {
  return async (environment) => {
    const { client } = environment;
    const definitionId = environment.unique('definition');
    await client.definitions.register({
      id: definitionId,
      steps: [{ id: 'wait', stepType: 'Delay', inputs: { Period: 3600 } }],
    });
    const { refused, started } = await startAll(environment, definitionId, onConflict);

    const { items } = await client.workflows
      .list({ definitionId, status: 'Runnable', limit: 500 })
      .page();
    expect(items).toHaveLength(1);
    const open = items[0]!.workflowId;
    expect(started).toContain(open);
    expect(new Set(started).size).toBe(onConflict === 'terminate' ? STARTS : 1);
    expect(started).toHaveLength(onConflict === 'fail' ? 1 : STARTS);
    expect(refused).toEqual(Array(STARTS - started.length).fill(open));
    const { count } = await client.workflows.count({ definitionId, outcome: 'Terminated' });
    expect(count).toBe(new Set(started).size - 1);
    await client.workflows.handle(open).terminate();
  };
}

scenarios(
  `a set of ${STARTS} simultaneous starts with one reference`,
  {
    'leaves one run open with fail': leavesOneRun('fail'),
    'leaves one run open with existing': leavesOneRun('existing'),
    'leaves one run open with terminate': leavesOneRun('terminate'),
  },
  // On one node, the starts of a reference take turns in memory.
  ['two nodes'],
);
