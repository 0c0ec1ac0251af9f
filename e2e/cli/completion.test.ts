/**
 * Goal: shells complete commands, options and values.
 * Method: each shell loads its script and completes lines; a shell that is not installed is skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../server/bin/stepwright.js', import.meta.url));
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** What each shell is told to do with the script (`$1`) and the words of a line. */
const COMPLETE: Readonly<Record<Shell, string>> = {
  bash: 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stepwright; printf "%s\\n" "${COMPREPLY[@]}"',
  // Completion works only in its editor: the functions that show suggestions print them instead.
  zsh: `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { :; }
_describe() { local name=$argv[-1] each; for each in "\${(@P)name}"; do print -r -- "\${each%%:*}"; done; }
script=$1; shift; source $script; words=("$@"); CURRENT=$#; PREFIX=$argv[-1]; _stepwright`,
  fish: 'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string replace -r "\\t.*" ""',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-completion-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(SHELLS)('%s', (shell) => {
  let script: string;

  beforeAll(() => {
    const { status, stdout } = spawnSync(process.execPath, [BIN, 'completion', shell], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    script = path.join(folder, shell);
    writeFileSync(script, stdout);
  });

  it.for([
    { line: [''], includes: ['run', 'list', 'bulk', 'completion'], excludes: ['--data', 'create'] },
    { line: ['run', '--'], includes: ['--data', '--follow', '--url'], excludes: ['--where'] },
    { line: ['bulk', ''], includes: ['create', 'stop'], excludes: ['run'] },
    { line: ['bulk', 'create', ''], includes: ['terminate', 'purge'], excludes: ['stop'] },
    { line: ['list', '--status', ''], includes: ['Runnable', 'Suspended'], excludes: ['--json'] },
    { line: ['list', '--json', '--outcome', ''], includes: ['Failed'], excludes: ['Runnable'] },
    { line: ['completion', ''], includes: ['bash', 'zsh', 'fish'], excludes: ['run'] },
  ])('completes $line', ({ excludes, includes, line }, { skip }) => {
    const args = ['-c', COMPLETE[shell], ...(shell === 'fish' ? [] : [shell]), script];
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const result = spawnSync(shell, [...args, 'stepwright', ...line], options);
    if (result.error !== undefined) skip(`${shell} is not installed`);
    expect(result.stderr).toBe('');
    const suggested = result.stdout.split('\n');
    expect(suggested).toEqual(expect.arrayContaining(includes));
    for (const name of excludes.filter((each) => shell !== 'bash' || !each.startsWith('-'))) {
      expect(suggested).not.toContain(name);
    }
  });
});
