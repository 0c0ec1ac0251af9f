/** The server under test: the build, on the embedded store, with what it uses while something runs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { HttpClient } from './http-client.ts';
import { usageOf, type Usage } from './process-usage.ts';

const MAIN = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));

export interface Spent extends Usage {
  readonly storeOperations: number;
}

export class BenchServer {
  readonly client: HttpClient;
  /** From the start of the process to its first good answer. */
  readonly readyMs: number;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(process: ChildProcess, url: string, folder: string, readyMs: number) {
    this.#process = process;
    this.#folder = folder;
    this.readyMs = readyMs;
    this.client = new HttpClient(url);
  }

  /** @param profilesFolder where each of its threads writes a CPU profile when it ends; null: without profiles */
  static async start(profilesFolder: string | null): Promise<BenchServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-bench-'));
    const startedAt = performance.now();
    const { dbhost } = process.env;
    const profiling =
      profilesFolder === null
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${profilesFolder}`, '--cpu-prof-interval=250'];
    const child = spawn(process.execPath, [...profiling, MAIN], {
      env: {
        PORT: '0',
        DATA_DIR: folder,
        LOG_LEVEL: 'error',
        ...(dbhost === undefined ? {} : { dbhost, db_name: `bench_${process.pid}` }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const found = /listens on (http:\S+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', () => {
        reject(new Error('the server ended before it listened'));
      });
    });
    const server = new BenchServer(child, url, folder, performance.now() - startedAt);
    await server.client.call('GET', '/health/ready');
    return server;
  }

  async spent(): Promise<Spent> {
    const usage = usageOf(this.#process.pid ?? 0);
    const { json } = await this.client.call('GET', '/metrics');
    let storeOperations = 0;
    for (const match of String(json).matchAll(
      /^stepwright_store_operations_total\{[^}]*\} (\d+)/gm,
    )) {
      storeOperations += Number(match[1]);
    }
    return { ...usage, storeOperations };
  }

  async stop(): Promise<void> {
    this.client.close();
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGTERM');
    await exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
