/**
 * Runs the shell blocks of a document from top to bottom, like a reader would. The words after the fence say how:
 *
 *  - `sh install`     makes the packages of the repository available in the reader's folder, without npm; `pnpm bench:first-run`
 *                     runs the one of README as printed
 *  - `sh run`         runs, and must succeed
 *  - `sh server`      starts or restarts the server, and waits until it listens
 *  - `sh background`  runs in a separate terminal until the document ends
 *  - `text output`    is the output of the block before it; `…` matches any text in a line, or any lines
 *  - `yaml <path>`    is saved in the reader's folder, as is `ts <path>`; a running `stepwright dev` registers it
 *
 * Other blocks are not run. A `cd` applies to the blocks after it, as in one terminal. The server starts in the folder of the
 * moment. The URL of the test server replaces the default URL.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fencedBlocks, hasWords, type FencedBlock } from './fenced-blocks.ts';
import { matchesShown } from './printed-output.ts';
import { repository, runCommand, startCommand, type RunningCommand } from './run-command.ts';
import type { RunningServer } from './running-server.ts';

/** Marks the output line with the working directory in which a block ended. */
const FOLDER_MARK = '--- ended in ';

/** The reader's folder, in every document. */
const READERS_FOLDER = '~/my-flows';
const SAVED = new Set(['yaml', 'ts']);

const USUAL_URL = 'http://127.0.0.1:5001';

export interface DocumentRun {
  readonly markdown: string;
  readonly server: RunningServer;
}

/** Runs the blocks, and returns their number. @throws Error with the line of the block that failed */
export async function runDocument({ markdown, server }: DocumentRun): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'stepwright-document-'));
  const reader = new Reader(server, home);
  const blocks = fencedBlocks(markdown);
  try {
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      await reader.read(block, hasWords(next, 'text', 'output') ? (next?.text ?? '') : null);
    }
  } catch (error) {
    throw withLog(error, server);
  } finally {
    await reader.interrupt();
    await server.stopIn(home);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
  await reader.checkBackground();
  return reader.ran;
}

/** One reader, with a folder and some terminals. */
class Reader {
  /** How many blocks have run. */
  ran = 0;
  readonly #server: RunningServer;
  readonly #home: string;
  readonly #background: BackgroundBlock[] = [];
  #folder = repository;

  constructor(server: RunningServer, home: string) {
    this.#server = server;
    this.#home = home;
  }

  async read(block: FencedBlock, output: string | null): Promise<void> {
    const texts = { [USUAL_URL]: this.#server.url, [READERS_FOLDER]: this.#home };
    const command = replaceAll(block.text, texts);
    const shown = output === null ? null : replaceAll(output, texts);
    const [language = '', path] = block.words;
    if (path === undefined) return;
    if (SAVED.has(language)) return this.#save(path, block.text);
    if (language !== 'sh') return;
    if (path === 'install') this.#install();
    else if (path === 'server') await this.#server.start(command, this.#folder);
    else if (path === 'run') {
      this.#folder = await runBlock({ block, command, shown }, this.#server, this.#folder);
    } else if (path === 'background') {
      const environment = { STEPWRIGHT_URL: this.#server.url };
      const running = startCommand(command, { folder: this.#folder, environment });
      this.#background.push({ block, command, shown, running });
    } else return;
    this.ran += 1;
  }

  /** The commands running in other terminals. */
  async interrupt(): Promise<void> {
    await Promise.all(this.#background.map(({ running }) => running.interrupt()));
  }

  /** @throws Error if one has printed something else than it should */
  async checkBackground(): Promise<void> {
    for (const block of this.#background) check(block, await block.running.interrupt());
  }

  async #save(path: string, text: string): Promise<void> {
    const file = join(this.#home, path);
    mkdirSync(dirname(file), { recursive: true });
    const registered = this.#server.untilRegistered(path);
    writeFileSync(file, `${text}\n`);
    await registered;
  }

  #install(): void {
    const modules = join(this.#home, 'node_modules');
    const links = {
      stepwright: 'server',
      '@stepwright/sdk': 'sdk',
      '@stepwright/worker-sdk': 'worker-sdk',
      tsx: 'node_modules/tsx',
      '.bin/stepwright': 'server/bin/stepwright.js',
      '.bin/tsx': 'node_modules/tsx/dist/cli.mjs',
    };
    for (const [name, target] of Object.entries(links)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(repository, target), join(modules, name));
    }
    writeFileSync(join(this.#home, 'package.json'), '{ "type": "module" }\n');
    this.#folder = this.#home;
  }
}

interface Block {
  readonly block: FencedBlock;
  readonly command: string;
  readonly shown: string | null;
}

interface BackgroundBlock extends Block {
  readonly running: RunningCommand;
}

/** Runs a block, and returns the working directory in which it ended. */
async function runBlock(block: Block, server: RunningServer, folder: string): Promise<string> {
  const result = await runCommand(`${block.command}\necho "${FOLDER_MARK}$PWD"`, {
    folder,
    environment: { STEPWRIGHT_URL: server.url },
  });
  if (result.exitCode !== 0) throw failure(block, `exit code ${result.exitCode}`, result);
  const [printed = '', ended = ''] = result.stdout.split(FOLDER_MARK);
  check(block, { ...result, stdout: printed });
  return ended.trim();
}

function check(block: Block, result: { readonly stdout: string; readonly stderr: string }): void {
  if (block.shown === null || matchesShown(result.stdout, block.shown)) return;
  throw failure(block, `it should print:\n${block.shown}`, result);
}

function failure(
  { block, command }: Block,
  reason: string,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Error {
  const place = `the block at line ${block.line}`;
  return new Error(`${place}: ${reason}\n--- command\n${command}\n--- printed\n${stdout}${stderr}`);
}

/** Failures in the server log are more informative than the output. */
function withLog(error: unknown, server: RunningServer): unknown {
  const failures = server.failures();
  if (!(error instanceof Error) || failures.length === 0) return error;
  return new Error(`${error.message}\n--- log of the server\n${failures.join('\n')}`, {
    cause: error,
  });
}

function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce(
    (result, [from, to]) => result.replaceAll(from, to),
    text,
  );
}
