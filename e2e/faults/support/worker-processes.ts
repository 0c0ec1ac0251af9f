/** Workers as processes, each connected to one node by a link that follows the node when it is started again. */
import { once } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { linkOf, TcpProxy } from './tcp-proxy.js';

const BOOKING = fileURLToPath(new URL('undoing/booking-worker.mjs', import.meta.url));

/** Long enough for a busy machine, and short enough that the work of a dead worker ends during the test. */
export const LEASE_SECONDS = 5;

interface WorkerProcess {
  readonly link: TcpProxy;
  child: ChildProcess;
}

export class WorkerProcesses {
  readonly #services: string;
  readonly #main: string;
  readonly #workers: WorkerProcess[] = [];
  #starts = 0;

  /** @param main the worker's program */
  constructor(services: string, main = BOOKING) {
    this.#services = services;
    this.#main = main;
  }

  get count(): number {
    return this.#workers.length;
  }

  /** Starts a worker for the node at this address. */
  async add(url: string): Promise<void> {
    const link = await TcpProxy.start(linkOf(url));
    this.#workers.push({ link, child: this.#spawn(link) });
  }

  /** The workers of one node find it at this address from now on. */
  follow(index: number, url: string): void {
    const worker = this.#workers[index];
    if (worker !== undefined) worker.link.target = linkOf(url);
  }

  /** Kills a worker with kill -9, and starts another one. */
  async replace(index: number): Promise<void> {
    const worker = this.#workers[index];
    if (worker === undefined) throw new Error(`there is no worker ${index}`);
    await end(worker.child);
    worker.child = this.#spawn(worker.link);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#workers.map(async ({ child, link }) => {
        await end(child);
        await link.close();
      }),
    );
  }

  #spawn(link: TcpProxy): ChildProcess {
    this.#starts += 1;
    const env = {
      ...process.env,
      SERVER: `http://127.0.0.1:${link.port}`,
      SERVICES: this.#services,
      WORKER_ID: `worker-${this.#starts}`,
      LEASE_SECONDS: String(LEASE_SECONDS),
    };
    // It logs each time that its server is away.
    return spawn(process.execPath, [this.#main], { env, stdio: 'ignore' });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
