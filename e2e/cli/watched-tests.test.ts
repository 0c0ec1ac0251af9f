/**
 * Goal: tests run again when a file changes, with `stepwright test --watch` and `stepwright dev --test`.
 * Method: the real command on a folder, in which a definition is broken and mended again.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BIN } from './command-line.js';

const definition = (value: number): string =>
  `Id: one\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs: { x: ${value} }\n`;
const CASES = 'Definition: one.yaml\nCases:\n  - { Name: is one, Expect: { Data: { x: 1 } } }\n';
const WAIT = { timeout: 30_000, interval: 20 };

let folder: string;
let child: ChildProcess | null = null;
let printed = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-watch-'));
  printed = '';
  write('one.yaml', definition(1));
  write('one.test.yaml', CASES);
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  writeFileSync(path.join(folder, name), text);
}

function start(args: readonly string[]): ChildProcess {
  const { HOME = '', PATH = '' } = process.env;
  const env = { HOME, PATH, PORT: '0', DATA_DIR: path.join(folder, 'data') };
  child = spawn(process.execPath, [BIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  }
  return child;
}

/** Waits for what is printed next. */
async function untilPrinted(text: string | RegExp): Promise<void> {
  await vi.waitFor(() => expect(printed).toMatch(text), WAIT);
  await vi.waitFor(() => expect(printed).toMatch(/waiting for changes\n$/), WAIT);
  printed = '';
}

describe('stepwright test --watch', () => {
  it('runs again after each change, and ends with the result of the last time', async () => {
    const command = start(['test', '--watch', folder]);
    await untilPrinted('1 passed in');
    write('one.yaml', definition(2));
    await untilPrinted('0 passed, 1 failed in');
    write('one.yaml', 'Id: [\n');
    await untilPrinted(/one\.yaml:\d+:\d+: Invalid YAML/);
    write('one.yaml', definition(1));
    await untilPrinted('1 passed in');
    write('one.test.yaml', CASES.replace('x: 1', 'x: 3'));
    await untilPrinted('0 passed, 1 failed in');
    const ended = once(command, 'close');
    command.kill('SIGTERM');
    expect(await ended).toEqual([1, null]);
  });

  it('does not wait where there is nothing', async () => {
    const ended = once(start(['test', '--watch', path.join(folder, 'none')]), 'close');
    expect(await ended).toEqual([1, null]);
    expect(printed).toContain('none cannot be read');
  });
});

describe('stepwright dev --test', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'registers and tests changed files, and leaves nothing running after %s',
    async (signal) => {
      const command = start(['dev', '--memory', '--test', folder]);
      await untilPrinted('1 passed in');
      write('one.yaml', definition(2));
      // The server and the tests are two processes: either may print first.
      await vi.waitFor(() => expect(printed).toContain('registered, version 2'), WAIT);
      await vi.waitFor(() => expect(printed).toContain('0 passed, 1 failed in'), WAIT);
      // The process of the tests has the same output: it closes when both have ended.
      const ended = once(command, 'close');
      command.kill(signal);
      await ended;
    },
  );
});
