/** A real, built server with its own folder, which can be stopped and restarted on its port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpawnedServer } from '../../../server/test/support/spawned-server.js';
import { eventually } from './eventually.js';

export interface ServerProcessOptions {
  /** Settings of the server besides port and folder. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'stepwright-test-'));
  #server!: SpawnedServer;

  private constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** Resolves when the server is ready. */
  static async start(options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const server = new ServerProcess(options);
    await server.#launch('0');
    return server;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Everything that the server has printed since its last start. */
  get output(): string {
    return this.#server.output;
  }

  /** Kills the process, as in a crash. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Stops the process as an operator does. Its data is kept until `remove`. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Restarts the server with its data, on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#launch(new URL(this.url).port);
  }

  /** Starts a stopped server again. */
  start(): Promise<void> {
    return this.#launch(new URL(this.url).port);
  }

  /** Stops the process and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #launch(port: string): Promise<void> {
    const server = await SpawnedServer.start({
      PORT: port,
      DATA_DIR: this.#dataDir,
      LOG_LEVEL: 'warn',
      ...this.#options.environment,
    });
    this.#server = server;
    await eventually('the server is ready', async () => {
      const response = await fetch(`${server.url}/health/ready`);
      return response.ok;
    });
  }
}
