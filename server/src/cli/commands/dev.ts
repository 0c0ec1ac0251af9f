/**
 * `stepwright dev`: runs a server, and registers a folder's definitions, scripts and limits at the start and whenever they change.
 * Problems in a file are printed with their position, and the last valid version stays.
 */
import { fork } from 'node:child_process';
import path from 'node:path';
import { presetProcess, type CommandPreset } from '../../command-preset.js';
import { painterFor } from '../output/paint.js';
import { printLine, printNote } from '../output/output.js';
import { continued, plain } from '../output/plain-text.js';
import { asText } from '../output/print-problems.js';
import { DEFAULT_URL } from '../connection/connect.js';
import { startDataOf } from '../files/start-data.js';
import { nameIn, storeFile, type ServerCalls } from '../files/store-files.js';
import { watchFolders } from '../files/watch-folders.js';
import { isCandidate, readWorkflowFiles, type WorkflowFile } from '../files/workflow-files.js';

/** Editors write a file in several steps, and git changes many files at once. */
const SETTLE_MS = 30;
/** The maximum number of data fields in the suggested command. */
const FIELDS_MAX = 5;

export interface DevOptions {
  /** Keeps everything in memory only. */
  readonly memory: boolean;
  /** Also runs the folder's tests. */
  readonly test: boolean;
}

/** Runs until the server is stopped. @throws Error if the folder does not exist */
export async function dev(folder: string, { memory, test }: DevOptions): Promise<void> {
  // Before the server starts, so that an invalid folder doesn't leave one running.
  await readWorkflowFiles([folder]);
  process.env['LOG_LEVEL'] ??= 'warn';
  presetProcess({ ...(memory ? await memoryStore() : {}), hasOwnTip: true });
  const { url } = await import('../../main.js');
  const live = new LiveFolder(folder, { url, token: process.env['STEPWRIGHT_TOKEN'] ?? null });
  await live.refresh();
  printLine(tip(live.firstDefinition(), folder, url));
  const watcher = await watchFolders([folder]);
  watcher.on('all', (_event, file) => {
    if (isCandidate(file)) live.refreshSoon();
  });
  watcher.on('error', (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    printNote(`stepwright: ${plain(folder)} is no longer watched: ${continued(reason)}`);
  });
  if (test) startTests(folder);
}

async function memoryStore(): Promise<CommandPreset> {
  const { createMemoryStore } = await import('../../compose-host.js');
  return { store: createMemoryStore() };
}

/** The suggested next command, for another terminal. */
function tip(definition: Registered | null, folder: string, url: string): string {
  if (definition === null) {
    const example = plain(path.join(folder, 'hello.yaml'));
    return `\nThere are no definitions in ${plain(folder)} yet: save one as ${example}, and it is registered.\n`;
  }
  const command = process.env['npm_command'] === 'exec' ? 'npx stepwright' : 'stepwright';
  const server = url === DEFAULT_URL ? '' : ` --url ${url}`;
  const data = startDataOf(definition.text)
    .slice(0, FIELDS_MAX)
    .map((name) => ` -d ${name}=…`)
    .join('');
  return `\nStart a run in another terminal: ${command} run ${plain(definition.id)}${data} --follow${server}\n`;
}

/**
 * Runs in a separate process, so tests don't slow down the server. The connection between them makes it exit together with this
 * process.
 */
function startTests(folder: string): void {
  const [, command = ''] = process.argv;
  const child = fork(command, ['test', '--watch', '--', folder]);
  child.once('exit', (code) => {
    report(new Error(`the tests are no longer running (exit code ${code ?? 'none'})`));
  });
  // The server decides when this ends, regardless of the tests.
  child.unref();
  child.channel?.unref();
}

type Seen = Pick<WorkflowFile, 'text' | 'unreadable'> & {
  readonly accepted: boolean;
  /** Null if it is no definition, or has no name. */
  readonly definition: string | null;
};

interface Registered {
  readonly id: string;
  readonly text: string;
}

class LiveFolder {
  readonly #folder: string;
  readonly #server: ServerCalls;
  /** The text that the server has accepted or rejected, by file. */
  readonly #seen = new Map<string, Seen>();
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(folder: string, server: ServerCalls) {
    this.#folder = folder;
    this.#server = server;
  }

  firstDefinition(): Registered | null {
    for (const { accepted, definition, text } of this.#seen.values()) {
      if (accepted && definition !== null) return { id: definition, text };
    }
    return null;
  }

  refreshSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), SETTLE_MS);
  }

  /** Runs one by one, so that each sees the changes that the previous one has stored. */
  refresh(): Promise<void> {
    this.#work = this.#work.then(() => this.#refresh()).catch(report);
    return this.#work;
  }

  async #refresh(): Promise<void> {
    const files = await readWorkflowFiles([this.#folder]);
    const changed = files.filter((file) => this.#isChanged(file));
    // A rejected definition may use a script or a limit that has just been added.
    const hasNewPart = changed.some(({ kind }) => kind !== 'definition');
    const again = files.filter(
      (file) => hasNewPart && !changed.includes(file) && this.#isRejected(file),
    );
    for (const file of [...changed, ...again]) await this.#store(file);
    for (const file of this.#seen.keys()) {
      if (files.some(({ path: present }) => present === file)) continue;
      this.#seen.delete(file);
      printLine(`${plain(file)}: removed; the server keeps what it has stored`);
    }
  }

  #isChanged({ path: file, text, unreadable }: WorkflowFile): boolean {
    const seen = this.#seen.get(file);
    return seen?.text !== text || seen.unreadable !== unreadable;
  }

  #isRejected({ path: file }: WorkflowFile): boolean {
    return this.#seen.get(file)?.accepted === false;
  }

  async #store(file: WorkflowFile): Promise<void> {
    const stored = await storeFile(this.#server, file);
    const accepted = stored?.accepted ?? true;
    const { text, unreadable } = file;
    const definition = file.kind === 'definition' ? nameIn(file) : null;
    this.#seen.set(file.path, { text, unreadable, accepted, definition });
    const paint = painterFor(process.stdout);
    if (stored !== null && stored.problems.length > 0) {
      printLine(asText({ file, problems: stored.problems }, paint));
    }
    const state =
      stored === null
        ? 'unchanged'
        : stored.accepted
          ? paint(
              'green',
              stored.version === null ? 'set up' : `registered, version ${stored.version}`,
            )
          : paint('red', 'not registered; the last valid version stays');
    printLine(`${plain(file.path)}: ${state}`);
  }
}

function report(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  printNote(`stepwright: ${continued(message)}`);
}
