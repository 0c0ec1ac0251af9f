/** A server in a separate process, with a free port and its own data folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../sdk/test/support/free-port.ts';
import { repository, startCommand, type RunningCommand } from './run-command.ts';

export interface RunningServer {
  readonly url: string;
  /** Starts the server; after a stop, restarts it with the same port and data. The default folder is the repository. */
  start(command: string, folder?: string): Promise<void>;
  /** Resolves when `stepwright dev` has registered what is now written to the file; at once if that does not run. */
  untilRegistered(path: string): Promise<void>;
  stop(): Promise<void>;
  /** Stops it if it was started in this folder. */
  stopIn(folder: string): Promise<void>;
  /** The failures in its log since its first start. */
  failures(): readonly string[];
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** The command that `pnpm start` runs after the build. */
export const SERVER_COMMAND = 'node server/dist/main.js';

const DEV = /\bstepwright dev\b/;
const DEFINITION = /(?<!\.test)\.yaml$/;

/** As the README of example 31 says. */
const SECRETS = { secret_CARRIER_TOKEN: 'example-carrier-token' };

export async function prepareServer(): Promise<RunningServer> {
  // Chosen before the first start, because a restarted server must use the same port.
  const port = await freePort();
  const dataFolder = await mkdtemp(join(tmpdir(), 'stepwright-examples-'));
  const commands: RunningCommand[] = [];
  let place = '';
  let live: RunningCommand | null = null;
  const stop = async () => {
    live = null;
    await commands.at(-1)?.interrupt();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    start: async (command, folder = repository) => {
      await stop();
      const environment = { PORT: String(port), DATA_DIR: dataFolder, ...SECRETS };
      const started = startCommand(command, { folder, environment });
      commands.push(started);
      place = folder;
      await started.untilPrinted('listens on');
      if (!DEV.test(command)) return;
      // It has registered the folder.
      await started.untilPrinted('Start a run');
      live = started;
    },
    untilRegistered: async (path) => {
      if (!DEFINITION.test(path)) return;
      await live?.untilPrinted(`${path}: registered`, live.length());
    },
    stop,
    stopIn: async (folder) => {
      if (place === folder) await stop();
    },
    failures: () => commands.flatMap((command) => failuresIn(command.printed())),
    close: async () => {
      await stop();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

function failuresIn(log: string): string[] {
  return (
    log
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line))
      // Some examples show a step that fails for the last time.
      .filter((line) => !line.includes('"code":"step_attempt_failed"'))
  );
}
