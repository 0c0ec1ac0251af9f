/** The tarballs of all packages, installed by npm into an empty folder, as users get them. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from './command-line.js';
import { eventually } from '../../sdk/test/support/eventually.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_TIMEOUT_MS = 120_000;
/** What npm prints when it cannot reach the registry. */
const UNREACHABLE = /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|E50\d/;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What commander knows of a command. */
interface Node {
  readonly commands: readonly Node[];
  readonly options: readonly { readonly long?: string }[];
  name(): string;
}

function leavesOf(
  { commands, options }: Node,
  words: readonly string[],
): { readonly command: string; readonly options: readonly string[] }[] {
  if (commands.length === 0) {
    return [{ command: words.join(' '), options: options.map(({ long = '' }) => long) }];
  }
  return commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

export class Installation {
  readonly folder: string;
  /** Absolute paths. */
  readonly tarballs: readonly string[];

  private constructor(folder: string, tarballs: readonly string[]) {
    this.folder = folder;
    this.tarballs = tarballs;
  }

  /** @returns why it is impossible, if the registry cannot be reached */
  static create(): Installation | string {
    const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-packed-')));
    // Started by root, the server runs Python as a user without rights, who must be able to read the package.
    chmodSync(top, 0o755);
    const packages = path.join(top, 'packages');
    succeed('node', [path.join(ROOT, 'scripts/release/pack-all.mjs'), packages], ROOT);
    const folder = path.join(top, 'app');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const tarballs = readdirSync(packages).map((file) => path.join(packages, file));
    const options = ['--prefer-offline', '--no-audit', '--no-fund'];
    const { code, stderr } = run('npm', ['install', ...options, ...tarballs], folder);
    const installation = new Installation(folder, tarballs);
    if (code === 0) return installation;
    installation.remove();
    if (UNREACHABLE.test(stderr)) return 'the package registry cannot be reached';
    throw new Error(`npm could not install the packages:\n${stderr}`);
  }

  remove(): void {
    rmSync(path.dirname(this.folder), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs a command to its end. */
  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Ended {
    return run('npx', ['stepwright', ...args], this.folder, environment);
  }

  /** For calls whose settings are only these. */
  command(variables: Readonly<Record<string, string>>): Command {
    return new Command([this.#bin], variables);
  }

  /** The commands of the program that is in the package, without those that only have commands below them. */
  async commands(): Promise<{ readonly command: string; readonly options: readonly string[] }[]> {
    const file = path.join(this.folder, 'node_modules/stepwright/dist/cli/program.js');
    const { createProgram } = (await import(file)) as { readonly createProgram: () => Node };
    return leavesOf(createProgram(), []);
  }

  get #bin(): string {
    return path.join(this.folder, 'node_modules/.bin/stepwright');
  }

  /**
   * A command that runs until it is stopped, without the processes of npx in front of it, so that its exit code is seen.
   */
  server(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): PackedServer {
    return new PackedServer([this.#bin, ...args], this.folder, environment);
  }
}

export class PackedServer {
  output = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;

  constructor(
    command: readonly string[],
    folder: string,
    environment: Readonly<Record<string, string>>,
  ) {
    const [file = '', ...args] = command;
    this.#child = spawn(file, args, {
      cwd: folder,
      env: { ...process.env, PORT: '0', DATA_DIR: path.join(folder, 'data'), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    // Later than its exit: whatever still runs keeps the output open.
    this.#closed = new Promise((resolve) => this.#child.once('close', resolve));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  async url(): Promise<string> {
    return eventually(
      'the server listens',
      () => /listens on (http:\/\/\S+)/.exec(this.output)?.[1],
      START_TIMEOUT_MS,
    );
  }

  async says(pattern: RegExp): Promise<void> {
    await eventually(`it prints ${pattern}`, () => pattern.test(this.output), START_TIMEOUT_MS);
  }

  async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.#closed;
  }
}

export function succeed(file: string, args: readonly string[], folder: string): void {
  const { code, stderr, stdout } = run(file, args, folder);
  if (code !== 0) throw new Error(`${file} failed:\n${stdout}${stderr}`);
}

function run(
  file: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Ended {
  const result = spawnSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}
