/** A server process for tests: started, killed and restarted on the same data. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./crashing-server.mjs', import.meta.url));

/** The number of calls of each store operation, by its name. */
export type StoreCalls = Readonly<Record<string, number>>;

interface Report {
  readonly url?: string;
  readonly calls?: StoreCalls;
  readonly crashing?: string;
}

export class ServerProcess {
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #url: Promise<string> | null = null;
  /** The store call before which the process killed itself, such as `insertEvent 2`. */
  crashedBefore: string | null = null;
  starts = 0;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** The address of the running server; a dead one is restarted, without another crash. */
  url(crashAt: string | null = null): Promise<string> {
    this.#url ??= this.#start(crashAt);
    return this.#url;
  }

  async storeCalls(): Promise<StoreCalls> {
    const child = this.#child;
    if (child === null) throw new Error('the server is not running');
    return new Promise((resolve) => {
      child.on('message', (report: Report) => {
        if (report.calls !== undefined) resolve(report.calls);
      });
      child.send('count');
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  async #start(crashAt: string | null): Promise<string> {
    this.starts += 1;
    const child = fork(ENTRY, [], {
      env: {
        ...this.#environment,
        PORT: '0',
        ...(crashAt !== null && this.starts === 1 && { CRASH_AT: crashAt }),
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    return new Promise((resolve, reject) => {
      child.on('message', (report: Report) => {
        if (report.url !== undefined) resolve(report.url);
        if (report.crashing !== undefined) this.crashedBefore = report.crashing;
      });
      child.once('exit', () => {
        if (this.#child === child) this.#child = null;
        this.#url = null;
        reject(new Error('the server exited before it was listening'));
      });
    });
  }
}
