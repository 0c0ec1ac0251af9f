/**
 * Goal: the commands on files work as people and CI use them.
 * Method: the real command on folders of files, in a pipe and in a pseudo-terminal.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

const UNORDERED = 'Steps:\n- StepType: NoOp # nothing\n  Id: a\nId: flow\n';
const ORDERED = 'Id: flow\nSteps:\n  - Id: a\n    StepType: NoOp # nothing\n';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

/** @returns the file's path */
function write(name: string, content: string | Buffer): string {
  const file = path.join(line.folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

describe('stepwright fmt', () => {
  it('formats once, and then changes nothing', async () => {
    const file = write('fmt/flow.yaml', UNORDERED);
    const folder = path.dirname(file);
    const checked = await line.pipe(['fmt', '--check', folder]);
    expect(checked).toMatchObject({ code: 1, stdout: `${file}: not formatted\n` });
    expect(readFileSync(file, 'utf8')).toBe(UNORDERED);
    expect(await line.pipe(['fmt', folder])).toMatchObject({
      code: 0,
      stdout: `${file}: formatted\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe(ORDERED);
    expect(await line.terminal(['fmt', '--check', folder])).toEqual({ code: 0, screen: '' });
    expect(readdirSync(folder)).toEqual(['flow.yaml']);
  });

  it('shows a mistake with its place, and formats the other files', async () => {
    const bad = write('mixed/bad.yaml', 'Id: a\nSteps: [\n');
    const binary = write('mixed/binary.yaml', Buffer.from([0, 1]));
    const good = write('mixed/good.yaml', UNORDERED);
    const { code, stdout } = await line.pipe(['fmt', path.dirname(bad)]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${bad}:3:1: error: Invalid YAML`);
    expect(stdout).toContain(`${binary}: error: the file cannot be read: it is a binary file`);
    expect(readFileSync(good, 'utf8')).toBe(ORDERED);
  });
});

describe('a control character in a file of another user', () => {
  // It would clear the screen, move the cursor and reverse text.
  const HOSTILE = 'Id:  flow\nSteps:\n  - Id: "\u001b[2J\u009b\u202e"\n    StepType: \u202e"a" b\n';
  const HARMFUL = /\u001b\[2J|\u009b|\u202e/u;

  it.each(['terminal', 'pipe'] as const)('is shown as an escape in a %s', async (place) => {
    const file = write('hostile/flow\u202e.yaml', HOSTILE);
    for (const args of [
      ['validate', path.dirname(file)],
      ['validate', '--json', path.dirname(file)],
      ['validate', '--github', path.dirname(file)],
      ['fmt', '--check', path.dirname(file)],
    ]) {
      const shown = await line[place](args);
      const text = 'screen' in shown ? shown.screen : shown.stdout + shown.stderr;
      expect(text, args.join(' ')).not.toMatch(HARMFUL);
      expect(text, args.join(' ')).toContain('flow\\u202e.yaml');
      expect(shown.code).toBe(1);
    }
    const { screen } = await line.terminal(['validate', path.dirname(file)]);
    expect(screen).toContain('\\u001b[2J\\u009b\\u202e');
  });
});

describe('stepwright validate', () => {
  it('reports a file that cannot be read as a problem of that file', async () => {
    const file = write('unreadable/a.yaml', Buffer.from([0, 1]));
    const { code, stdout } = await line.pipe(['validate', '--github', path.dirname(file)]);
    expect(code).toBe(1);
    expect(stdout).toBe(
      `::error file=${file},title=unreadable_file::The file cannot be read: it is a binary file\n`,
    );
  });
});
