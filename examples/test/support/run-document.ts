/**
 * Runs the shell blocks of a document from top to bottom, like a reader would. The words after the fence say how:
 *
 *  - `sh run`         runs, and must succeed
 *  - `sh server`      starts or restarts the server, and waits until it listens
 *  - `sh background`  runs in a separate terminal until the document ends
 *  - `text output`    is the output of the block before it; `…` matches any text in a line
 *
 * Other blocks are not run. A `cd` applies to the blocks after it, as in one terminal. The server starts in the repository. The
 * URL of the test server replaces the default URL.
 */
import { fencedBlocks, hasWords, type FencedBlock } from './fenced-blocks.ts';
import { matchesShown } from './printed-output.ts';
import { repository, runCommand, startCommand, type RunningCommand } from './run-command.ts';
import type { RunningServer } from './running-server.ts';

/** Marks the output line with the working directory in which a block ended. */
const FOLDER_MARK = '--- ended in ';

const USUAL_URL = 'http://127.0.0.1:5001';

export interface DocumentRun {
  readonly markdown: string;
  readonly server: RunningServer;
  /** Replacements in the text of the document, so that a test uses its own folder. */
  readonly replacements?: Readonly<Record<string, string>>;
}

/** Runs the blocks, and returns their number. @throws Error with the line of the block that failed */
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
    // Interrupt all of them, even if one has printed unexpected output.
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

/** Failures in the log of the server say more than the output. */
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
