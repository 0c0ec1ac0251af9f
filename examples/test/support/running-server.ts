/** A server as a process of its own, on a free port and in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCommand, type RunningCommand } from './run-command.ts';

export interface RunningServer {
  readonly url: string;
  /** Starts it once more after a stop, on the same port and data. */
  start(command: string): Promise<void>;
  stop(): Promise<void>;
  /** The failures in its log, since its first start. */
  failures(): readonly string[];
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** What `pnpm start` runs when everything is built. */
export const SERVER_COMMAND = 'node server/dist/main.js';

export async function prepareServer(): Promise<RunningServer> {
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
        environment: { PORT: String(port), DATA_DIR: dataFolder },
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

/** The port is chosen before the start, as a server that is started again has to come back on the same one. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo; // It listens on TCP.
  probe.close();
  await once(probe, 'close');
  return port;
}

function failuresIn(log: string): string[] {
  return (
    log
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line))
      // A step that failed for the last time is what an example shows.
      .filter((line) => !line.includes('"code":"step_attempt_failed"'))
  );
}
