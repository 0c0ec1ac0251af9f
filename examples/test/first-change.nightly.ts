/**
 * Goal: a newcomer can make a first change in five minutes with CONTRIBUTING.md. Method: in a copy of the repository without
 * installed packages and build output, installs, applies the document's patches and runs its command before and after.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fencedBlocks, hasWords } from './support/fenced-blocks.ts';
import { repository, runCommand } from './support/run-command.ts';

const MINUTES_MAX = 5;
const COMMAND = 'npx -y pnpm@12 unit';

const blocks = fencedBlocks(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'));
const patches = blocks.filter((block) => hasWords(block, 'diff', 'first-change'));
const command = blocks.map(({ text }) => text).find((text) => text.startsWith(COMMAND));

/** The files that Git would commit. */
function copyRepository(folder: string): void {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = spawnSync('git', options, { cwd: repository, encoding: 'utf8' });
  for (const file of listed.stdout.split('\0')) {
    const source = join(repository, file);
    if (file !== '' && existsSync(source)) cpSync(source, join(folder, file));
  }
}

describe('the first change of CONTRIBUTING.md', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stepwright-first-change-'));
    copyRepository(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function apply(patch: string): void {
    const { status, stderr } = spawnSync('git', ['apply', '-p0', '-'], {
      cwd: folder,
      input: `${patch}\n`,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  }

  it('takes less than five minutes, with the installation', async () => {
    const began = performance.now();
    const run = (text: string) => runCommand(text, { folder, timeoutMs: MINUTES_MAX * 60_000 });
    const [test, change] = patches;
    expect(patches).toHaveLength(2);

    expect(await run('npx -y pnpm@12 install')).toMatchObject({ exitCode: 0 });
    apply(test!.text);
    const red = await run(command!);
    expect(red.exitCode, red.stdout).not.toBe(0);
    expect(`${red.stdout}${red.stderr}`).toMatch(/1 failed.* \| .*passed/);
    expect(red.stderr).toContain('.pop(0)');
    apply(change!.text);
    const green = await run(command!);
    expect(green.exitCode, green.stdout).toBe(0);

    expect((performance.now() - began) / 60_000).toBeLessThan(MINUTES_MAX);
  });
});
