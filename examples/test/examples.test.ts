/**
 * Runs every example by its documented command, against one server in a separate process. The example must succeed and print
 * the output in its README.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from './support/example-folders.ts';
import { hasWords } from './support/fenced-blocks.ts';
import { matchesShown } from './support/printed-output.ts';
import { repository, runCommand } from './support/run-command.ts';
import { prepareServer, SERVER_COMMAND, type RunningServer } from './support/running-server.ts';

const examples = readExamples();
const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
let server: RunningServer;

beforeAll(async () => {
  server = await prepareServer();
  await server.start(SERVER_COMMAND);
});

afterAll(() => server.close());

/** Runs the same command as `pnpm example …`. */
function runExample(argument: string, url = server.url) {
  return runCommand(`${scripts['example'] ?? ''} ${argument}`, {
    environment: { STEPWRIGHT_URL: url },
  });
}

describe('the collection of examples', () => {
  it.each(examples)('behaves in $name as the README describes', async ({ number, blocks }) => {
    const documented = blocks.findIndex(({ text }) => text === `pnpm example ${number}`);
    const shown = blocks[documented + 1];
    expect(hasWords(blocks[documented], 'sh')).toBe(true);
    expect(hasWords(shown, 'text', 'output')).toBe(true);

    const { exitCode, stdout, stderr } = await runExample(number);
    // A failed command writes the reason to stderr. A successful one may also write there, because workers log handler failures.
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    if (!matchesShown(stdout, shown?.text ?? '')) expect(stdout).toBe(shown?.text);
  });

  it('causes no errors in the server log', () => {
    expect(server.failures()).toEqual([]);
  });

  it('selects examples by their topic', async () => {
    const { exitCode, stdout } = await runExample('hello-world');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Hello Ada');
  });

  it('lists all examples if none matches the name', async () => {
    const { exitCode, stderr } = await runExample('99');
    expect(exitCode).toBe(2);
    for (const { name } of examples) expect(stderr).toContain(name);
  });

  it('reports that the server is not running', async () => {
    const { exitCode, stderr } = await runExample('01', 'http://127.0.0.1:9');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('pnpm start');
  });
});
