/**
 * Goal: V8 compiles no wrapper that threads started from sources would share; with them, the process dies now and then.
 * Method: a process starts the database thread from its source, and V8 logs all code that it compiles.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const SOURCE = new URL('../../src/base/thread-entry.ts', import.meta.url).href;
const IMPORTER = new URL('../../src/store/sqlite/start-thread.ts', import.meta.url).href;

const directory = await mkdtemp(join(tmpdir(), 'stepwright-thread-'));
afterAll(() => rm(directory, { recursive: true }));

const program = (path: string, change: string): string => `
  import { setFlagsFromString } from 'node:v8';
  import { Worker } from 'node:worker_threads';
  import { threadEntry } from ${JSON.stringify(SOURCE)};
  const entry = threadEntry(${JSON.stringify(IMPORTER)}, './worker');
  ${change}
  const workerData = { path: ${JSON.stringify(path)}, busyTimeoutMs: 1000 };
  const thread = new Worker(entry, { workerData, execArgv: [] });
  thread.once('message', ({ kind }) => {
    console.log(kind);
    thread.postMessage('close');
  });`;

async function compiledCode(name: string, change = ''): Promise<string> {
  const log = join(directory, `${name}.log`);
  const text = program(join(directory, `${name}.db`), change);
  const logOptions = ['--log-code', '--no-logfile-per-isolate', `--logfile=${log}`];
  const args = [...logOptions, '--no-warnings', '--input-type=module', '--eval', text];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('ready\n');
  return readFile(log, 'utf8');
}

describe('a thread that runs from its source', () => {
  it('strips the types with WebAssembly, without wrappers shared by threads', async () => {
    const code = await compiledCode('thread');
    expect(code).toContain(',wasm-function[');
    expect(code).not.toContain(',wasm-to-js,');
  });

  it('leaves the compilation to V8 without its flags', async () => {
    const change = `setFlagsFromString('--wasm-wrapper-tiering-budget=1000');`;
    expect(await compiledCode('default', change)).toContain(',wasm-to-js,');
  });
});
