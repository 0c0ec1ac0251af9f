/** A worker in its own process, so that a test can kill it. Prints the work items that it holds. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../sdk/test/support/eventually.js';

const PROGRAM = fileURLToPath(new URL('held-work.mjs', import.meta.url));

export class WorkerProcess {
  readonly #process: ChildProcess;
  readonly held: string[] = [];
  #output = '';

  constructor(
    url: string,
    settings: { readonly concurrency: number; readonly leaseSeconds: number },
  ) {
    this.#process = spawn(process.execPath, [PROGRAM, url, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#output + chunk.toString()).split('\n');
      this.#output = lines.pop() ?? '';
      this.held.push(...lines);
    });
  }

  async holds(count: number): Promise<void> {
    await eventually(`the worker holds ${count}`, () => this.held.length >= count);
  }

  /** Ends the process with kill -9, or as an operator does. Resolves with its exit code. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
      return this.#process.exitCode;
    }
    const exited = once(this.#process, 'exit');
    this.#process.kill(signal);
    await exited;
    return this.#process.exitCode;
  }
}
