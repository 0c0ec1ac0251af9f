/** The examples of docs/worker-sdk.md and of the package's comments: they compile, they run, and they print what they say. */
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAYMENT } from '../../sdk/test/support/definitions.js';
import { ServerProcess } from '../../sdk/test/support/server-process.js';
import { readSnippets, SnippetFolder } from '../../sdk/test/support/snippets.js';
import { typeErrors } from '../../sdk/test/support/type-check.js';
import * as workerSdk from '../src/index.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const snippets = readSnippets(PACKAGE, ['../docs/worker-sdk.md', 'README.md', 'src/**/*.ts']);
const folder = new SnippetFolder(PACKAGE);
const runsForEver = snippets.filter(({ code }) => code.includes('await worker.run();'));
const client = snippets.find(({ code }) => code.includes('// Complete r-250'))!;

let server: ServerProcess;
let api: StepwrightClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  api = createClient({ baseUrl: server.url });
  await api.definitions.register(PAYMENT);
});
afterAll(async () => {
  await server.remove();
});

describe('examples', () => {
  it('compile', () => {
    const files = snippets.map((snippet) => folder.write(snippet));
    const errors = typeErrors(`${PACKAGE}/tsconfig.test.json`, files, { noUnusedLocals: false });
    expect(errors).toEqual([]);
  });

  it.each(runsForEver)(
    'of a worker and of a client complete a workflow together: $name',
    async (worker) => {
      let printed = '';
      const { exitCode, output } = await folder.run(worker, server.url, async () => {
        const run = await folder.run(client, server.url);
        expect(run.exitCode, run.output).toBe(0);
        printed = run.output;
        return true;
      });
      expect(exitCode, output).toBe(0);
      expect(printed).toBe('Complete r-250\n');
    },
  );

  it('of a first worker and a first client have less than 15 lines', () => {
    for (const { code } of [...runsForEver, client]) {
      expect(code.replace('\nexport {};\n', '').split('\n').length).toBeLessThan(15);
    }
  });

  it.each(snippets.filter((snippet) => !runsForEver.includes(snippet) && snippet !== client))(
    'run and print what they say: $name',
    async (snippet) => {
      const { exitCode, output } = await folder.run(snippet, server.url);
      expect(exitCode, output).toBe(0);
      const lines = output.split('\n');
      for (const line of snippet.prints) expect(lines).toContain(line);
    },
  );

  it('are there for everything that the package exports and that exists at run time', () => {
    const shown = snippets.map(({ code }) => code).join('\n');
    const missing = Object.keys(workerSdk).filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(shown),
    );
    expect(missing).toEqual([]);
  });
});
