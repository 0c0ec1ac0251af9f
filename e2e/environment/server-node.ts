/** One node: the built server as a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** `E2E_SERVER_MAIN`: another build, such as one that has a safeguard taken out. */
const MAIN =
  process.env['E2E_SERVER_MAIN'] ??
  fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));

export class ServerNode {
  readonly url: string;
  /** Everything that the process has written so far. */
  readonly output: readonly string[];
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess, output: readonly string[]) {
    this.url = url;
    this.output = output;
    this.#process = process;
  }

  /** Starts a server on a free port; it resolves when it listens. `main`: of another build than this one. */
  static async start(
    environment: Readonly<Record<string, string>>,
    main: string = MAIN,
  ): Promise<ServerNode> {
    const child = spawn(process.execPath, [main], {
      env: { ...environment, PORT: '0', LOG_LEVEL: 'warn', PYTHON_SPARES: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    return new Promise((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        lines.push(line);
        const url = /listens on (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(new ServerNode(url, child, lines));
      });
      child.once('exit', (code) => {
        reject(new Error(`the server ended with ${String(code)}:\n${lines.join('\n')}`));
      });
    });
  }

  get pid(): number {
    return this.#process.pid ?? -1;
  }

  /** Null while it runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** kill -9: no chance to finish anything. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM: it drains. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** As a machine that sleeps, or a very long collection of garbage. */
  pause(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill(signal);
    await exited;
  }
}
