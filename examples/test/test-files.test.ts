/** Every example has a file of tests, and the command `stepwright test` runs them all. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readExamples } from './support/example-folders.ts';
import { repository, runCommand } from './support/run-command.ts';

const files = globSync('examples/*/*.test.yaml', { cwd: repository });

describe('a test file', () => {
  it.each(readExamples().map(({ name }) => name))('exists for %s', (name) => {
    expect(files.map((file) => dirname(file))).toContain(join('examples', name));
  });

  it('passes', async () => {
    const { exitCode, stdout } = await runCommand('node server/bin/stepwright.js test examples');
    expect({ exitCode, failed: stdout.match(/^.*✗.*$/gm) ?? [] }).toEqual({
      exitCode: 0,
      failed: [],
    });
    expect(stdout).toContain(' passed');
  });
});
