/** The examples of docs/sdk.md and of the package's comments: they compile, they run, and they print what they say. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as sdk from '../src/index.js';
import type { ServerProcess } from './support/server-process.js';
import { readSnippets, SnippetFolder } from './support/snippets.js';
import { startServer } from './support/started-server.js';
import { typeErrors } from './support/type-check.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const snippets = readSnippets(PACKAGE, ['../docs/sdk.md', 'README.md', 'src/**/*.ts']);
const folder = new SnippetFolder(PACKAGE);

let server: ServerProcess;

beforeAll(async () => {
  ({ server } = await startServer());
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

  it.each(snippets)('run and print what they say: $name', async (snippet) => {
    const { exitCode, output } = await folder.run(snippet, server.url);
    expect(exitCode, output).toBe(0);
    const lines = output.split('\n');
    for (const line of snippet.prints) expect(lines).toContain(line);
  });

  it('are there for everything that the package exports and that exists at run time', () => {
    const shown = snippets.map(({ code }) => code).join('\n');
    const missing = Object.keys(sdk).filter((name) => !new RegExp(`\\b${name}\\b`).test(shown));
    expect(missing).toEqual([]);
  });

  it('are not fewer than they were', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(40);
  });
});
