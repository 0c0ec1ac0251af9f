/** A built server in a process of its own, on a free port and a temporary folder. Nothing of it is pretended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';

const MAIN = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));

export interface ServerProcessOptions {
  /** Settings of the server beside port and folder. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  readonly #dataDir: string;
  #process: ChildProcess | null = null;
  #output = '';
  #url = '';

  private constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.#dataDir = mkdtempSync(join(tmpdir(), 'stepwright-test-'));
  }

  /** Resolves when the server takes work. */
  static async start(options: ServerProcessOptions = {}): Promise<ServerProcess> {
    if (!existsSync(MAIN)) throw new Error('the server is not built: run `node scripts/build.mjs`');
    const server = new ServerProcess(options);
    await server.#launch('0');
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** Everything that the server has printed. */
  get output(): string {
    return this.#output;
  }

  /** Ends the process at once, as a crash does. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Ends the process as an operator does; its data stay until `remove`. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Starts it again with its data, on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#launch(new URL(this.#url).port);
  }

  /** Starts a stopped server again. */
  start(): Promise<void> {
    return this.#launch(new URL(this.#url).port);
  }

  /** Ends the process and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #launch(port: string): Promise<void> {
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...process.env,
        PORT: port,
        DATA_DIR: this.#dataDir,
        LOG_LEVEL: 'warn',
        ...this.#options.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    const printed = this.#output.length;
    const take = (chunk: Buffer): void => void (this.#output += chunk.toString());
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    this.#url = await eventually('the server says where it listens', () => {
      if (child.exitCode !== null) throw new Error(`the server ended:\n${this.#output}`);
      return /listens on (http:\S+)/.exec(this.#output.slice(printed))?.[1];
    });
    await eventually('the server is ready', async () => {
      const response = await fetch(`${this.#url}/health/ready`);
      return response.ok;
    });
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    this.#process = null;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
