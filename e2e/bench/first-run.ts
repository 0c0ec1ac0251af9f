/**
 * `pnpm bench:first-run [--saves=20]`: how long a new user waits for the first run, and how long for an error.
 *
 * Does what the first screen of README.md says, in an empty folder, with the Node of this machine: once with empty caches of npm and
 * of the command (a Node that is too old downloads a newer one), and once with the caches of the first time. The packages are made
 * before, because users get them from npm. Then breaks the definition again and again, and measures the time from saving it to
 * the error in the terminal of `stepwright dev`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../../sdk/test/support/free-port.ts';
import { documentBlock } from './document-block.ts';
import { latencyFrom } from './measure.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const README = 'README.md';
const FILE = 'flows/order.yaml';
const DEADLINE_MS = 600_000;
const POLL_MS = 1;

const { values } = parseArgs({ options: { saves: { type: 'string', default: '20' } } });
const saves = Number(values.saves);
const top = mkdtempSync(path.join(tmpdir(), 'stepwright-first-run-'));
const children: ChildProcess[] = [];

/** That of a user, who has no tools of this repository. */
function userEnvironment(): NodeJS.ProcessEnv {
  const { HOME, PATH = '' } = process.env;
  const own = PATH.split(path.delimiter).filter((folder) => !folder.includes('node_modules'));
  return {
    HOME,
    PATH: own.join(path.delimiter),
    npm_config_cache: path.join(top, 'npm-cache'),
    npm_config_userconfig: process.env['npm_config_userconfig'],
    npm_config_registry: process.env['npm_config_registry'],
    XDG_CACHE_HOME: path.join(top, 'cache'),
  };
}

async function firstRun(cache: string, install: string): Promise<void> {
  const home = path.join(top, cache);
  const port = await freePort();
  const STEPWRIGHT_URL = `http://127.0.0.1:${port}`;
  const environment = { ...userEnvironment(), STEPWRIGHT_URL, PORT: String(port) };
  const here = (text: string): string =>
    text.replaceAll('~/stepwright', ROOT).replaceAll('~/my-flows', home);

  const began = performance.now();
  const since = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  mkdirSync(home);
  shell(here(install), home, environment);
  console.log(`${cache}: installed after ${since()}`);
  writeFileSync(path.join(home, FILE), documentBlock(README, 'yaml', FILE));
  const terminal = new Terminal(here(documentBlock(README, 'sh', 'server')), home, environment);
  await terminal.prints('Start a run');
  console.log(`${cache}: the server has the definition after ${since()}`);
  const printed = shell(here(documentBlock(README, 'sh', 'run')), home, environment);
  if (!printed.includes('"approvedBy": "Ada"')) throw new Error(`the run printed\n${printed}`);
  console.log(`${cache}: the first run has ended after ${since()}`);
  if (cache === 'warm') await measureErrors(terminal, path.join(home, FILE));
  await terminal.close();
}

async function measureErrors(terminal: Terminal, file: string): Promise<void> {
  const good = readFileSync(file, 'utf8');
  const times: number[] = [];
  for (let save = 0; save < saves; save += 1) {
    // Each is a new mistake, in an expression and in the structure.
    const bad = save % 2 === 0 ? `12.5 * ${save} )` : `12.5 * ${save} } }`;
    const from = terminal.printed.length;
    const began = performance.now();
    writeFileSync(file, good.replace('12.5', bad));
    await terminal.prints('error:', from);
    times.push(performance.now() - began);
    await terminal.prints('not registered', from);
    const mended = terminal.printed.length;
    writeFileSync(file, good);
    await terminal.prints('unchanged', mended);
  }
  const { p50Ms } = latencyFrom(times);
  const longest = Math.max(...times);
  console.log(
    `from saving to the error: ${p50Ms.toFixed(0)} ms in the middle, ${longest.toFixed(0)} ms at most, of ${saves}`,
  );
}

function shell(command: string, cwd: string, env: NodeJS.ProcessEnv): string {
  const result = spawnSync('sh', ['-e', '-c', command], { cwd, env, encoding: 'utf8' });
  if (result.status === 0) return result.stdout;
  throw new Error(`${command}\nended with ${result.status}:\n${result.stdout}${result.stderr}`);
}

/** The one in which the server runs. */
class Terminal {
  printed = '';
  readonly #child: ChildProcess;

  constructor(command: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('sh', ['-c', command], { cwd, env, detached: true });
    children.push(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    }
  }

  async prints(text: string, from = 0): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    while (!this.printed.includes(text, from)) {
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`'${text}' was not printed:\n${this.printed}`);
      }
      await pause(POLL_MS);
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#child, 'close');
    stop(this.#child);
    await closed;
  }
}

/** With the processes that it has started. */
function stop({ exitCode, pid, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGINT');
}

try {
  const [make = '', ...install] = documentBlock(README, 'sh', 'install').split('\n');
  shell(make.replaceAll('~/stepwright', ROOT), ROOT, process.env);
  console.log(`Node ${shell('node --version', top, userEnvironment()).trim().slice(1)}`);
  for (const cache of ['cold', 'warm']) await firstRun(cache, install.join('\n'));
} finally {
  for (const child of children) stop(child);
  rmSync(top, { recursive: true, force: true, maxRetries: 5 });
}
