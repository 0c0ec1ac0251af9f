/**
 * Runs the shell blocks of a document from top to bottom, as its reader would. Words behind the fence say how:
 *
 *  - `sh run`         runs, and has to succeed
 *  - `sh server`      starts the server, or starts it anew, and waits until it listens
 *  - `sh background`  runs in a terminal of its own until the document ends
 *  - `text output`    what the block before it prints, `…` standing for any text in a line
 *
 * Other blocks are only shown. A `cd` holds for the blocks after it, as in one terminal; the server starts in the
 * repository. Its usual address is replaced by that of the test's own server.
 */
import { fencedBlocks, hasWords, type FencedBlock } from './fenced-blocks.ts';
import { matchesShown } from './printed-output.ts';
import { repository, runCommand, startCommand, type RunningCommand } from './run-command.ts';
import type { RunningServer } from './running-server.ts';

/** Stands before the folder in which a block ended. */
const FOLDER_MARK = '--- ended in ';

const USUAL_URL = 'http://127.0.0.1:5001';

export interface DocumentRun {
  readonly markdown: string;
  readonly server: RunningServer;
  /** Texts of the document that are replaced, so that a test has a folder of its own. */
  readonly replacements?: Readonly<Record<string, string>>;
}

/** Runs the blocks, and returns how many ran. @throws Error that names the line of the block that failed */
export async function runDocument({
  markdown,
  server,
  replacements = {},
}: DocumentRun): Promise<number> {
  const blocks = fencedBlocks(markdown);
  const background: BackgroundBlock[] = [];
  const texts = { [USUAL_URL]: server.url, ...replacements };
  let ran = 0;
  let folder = repository;
  try {
    for (const [index, block] of blocks.entries()) {
      const command = replaceAll(block.text, texts);
      const next = blocks[index + 1];
      const shown = hasWords(next, 'text', 'output') ? replaceAll(next?.text ?? '', texts) : null;
      if (hasWords(block, 'sh', 'run')) {
        folder = await runBlock({ block, command, shown }, server, folder);
      } else if (hasWords(block, 'sh', 'server')) await server.start(command);
      else if (hasWords(block, 'sh', 'background')) {
        const running = startCommand(command, {
          folder,
          environment: { STEPWRIGHT_URL: server.url },
        });
        background.push({ block, command, shown, running });
      } else continue;
      ran += 1;
    }
  } catch (error) {
    throw withLog(error, server);
  } finally {
    // All of them end, also where one has printed something else.
    for (const each of background) await each.running.interrupt();
  }
  for (const each of background) {
    check(each, await each.running.interrupt());
  }
  return ran;
}

interface Block {
  readonly block: FencedBlock;
  readonly command: string;
  readonly shown: string | null;
}

interface BackgroundBlock extends Block {
  readonly running: RunningCommand;
}

/** Returns the folder in which the block ended. */
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
  const place = `the block in line ${block.line}`;
  return new Error(`${place}: ${reason}\n--- command\n${command}\n--- printed\n${stdout}${stderr}`);
}

/** What went wrong in the server says more than what was printed. */
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
