/** Runs the shell commands of documents and examples like a reader would. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string>>;

export interface CommandPlace {
  /** The working directory. The default is the root of the repository. */
  readonly folder?: string;
  readonly environment?: Environment;
}

/** A command that runs in the background. */
export interface RunningCommand {
  /**
   * Resolves when standard output contains the text, after its first `from` characters.
   * @throws Error with the whole output if the command ends before that
   */
  untilPrinted(text: string, from?: number): Promise<void>;
  /** The output so far. */
  printed(): string;
  /** The length of its standard output so far. */
  length(): number;
  /** Interrupts the command like Ctrl+C, and waits until it has ended. */
  interrupt(): Promise<CommandResult>;
}

export async function runCommand(
  command: string,
  { timeoutMs = 60_000, ...place }: CommandPlace & { timeoutMs?: number } = {},
): Promise<CommandResult> {
  const child = startShell(command, place);
  const output = collectOutput(child);
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), timeoutMs);
  const exitCode = await ended(child);
  clearTimeout(timer);
  return { exitCode, ...output };
}

export function startCommand(command: string, place: CommandPlace = {}): RunningCommand {
  const child = startShell(command, place);
  const output = collectOutput(child);
  const end = ended(child);
  return {
    untilPrinted: (text, from = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (output.stdout.includes(text, from)) resolve();
        };
        look();
        child.stdout?.on('data', look);
        void end.then(() => {
          look();
          reject(new Error(`'${command}' ended early:\n${output.stdout}${output.stderr}`));
        });
      }),
    printed: () => output.stdout + output.stderr,
    length: () => output.stdout.length,
    interrupt: async () => {
      signalGroup(child, 'SIGINT');
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), 20_000);
      const exitCode = await end;
      clearTimeout(timer);
      return { exitCode, ...output };
    },
  };
}

/** Starts a separate process group, so that a signal also reaches the children of the shell. */
function startShell(
  command: string,
  { environment = {}, folder = repository }: CommandPlace,
): ChildProcess {
  return spawn('sh', ['-e', '-c', command], {
    cwd: folder,
    detached: true,
    env: { ...process.env, PATH: pathWithPnpm(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function collectOutput(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return output;
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return exitCode;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  // Once a process has ended, another process may have its id.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

let pathMade: string | null = null;

/** Documents use `pnpm`, which may not be installed: provides the pnpm that runs the tests, or the one from npx. */
function pathWithPnpm(): string {
  if (pathMade !== null) return pathMade;
  const folder = join(repository, 'examples/.cache/bin');
  mkdirSync(folder, { recursive: true });
  const pnpm = ownPnpm() ?? 'npx -y pnpm@12';
  // Prevents pnpm from installing packages during tests.
  const script = `#!/bin/sh\nexec ${pnpm} --config.verify-deps-before-run=false "$@"\n`;
  writeFileSync(join(folder, 'pnpm'), script, { mode: 0o755 });
  const tools = join(repository, 'node_modules/.bin');
  pathMade = [folder, tools, process.env['PATH'] ?? ''].join(delimiter);
  return pathMade;
}

/** The command of the pnpm that runs the tests: an executable or a Node.js script. */
function ownPnpm(): string | null {
  const own = process.env['npm_execpath'] ?? '';
  if (/pnpm[^/\\]*\.[cm]?js$/.test(own)) return `"${process.execPath}" "${own}"`;
  return /[/\\]pnpm(\.exe)?$/.test(own) ? `"${own}"` : null;
}
