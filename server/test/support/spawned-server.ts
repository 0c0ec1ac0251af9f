/**
 * The built server in its own process: for tests of the process itself, and for tests, benchmarks and faults of all
 * packages. It gets exactly the given environment plus PATH and HOME, so that no shell setting changes a result.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START_TIMEOUT_MS = 60_000;

type Environment = Readonly<Record<string, string>>;

export interface EndedServer {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly output: string;
}

export interface SpawnOptions {
  /** The main file of another build; if omitted: of this one. */
  readonly main?: string | undefined;
  /** Arguments for Node itself. */
  readonly nodeOptions?: readonly string[];
}

export class SpawnedServer {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** Later than `exited`: its output is complete. */
  readonly #closed: Promise<void>;
  #output = '';
  #url = '';

  private constructor(environment: Environment, options: SpawnOptions) {
    const { main = MAIN, nodeOptions = [] } = options;
    if (!existsSync(main))
      throw new Error('build the project first: `node scripts/build/build.mjs`');
    const { HOME, PATH } = process.env;
    const child = spawn(process.execPath, [...nodeOptions, main], {
      env: { ...(PATH && { PATH }), ...(HOME && { HOME }), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()));
  }

  /** Starts a server; resolves when it is listening. */
  static async start(environment: Environment, options: SpawnOptions = {}): Promise<SpawnedServer> {
    const server = new SpawnedServer(environment, options);
    await server.#listens();
    return server;
  }

  /** Runs a server that is expected to exit by itself. */
  static async runUntilExit(environment: Environment): Promise<EndedServer> {
    const server = new SpawnedServer(environment, {});
    const deadline = setTimeout(() => server.#child.kill('SIGKILL'), START_TIMEOUT_MS);
    await server.#closed;
    clearTimeout(deadline);
    return { code: server.exitCode, output: server.output };
  }

  get url(): string {
    return this.#url;
  }

  /** Of the server itself, not of its interpreters. */
  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Everything it has written so far. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.exitCode === null && this.#child.signalCode === null;
  }

  /** Null while it is running, and if a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** kill -9: no chance to finish anything. */
  kill(): Promise<void> {
    this.#signal('SIGKILL');
    return this.#exited;
  }

  /** SIGTERM, as operators send it: the server drains. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#signal('SIGTERM');
    await this.#closed;
    return this.exitCode;
  }

  /** Like a machine that sleeps, or a very long garbage collection. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
  }

  #listens(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => {
        clearTimeout(deadline);
        reject(new Error(`the server did not start ${what}:\n${this.#output}`));
      };
      const deadline = setTimeout(() => {
        this.#child.kill('SIGKILL');
        fail('in time');
      }, START_TIMEOUT_MS);
      this.#child.stdout?.on('data', () => {
        const url = /listens on (http:\/\/\S+)/.exec(this.#output)?.[1];
        if (url === undefined) return;
        this.#url = url;
        clearTimeout(deadline);
        resolve();
      });
      void this.#closed.then(() => fail('at all'));
    });
  }
}
