/** A built server with a folder of its own, which can be ended and started again on its port. Nothing of it is pretended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpawnedServer } from '../../../server/test/support/spawned-server.js';
import { eventually } from './eventually.js';

export interface ServerProcessOptions {
  /** Settings of the server beside port and folder. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'stepwright-test-'));
  #server!: SpawnedServer;

  private constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** Resolves when the server takes work. */
  static async start(options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const server = new ServerProcess(options);
    await server.#launch('0');
    return server;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Everything that it has printed since it was last started. */
  get output(): string {
    return this.#server.output;
  }

  /** Ends the process at once, as a crash does. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Ends the process as an operator does; its data stay until `remove`. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Starts it again with its data, on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#launch(new URL(this.url).port);
  }

  /** Starts a stopped server again. */
  start(): Promise<void> {
    return this.#launch(new URL(this.url).port);
  }

  /** Ends the process and removes its data. */
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
