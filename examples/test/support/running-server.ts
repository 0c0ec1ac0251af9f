/** A server in a separate process, with a free port and its own data folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../sdk/test/support/free-port.ts';
import { startCommand, type RunningCommand } from './run-command.ts';

export interface RunningServer {
  readonly url: string;
  /** Starts the server; after a stop, restarts it with the same port and data. */
  start(command: string): Promise<void>;
  stop(): Promise<void>;
  /** The failures in its log since its first start. */
  failures(): readonly string[];
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** The command that `pnpm start` runs after the build. */
export const SERVER_COMMAND = 'node server/dist/main.js';

/** As the README of example 31 says. */
const SECRETS = { secret_CARRIER_TOKEN: 'example-carrier-token' };

export async function prepareServer(): Promise<RunningServer> {
  // Chosen before the first start, because a restarted server must use the same port.
  const port = await freePort();
  const dataFolder = await mkdtemp(join(tmpdir(), 'stepwright-examples-'));
  const commands: RunningCommand[] = [];
  const stop = async () => {
    await commands.at(-1)?.interrupt();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    start: async (command) => {
      await stop();
      const started = startCommand(command, {
        environment: { PORT: String(port), DATA_DIR: dataFolder, ...SECRETS },
      });
      commands.push(started);
      await started.untilPrinted('listens on');
    },
    stop,
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
