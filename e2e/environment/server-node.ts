/** One node: the built server as a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));

export class ServerNode {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** Starts a server on a free port; it resolves when it listens. */
  static async start(environment: Readonly<Record<string, string>>): Promise<ServerNode> {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...environment, PORT: '0', LOG_LEVEL: 'warn', PYTHON_SPARES: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    return new Promise((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        lines.push(line);
        const url = /listens on (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(new ServerNode(url, child));
      });
      child.once('exit', (code) => {
        reject(new Error(`the server ended with ${String(code)}:\n${lines.join('\n')}`));
      });
    });
  }

  /** kill -9: no chance to finish anything. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM: it drains. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill(signal);
    await exited;
  }
}
