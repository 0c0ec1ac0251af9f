/** The built server as a process of its own, for what only a process can show: start-up, logs, sudden death. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const START_TIMEOUT_MS = 60_000;

export interface ServerProcess {
  readonly url: string;
  /** Of the server itself, not of its interpreters. */
  readonly pid: number;
  /** Everything it wrote so far. */
  readonly output: string;
  /** As an operator does it; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** kill -9 */
  kill(): Promise<void>;
}

export interface EndedProcess {
  readonly code: number | null;
  readonly output: string;
}

type Environment = Readonly<Record<string, string>>;

/** A folder for the embedded store, removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stepwright-process-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the server and waits until it listens; it is stopped after the test at the latest. */
export async function startProcess(environment: Environment): Promise<ServerProcess> {
  const { ended, output, process: child } = spawnServer(environment);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  const url = await listening(child, output);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    url,
    // It listens, so it was started.
    pid: child.pid!,
    get output() {
      return output.text;
    },
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

/** Runs a server that is expected to end by itself. */
export async function runToTheEnd(environment: Environment): Promise<EndedProcess> {
  const { ended, output, process: child } = spawnServer(environment);
  const deadline = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  await ended;
  clearTimeout(deadline);
  return { code: child.exitCode, output: output.text };
}

function spawnServer(environment: Environment): {
  readonly process: ChildProcess;
  readonly output: { text: string };
  readonly ended: Promise<void>;
} {
  if (!existsSync(MAIN)) throw new Error('build the project first: these tests run server/dist');
  // Nothing of the environment of the tests reaches the server but what a process needs.
  const { HOME, PATH } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { ...(PATH && { PATH }), ...(HOME && { HOME }), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  return { process: child, output, ended };
}

function listening(child: ChildProcess, output: { readonly text: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => fail('in time'), START_TIMEOUT_MS);
    const fail = (what: string): void => {
      clearTimeout(deadline);
      reject(new Error(`the server did not start ${what}: ${output.text}`));
    };
    child.stdout?.on('data', () => {
      const url = /listens on (http:\/\/\S+)/.exec(output.text)?.[1];
      // The log is written a moment later; its last line of the start comes after all others.
      if (url === undefined || !output.text.includes('"msg":"listening"')) return;
      clearTimeout(deadline);
      resolve(url);
    });
    child.once('close', () => fail('at all'));
  });
}
