/**
 * MongoDB, Redis and PostgreSQL for a whole run of the suite, from the first available source:
 *
 * 1. `E2E_DBHOST` (MongoDB) and `E2E_REDIS`: servers that are already running; `E2E_POSTGRES` with them, if there is one;
 * 2. Docker, through Testcontainers (images mongo:7, redis:7 and postgres:15);
 * 3. `mongod` and `redis-server` on the PATH;
 * 4. none: the embedded store and no Redis, with a prominent message, because this covers less.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { freePort } from '../../sdk/test/support/free-port.js';
import { startPostgresContainer } from '../../server/test/support/postgres-container.js';

export interface BackingServices {
  /** Address of MongoDB; null: its tests run on the embedded store. */
  readonly mongo: string | null;
  readonly redis: string | null;
  /** Null: its scenarios are skipped, and its fault tests run on the embedded store. */
  readonly postgres: string | null;
  /** The source, for the log of the test run. */
  readonly description: string;
  stop(): Promise<void>;
}

export async function findBackingServices(): Promise<BackingServices> {
  const { E2E_DBHOST: mongo, E2E_POSTGRES: postgres, E2E_REDIS: redis } = process.env;
  if (mongo !== undefined && redis !== undefined) {
    return {
      mongo,
      redis,
      postgres: postgres ?? null,
      description: 'servers named by E2E_DBHOST, E2E_REDIS and E2E_POSTGRES',
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
      '*** NOT COVERED: MongoDB, Redis and PostgreSQL. The suite runs on the embedded store. ***',
      ...problems.map((problem) => `***   ${problem.split('\n')[0] ?? ''}`),
      '************************************************************************************',
      '',
    ].join('\n'),
  );
  return {
    mongo: null,
    redis: null,
    postgres: null,
    description: 'the embedded store, without Redis',
    stop: nothing,
  };
}

async function nothing(): Promise<void> {
  // The suite did not start these servers.
}

async function startContainers(): Promise<BackingServices> {
  const started: StartedTestContainer[] = [];
  const start = async (container: GenericContainer): Promise<StartedTestContainer> => {
    const running = await container.start();
    started.push(running);
    return running;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((container) => container.stop()));
  };
  try {
    const mongo = await start(
      new GenericContainer('mongo:7')
        .withExposedPorts(27017)
        .withWaitStrategy(Wait.forListeningPorts()),
    );
    const redis = await start(
      new GenericContainer('redis:7')
        .withExposedPorts(6379)
        .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/)),
    );
    const postgres = await startPostgresContainer();
    started.push(postgres.container);
    return {
      mongo: `mongodb://${addressOf(mongo, 27017)}`,
      redis: `redis://${addressOf(redis, 6379)}`,
      postgres: postgres.url,
      description: 'containers of mongo:7, redis:7 and postgres:15',
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressOf(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`;
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
    mongo: `mongodb://127.0.0.1:${mongoPort}`,
    redis: `redis://127.0.0.1:${redisPort}`,
    postgres: null,
    description: 'mongod and redis-server of this machine, without PostgreSQL',
    stop: async () => {
      await Promise.all(processes.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
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
