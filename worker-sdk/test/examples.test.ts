/**
 * The examples of docs/worker-sdk.md and of the package's comments: they compile, run, and print the documented output.
 */
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../../sdk/test/support/server-process.js';
import { readDefinitions, readSnippets, SnippetFolder } from '../../sdk/test/support/snippets.js';
import { typeErrors } from '../../sdk/test/support/type-check.js';
import * as workerSdk from '../src/index.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const PAGE = '../docs/worker-sdk.md';
const snippets = readSnippets(PACKAGE, [PAGE, 'README.md', 'src/**/*.ts']);
const definitions = readDefinitions(join(PACKAGE, PAGE));
const folder = new SnippetFolder(PACKAGE, definitions);
const workers = snippets.filter(({ runsForEver }) => runsForEver);
const cashiers = workers.filter(({ code }) => code.includes('receipt: `r-${amount}`'));
const client = snippets.find(({ code }) => code.includes('// r-250'))!;

/** Every result of the work ends the workflow. */
const ANY_WORK = `
id: any-work
defaultErrorBehavior: Terminate
steps:
  - id: do
    stepType: Activity
    inputs:
      ActivityName: data.activity
`;

let server: ServerProcess;
let api: StepwrightClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  api = createClient({ baseUrl: server.url });
  for (const definition of [ANY_WORK, ...definitions.values()])
    await api.definitions.register(definition);
});
afterAll(async () => {
  await server.remove();
});

/** Null: a signal ended a worker that does not handle it. */
function endedWell(exitCode: number | null, output: string): void {
  expect([0, null], output).toContain(exitCode);
}

describe('the set of worker SDK examples', () => {
  it('compiles', () => {
    const files = snippets.map((snippet) => folder.write(snippet));
    const errors = typeErrors(`${PACKAGE}/tsconfig.test.json`, files, { noUnusedLocals: false });
    expect(errors).toEqual([]);
  });

  it.each(cashiers)(
    'completes a workflow with a worker and a client together: $name',
    async (worker) => {
      let printed = '';
      const { exitCode, output } = await folder.run(worker, server.url, async () => {
        const run = await folder.run(client, server.url);
        expect(run.exitCode, run.output).toBe(0);
        printed = run.output;
        return true;
      });
      endedWell(exitCode, output);
      expect(printed).toBe('r-250\n');
    },
  );

  it.each(workers.filter((worker) => !cashiers.includes(worker)))(
    'runs a worker until it is stopped: $name',
    async (worker) => {
      const activity = /activities: \{\s*'([\w-]+)'/.exec(worker.code)?.[1];
      const work = await api.workflows.start('any-work', { activity: activity ?? '' });
      const { exitCode, output } = await folder.run(
        worker,
        server.url,
        async () => (await work.get()).endTime !== null,
      );
      endedWell(exitCode, output);
      expect((await work.get()).endTime).not.toBeNull();
    },
  );

  it('needs fewer than 15 lines for the first worker and the first client', () => {
    for (const { code } of [workers[0]!, client]) {
      expect(code.replace('\nexport {};\n', '').split('\n').length).toBeLessThan(15);
    }
  });

  it.each(snippets.filter((snippet) => !workers.includes(snippet) && snippet !== client))(
    'runs in doc comments and prints the documented output: $name',
    async (snippet) => {
      const { exitCode, output } = await folder.run(snippet, server.url);
      expect(exitCode, output).toBe(0);
      const lines = output.split('\n');
      for (const line of snippet.prints) expect(lines).toContain(line);
    },
  );

  it('covers every run-time export of the package', () => {
    const shown = snippets.map(({ code }) => code).join('\n');
    const missing = Object.keys(workerSdk).filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(shown),
    );
    expect(missing).toEqual([]);
  });
});
