/** Checks the READMEs and the tutorial: their commands run, and their excerpts match the files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from './support/example-folders.ts';
import { fencedBlocks } from './support/fenced-blocks.ts';
import { repository } from './support/run-command.ts';
import { runDocument } from './support/run-document.ts';
import { prepareServer, SERVER_COMMAND, type RunningServer } from './support/running-server.ts';

const examples = readExamples();

/** The file endings of the languages of excerpts. */
const ENDINGS: Readonly<Record<string, string>> = { yaml: '.yaml', python: '.py', ts: '.ts' };

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

describe('the list of shell blocks', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await prepareServer();
    await server.start(SERVER_COMMAND);
  });
  afterAll(() => server.close());

  const documents = [
    'docs/conductor-migration.md',
    'examples/README.md',
    ...examples.map(({ name }) => `examples/${name}/README.md`),
  ];
  const withCommands = documents.filter((path) =>
    fencedBlocks(read(path)).some(({ words }) => words.join(' ') === 'sh run'),
  );

  it('includes the first commands of a reader', () => {
    expect(withCommands).toContain('examples/01-hello-world/README.md');
  });

  it.each(withCommands)('runs as printed in %s', async (path) => {
    expect(await runDocument({ markdown: read(path), server })).toBeGreaterThan(0);
  });
});

/** They begin with an installation, and have a server of their own. */
describe.each(['README.md', 'docs/tutorial.md'])('%s', (path) => {
  it('works from its first command to its last', async () => {
    const server = await prepareServer();
    try {
      expect(await runDocument({ markdown: read(path), server })).toBeGreaterThan(3);
    } finally {
      await server.close();
    }
  });
});

describe('the README of an example', () => {
  it.each(examples)('quotes the files of $name literally', (example) => {
    for (const { words, text, line } of example.blocks) {
      const endings = ENDINGS[words[0] ?? ''];
      if (endings === undefined) continue;
      const part = text.replaceAll(/^ +/gm, '');
      const files = example.files.filter(({ name }) => name.endsWith(endings));
      expect(
        files.some((file) => file.text.replaceAll(/^ +/gm, '').includes(part)),
        `no file contains the block at line ${line}`,
      ).toBe(true);
    }
  });

  it('appears in the overview, with its step types', () => {
    const rows = read('examples/README.md').split('\n');
    for (const { name, number, stepTypes } of examples) {
      const row = rows.find((each) => each.includes(`(${name}/)`)) ?? '';
      const cells = row.split('|').map((cell) => cell.trim());
      expect(cells[1], name).toBe(number);
      expect(cells[3]?.split(', '), name).toEqual(stepTypes);
    }
  });
});
