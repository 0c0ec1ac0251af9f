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
  readonly ending?: Ending;
}

interface TerminalOptions {
  /** What is typed once the prompt is there: what is typed before a program reads keys can be lost. */
  readonly typed?: Typed;
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ending?: Ending;
}

interface Typed {
  readonly prompt: string;
  readonly text: string;
}

/** For a command that runs until it is stopped: it is stopped when it has printed this. */
interface Ending {
  readonly after: RegExp;
  /** `type`: Ctrl+C, as in a terminal. */
  readonly by: 'SIGTERM' | 'type';
}

const CTRL_C = '\u0003';

/** One command, wherever it is installed. */
export class Command {
  readonly #words: readonly string[];
  readonly #variables: Readonly<Record<string, string>>;

  /** @param variables besides HOME and PATH: no setting of the shell changes a result */
  constructor(words: readonly string[], variables: Readonly<Record<string, string>>) {
    this.#words = words;
    this.#variables = variables;
  }

  /** In a pipe. */
  async pipe(args: readonly string[], options: PipeOptions = {}): Promise<Piped> {
    const { environment = {}, input = '', ...more } = options;
    return execute([...this.#words, ...args], input, this.environment(environment), more);
  }

  /** The JSON that a command prints; it must succeed. */
  async json<Value>(args: readonly string[]): Promise<Value> {
    const { code, stderr, stdout } = await this.pipe([...args, '--json']);
    if (code !== 0) throw new Error(`stepwright ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Value;
  }

  /** In a pseudo-terminal of `script`, which every Linux has (util-linux). */
  async terminal(args: readonly string[], options: TerminalOptions = {}): Promise<Shown> {
    const { columns = 120, environment = {}, ...more } = options;
    const command = [...this.#words, ...args].map(quoted).join(' ');
    const inside = `stty cols ${columns} rows 40; exec ${command}`;
    const { code, stderr, stdout } = await execute(
      ['script', '--quiet', '--return', '--command', inside, '/dev/null'],
      '',
      this.environment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment }),
      more,
    );
    return { code, screen: `${stdout}${stderr}`.replaceAll('\r', '') };
  }

  protected environment(extra: Readonly<Record<string, string>>): Record<string, string> {
    const { HOME = '', PATH = '' } = process.env;
    return { HOME, PATH, TZ: 'UTC', ...this.#variables, ...extra };
  }
}

/** A server with an embedded store, and commands that talk to it. */
export class CommandLine extends Command {
  readonly client: StepwrightClient;
  /** The folder in which commands run. */
  readonly folder: string;
  readonly #node: ServerNode;

  private constructor(folder: string, node: ServerNode) {
    const XDG_CONFIG_HOME = path.join(folder, 'config');
    super([process.execPath, BIN], { XDG_CONFIG_HOME, STEPWRIGHT_URL: node.url });
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

  /** A script for bash, in which `stepwright` is the command, as in documents. */
  async shell(script: string): Promise<Piped> {
    const command = `stepwright() { ${quoted(process.execPath)} ${quoted(BIN)} "$@"; }`;
    const words = ['bash', '--norc', '-euo', 'pipefail', '-c', `${command}\n${script}`];
    return execute(words, '', this.environment({}));
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

interface Course {
  readonly onOutput?: (stdout: string) => void;
  readonly ending?: Ending;
  readonly typed?: Typed;
}

function execute(
  [file = '', ...args]: readonly string[],
  input: string,
  env: Record<string, string>,
  { ending, onOutput = () => undefined, typed }: Course = {},
): Promise<Piped> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    let isEnding = false;
    const look = (): void => {
      if (ending === undefined || isEnding) return;
      // A terminal ends lines with two characters.
      if (!ending.after.test((stdout + stderr).replaceAll('\r', ''))) return;
      isEnding = true;
      if (ending.by === 'type') child.stdin.end(CTRL_C);
      else child.kill(ending.by);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput(stdout);
      const isAsked = typed !== undefined && stdout.includes(typed.prompt);
      if (isAsked && !child.stdin.writableEnded) child.stdin.end(typed.text);
      look();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      look();
    });
    // A command that does not read its input may be gone before it arrives.
    child.stdin.on('error', () => undefined);
    if (ending?.by === 'type') child.stdin.write(input);
    else if (typed === undefined) child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
