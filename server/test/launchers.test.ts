/**
 * Goal: whoever ends what started the server ends the server, and nobody else does.
 * Method: the built command behind real launchers: npx, npm, pnpm and the launcher of the package for an old Node. They get
 * signals; then the port must be free.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { isInForeground } from '../src/end-with-launcher.js';

const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
const START_TIMEOUT_MS = 60_000;
/** Set by the package manager that runs the tests. */
const PNPM = process.env['npm_execpath'] ?? '';

let folder: string;
const started: number[] = [];

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-launchers-'));
  const old = path.join(folder, 'old-package');
  mkdirSync(path.join(old, 'bin'), { recursive: true });
  const manifest = JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8')) as object;
  writeFileSync(
    path.join(old, 'package.json'),
    JSON.stringify({ ...manifest, engines: { node: '>=9999' } }),
  );
  copyFileSync(path.join(PACKAGE, 'bin/stepwright.js'), path.join(old, 'bin/stepwright.js'));
  symlinkSync(path.join(PACKAGE, 'dist'), path.join(old, 'dist'));
  install('new', PACKAGE);
  // As a Node sees the package that is too old for the server.
  install('old', old);
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
afterEach(() => {
  for (const pid of started.splice(0)) kill(pid, 'SIGKILL');
});

/** A folder of a user, in which a package manager has installed the package. */
function install(name: string, packageFolder: string): void {
  const modules = path.join(folder, name, 'node_modules');
  mkdirSync(path.join(modules, '.bin'), { recursive: true });
  symlinkSync(packageFolder, path.join(modules, 'stepwright'));
  symlinkSync('../stepwright/bin/stepwright.js', path.join(modules, '.bin/stepwright'));
  const scripts = {
    start: 'stepwright start',
    background: 'stepwright start > background.log &',
  };
  const manifest = JSON.stringify({ private: true, scripts });
  writeFileSync(path.join(folder, name, 'package.json'), manifest);
}

interface Launched {
  readonly launcher: ChildProcess;
  readonly url: string;
  /** Of the server. */
  readonly pid: number;
}

/** Also the server itself is ended after the test, whatever happens to its launcher. */
async function launch(
  command: readonly string[],
  { app = 'new', log }: { readonly app?: 'new' | 'old'; readonly log?: string } = {},
): Promise<Launched> {
  const [file = '', ...args] = command;
  const cwd = path.join(folder, app);
  const { HOME, PATH = '' } = process.env;
  const launcher = spawn(file, args, {
    cwd,
    env: {
      ...(HOME && { HOME }),
      PATH: `${path.dirname(process.execPath)}:${PATH}`,
      PORT: '0',
      DATA_DIR: path.join(cwd, 'data'),
      STEPWRIGHT_NODE: process.execPath,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  if (launcher.pid !== undefined) started.push(launcher.pid);
  const said = (): string =>
    log === undefined ? output : readFileSync(path.join(cwd, log), 'utf8');
  const url = await eventually(
    () => `the server listens: ${output}`,
    () => /listens on (http:\/\/\S+)/.exec(said())?.[1],
    START_TIMEOUT_MS,
  );
  const nodes = (await (await fetch(`${url}/api/node`)).json()) as {
    readonly items: readonly { readonly pid: number; readonly url: string }[];
  };
  const pids = nodes.items.map(({ pid }) => pid);
  started.push(...pids);
  return { launcher, url, pid: pids[0] ?? -1 };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

async function isFree(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/health/live`);
    return false;
  } catch {
    return true;
  }
}

const NPX = ['npx', '--no-install', 'stepwright', 'start'];
const OLD_NODE = ['node_modules/.bin/stepwright', 'start'];

describe('a server in the foreground', () => {
  it.each([
    { app: 'new', name: 'npx', command: NPX, signal: 'SIGTERM' },
    { app: 'new', name: 'npx', command: NPX, signal: 'SIGKILL' },
    { app: 'new', name: 'npm start', command: ['npm', 'start'], signal: 'SIGTERM' },
    { app: 'old', name: 'the launcher for an old Node', command: OLD_NODE, signal: 'SIGTERM' },
    { app: 'old', name: 'the launcher for an old Node', command: OLD_NODE, signal: 'SIGKILL' },
    { app: 'old', name: 'npx in front of that launcher', command: NPX, signal: 'SIGTERM' },
    { app: 'old', name: 'npx in front of that launcher', command: NPX, signal: 'SIGKILL' },
  ] as const)('ends when $name gets $signal', async ({ app, command, signal }) => {
    const { launcher, pid, url } = await launch(command, { app });
    launcher.kill(signal);
    await eventually('the port is free', () => isFree(url));
    await eventually('the process has ended', () => hasEnded(pid));
  });

  it.skipIf(!PNPM.includes('pnpm')).each(['SIGTERM', 'SIGKILL'] as const)(
    'ends when pnpm start gets %s',
    async (signal) => {
      const { launcher, pid, url } = await launch([PNPM, 'start']);
      launcher.kill(signal);
      await eventually('the port is free', () => isFree(url));
      await eventually('the process has ended', () => hasEnded(pid));
    },
  );
});

describe('a server in the background', () => {
  it('continues after its script has ended', async () => {
    const { launcher, pid, url } = await launch(['npm', 'run', 'background'], {
      log: 'background.log',
    });
    await eventually('npm has ended', () => launcher.exitCode !== null);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    kill(pid, 'SIGTERM');
    await eventually('the process has ended', () => hasEnded(pid));
  });
});

describe('isInForeground', () => {
  it.each([
    'stepwright start',
    "'stepwright'",
    'exec stepwright start',
    'PORT=8080 stepwright start --x',
    'env A=1 npx stepwright start',
    'cross-env A=1 stepwright dev flows',
    './node_modules/.bin/stepwright start',
    'stepwright start 2>&1 | pino-pretty',
    'stepwright start &> log',
    'tsc && stepwright start',
    'node scripts/build/build.mjs && exec node server/dist/main.js',
    'node node_modules/stepwright/bin/stepwright.js start',
    "'pnpm'",
    'npm run server',
  ])('returns true for a script that waits for the server: %s', (script) => {
    expect(isInForeground(script)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'stepwright start &',
    'nohup stepwright start > log 2>&1 &',
    'nohup stepwright start',
    'setsid stepwright start',
    'stepwright start & wait-on tcp:5001',
    '(stepwright start &) && vitest',
    'vitest run',
    'node start.js',
    './start-stepwright.sh',
    'concurrently "stepwright start" vite',
  ])('returns false for a script that may leave the server behind: %s', (script) => {
    expect(isInForeground(script)).toBe(false);
  });
});
