/** Runs the command `stepwright` as people and programs do: in a pseudo-terminal, and in a pipe. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { startNode, type ServerNode } from '../environment/server-node.js';

export const BIN = fileURLToPath(new URL('../../server/bin/stepwright.js', import.meta.url));

export interface Piped {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Shown {
  readonly code: number | null;
  /** Everything on the screen, with colors, without carriage returns. */
  readonly screen: string;
}

interface PipeOptions {
  readonly input?: string;
  /** Gets what was printed so far, whenever there is more. */
  readonly onOutput?: (stdout: string) => void;
  readonly environment?: Readonly<Record<string, string>>;
}

interface TerminalOptions {
  /** What is typed. */
  readonly input?: string;
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A server with an embedded store, and commands that talk to it. */
export class CommandLine {
  readonly client: StepwrightClient;
  /** The folder in which commands run. */
  readonly folder: string;
  readonly #node: ServerNode;

  private constructor(folder: string, node: ServerNode) {
    this.folder = folder;
    this.#node = node;
    this.client = createClient({ baseUrl: node.url });
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<CommandLine> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-cli-'));
    const node = await startNode({ DATA_DIR: path.join(folder, 'data'), ...settings });
    return new CommandLine(folder, node);
  }

  async stop(): Promise<void> {
    await this.#node.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get url(): string {
    return this.#node.url;
  }

  /** In a pipe. */
  async pipe(args: readonly string[], options: PipeOptions = {}): Promise<Piped> {
    const { environment = {}, input = '', onOutput } = options;
    const command = [process.execPath, BIN, ...args];
    return execute(command, input, this.#environment(environment), onOutput);
  }

  /** The JSON that a command prints; it must succeed. */
  async json<Value>(args: readonly string[]): Promise<Value> {
    const { code, stderr, stdout } = await this.pipe([...args, '--json']);
    if (code !== 0) throw new Error(`stepwright ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Value;
  }

  /** In a pseudo-terminal of `script`, which every Linux has (util-linux). */
  async terminal(args: readonly string[], options: TerminalOptions = {}): Promise<Shown> {
    const { columns = 120, environment = {}, input = '' } = options;
    const command = [process.execPath, BIN, ...args].map(quoted).join(' ');
    const inside = `stty cols ${columns} rows 40; exec ${command}`;
    const { code, stderr, stdout } = await execute(
      ['script', '--quiet', '--return', '--command', inside, '/dev/null'],
      input,
      this.#environment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment }),
    );
    return { code, screen: `${stdout}${stderr}`.replaceAll('\r', '') };
  }

  /** A script for bash, in which `stepwright` is the command, as in documents. */
  async shell(script: string): Promise<Piped> {
    const command = `stepwright() { ${quoted(process.execPath)} ${quoted(BIN)} "$@"; }`;
    const environment = this.#environment({});
    return execute(
      ['bash', '--norc', '-euo', 'pipefail', '-c', `${command}\n${script}`],
      '',
      environment,
    );
  }

  /** No setting of the shell changes a result. */
  #environment(extra: Readonly<Record<string, string>>): Record<string, string> {
    const { HOME = '', PATH = '' } = process.env;
    const XDG_CONFIG_HOME = path.join(this.folder, 'config');
    return { HOME, PATH, XDG_CONFIG_HOME, TZ: 'UTC', STEPWRIGHT_URL: this.url, ...extra };
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function execute(
  [file = '', ...args]: readonly string[],
  input: string,
  env: Record<string, string>,
  onOutput: (stdout: string) => void = () => undefined,
): Promise<Piped> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput(stdout);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    // A command that does not read its input may be gone before it arrives.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
