/**
 * MongoDB and Redis for a whole run of the suite, from the first available source:
 *
 * 1. `E2E_DBHOST` and `E2E_REDIS`: servers that are already running;
 * 2. Docker, through Testcontainers (images mongo:7 and redis:7);
 * 3. `mongod` and `redis-server` on the PATH;
 * 4. none: the embedded store and no Redis, with a prominent message, because this covers less.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { GenericContainer, Wait } from 'testcontainers';

export interface BackingServices {
  /** Null: the embedded store. */
  readonly dbhost: string | null;
  readonly redis: string | null;
  /** The source, for the log of the test run. */
  readonly description: string;
  stop(): Promise<void>;
}

export async function findBackingServices(): Promise<BackingServices> {
  const { E2E_DBHOST: dbhost, E2E_REDIS: redis } = process.env;
  if (dbhost !== undefined && redis !== undefined) {
    return {
      dbhost,
      redis,
      description: 'servers named by E2E_DBHOST and E2E_REDIS',
      stop: nothing,
    };
  }
  const problems: string[] = [];
  for (const start of [startContainers, startProcesses]) {
    try {
      return await start();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  console.warn(
    [
      '',
      '************************************************************************************',
      '*** NOT COVERED: MongoDB and Redis. The suite runs on the embedded store instead. ***',
      ...problems.map((problem) => `***   ${problem.split('\n')[0] ?? ''}`),
      '************************************************************************************',
      '',
    ].join('\n'),
  );
  return {
    dbhost: null,
    redis: null,
    description: 'the embedded store, without Redis',
    stop: nothing,
  };
}

async function nothing(): Promise<void> {
  // The suite did not start these servers.
}

async function startContainers(): Promise<BackingServices> {
  const mongo = await new GenericContainer('mongo:7')
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  try {
    const redis = await new GenericContainer('redis:7')
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start();
    return {
      dbhost: `mongodb://${mongo.getHost()}:${mongo.getMappedPort(27017)}`,
      redis: `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`,
      description: 'containers of mongo:7 and redis:7',
      stop: async () => {
        await Promise.all([mongo.stop(), redis.stop()]);
      },
    };
  } catch (error) {
    await mongo.stop();
    throw error;
  }
}

async function startProcesses(): Promise<BackingServices> {
  for (const program of ['mongod', 'redis-server']) {
    if (spawnSync(program, ['--version']).error !== undefined) {
      throw new Error(`there is no ${program} on the PATH`);
    }
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-e2e-'));
  const [mongoPort, redisPort] = [await freePort(), await freePort()];
  const processes = [
    spawn('mongod', ['--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', String(mongoPort)]),
    spawn('redis-server', ['--bind', '127.0.0.1', '--port', String(redisPort), '--save', '']),
  ];
  await Promise.all([listening(mongoPort), listening(redisPort)]);
  return {
    dbhost: `mongodb://127.0.0.1:${mongoPort}`,
    redis: `redis://127.0.0.1:${redisPort}`,
    description: 'mongod and redis-server of this machine',
    stop: async () => {
      await Promise.all(processes.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // The server listens on TCP.
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    const answered = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (answered) return;
    await setTimeout(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}

async function end(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exited;
}
