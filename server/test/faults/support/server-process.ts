/** A server process of the tests: started, killed and started again on the same data. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./crashing-server.mjs', import.meta.url));

interface Report {
  readonly url?: string;
  readonly calls?: number;
  readonly crashing?: string;
}

export class ServerProcess {
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #url: Promise<string> | null = null;
  /** The store operation before which the process killed itself. */
  crashedBefore: string | null = null;
  starts = 0;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** The address of the running server; one that has died is started again, without another crash. */
  url(crashAt = 0): Promise<string> {
    this.#url ??= this.#start(crashAt);
    return this.#url;
  }

  async storeCalls(): Promise<number> {
    const child = this.#child;
    if (child === null) throw new Error('the server does not run');
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

  async #start(crashAt: number): Promise<string> {
    this.starts += 1;
    const child = fork(ENTRY, [], {
      env: { ...this.#environment, PORT: '0', CRASH_AT: String(this.starts === 1 ? crashAt : 0) },
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
        reject(new Error('the server ended before it listened'));
      });
    });
  }
}
