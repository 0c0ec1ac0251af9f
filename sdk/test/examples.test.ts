/**
 * The examples in docs/sdk.md, docs/authentication.md and the doc comments of the package compile, run and print the
 * documented output.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as sdk from '../src/index.js';
import { ServerProcess } from './support/server-process.js';
import { readDefinitions, readSnippets, SnippetFolder, type Snippet } from './support/snippets.js';
import { startServer } from './support/started-server.js';
import { typeErrors } from './support/type-check.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const PAGE = '../docs/sdk.md';
const page = readSnippets(PACKAGE, [PAGE]);
const comments = readSnippets(PACKAGE, ['README.md', '../docs/authentication.md', 'src/**/*.ts']);
const snippets = [...page, ...comments];
const folder = new SnippetFolder(PACKAGE, readDefinitions(join(PACKAGE, PAGE)));

/** Contains only what the page stores. */
let empty: ServerProcess;
let server: ServerProcess;

beforeAll(async () => {
  empty = await ServerProcess.start();
  ({ server } = await startServer());
});
afterAll(async () => {
  await empty.remove();
  await server.remove();
});

async function runs(snippet: Snippet, { url }: ServerProcess): Promise<void> {
  const { exitCode, output } = await folder.run(snippet, url);
  expect(exitCode, output).toBe(0);
  const lines = output.split('\n');
  for (const line of snippet.prints) expect(lines).toContain(line);
}

describe('the set of SDK examples', () => {
  it('compiles', () => {
    const files = snippets.map((snippet) => folder.write(snippet));
    const errors = typeErrors(`${PACKAGE}/tsconfig.test.json`, files, { noUnusedLocals: false });
    expect(errors).toEqual([]);
  });

  it.each(page)('runs as printed in the documentation, in order: $name', (snippet) =>
    runs(snippet, empty),
  );

  it.each(comments)('runs in doc comments and prints the documented output: $name', (snippet) =>
    runs(snippet, server),
  );

  it('covers every run-time export of the package', () => {
    const shown = snippets.map(({ code }) => code).join('\n');
    const missing = Object.keys(sdk).filter((name) => !new RegExp(`\\b${name}\\b`).test(shown));
    expect(missing).toEqual([]);
  });

  it('contains at least 40', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(40);
  });
});
