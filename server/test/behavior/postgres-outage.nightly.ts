/**
 * Goal: a server on PostgreSQL hardly uses it while idle. If PostgreSQL hangs, stops or is killed, the server says so, costs
 * little meanwhile, and loses nothing.
 * Method: one built server on a container of its own, with runs that wait in every possible way.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import {
  postgresForTests,
  runOn,
  startPostgresContainer,
  valueOn,
} from '../support/postgres-container.js';
import {
  dockerContainerOf,
  type DockerContainer,
  type ServerContainer,
} from '../support/shared-server.js';
import { SpawnedServer } from '../support/spawned-server.js';
import { Client, type Answer } from './support/client.js';
import { step } from './support/steps.js';
import { succeedsAfterRestart, WAITS } from './support/waits.js';

/** Short, because each outage lasts that long; a heartbeat is sent three times in this time. */
const LEASE_MS = '8000';
/** Of one core. On a machine with much else to do, it can only be less. */
const CPU_SHARE_MAX = 0.5;
const CLOCK_TICKS_PER_SECOND = 100;
/** Several heartbeats and scans. */
const OBSERVED_MS = 15_000;
/** On a busy machine, the container also needs a while. */
const CHANGE_MS_MAX = 90_000;
const TIMEOUT_MS = 300_000;

const STATEMENTS = `
SELECT sum(calls)::int AS value FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`;

const startsContainers =
  (process.env['TEST_POSTGRES'] ?? '') === '' && (await postgresForTests()) !== null;

describe.skipIf(!startsContainers)('a server with its own PostgreSQL', () => {
  let database: ServerContainer;
  let docker: DockerContainer;
  let server: SpawnedServer;
  let client: Client;
  beforeAll(async () => {
    database = await startPostgresContainer({
      keepsPort: true,
      settings: ['shared_preload_libraries=pg_stat_statements'],
    });
    docker = await dockerContainerOf(database.container);
    server = await SpawnedServer.start({
      PORT: '0',
      dbhost: database.url,
      NODE_LEASE_MS: LEASE_MS,
    });
    client = new Client(server.url);
  });
  afterAll(async () => {
    await server.kill();
    await database.container.stop();
  });

  it('sends at most two statements a second while idle', { timeout: TIMEOUT_MS }, async () => {
    await untilReady(client);
    await runOn(database.url, 'CREATE EXTENSION pg_stat_statements');
    const before = await valueOn<number>(database.url, STATEMENTS);
    const since = performance.now();
    // Counting for a while is the purpose; there is no condition to wait for.
    await setTimeout(OBSERVED_MS);
    const sent = (await valueOn<number>(database.url, STATEMENTS)) - before;
    expect(sent).toBeGreaterThan(0);
    expect(sent / ((performance.now() - since) / 1000)).toBeLessThan(2);
  });

  it.each([
    ['hangs', () => docker.pause(), () => docker.unpause()],
    ['is stopped', () => docker.stop(), () => docker.start()],
    ['is killed', () => docker.kill(), () => docker.start()],
  ])(
    'answers 503, costs little and loses nothing when PostgreSQL %s',
    async (_how, begin, end) => {
      await untilReady(client);
      const begun = await Promise.all(WAITS.map((wait) => wait.begin(client)));
      const definition = await client.define([step('wait', 'Delay', { Period: 0 })]);
      await begin();
      const away = await observe(server, client, definition);
      await end();
      await untilReady(client);
      for (const { headers, status } of away.refused) {
        expect(status).toBe(503);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(away.refused.length).toBeGreaterThan(0);
      expect(away.cpuShare).toBeLessThan(CPU_SHARE_MAX);
      await Promise.all(begun.map((each) => succeedsAfterRestart(client, each)));
      await Promise.all(away.accepted.map((id) => client.ended(id)));
    },
    TIMEOUT_MS,
  );
});

/** Calls the server until it no longer counts as ready. */
async function observe(
  server: SpawnedServer,
  client: Client,
  definition: string,
): Promise<{
  readonly refused: readonly Answer[];
  /** Runs that were started before the server noticed. */
  readonly accepted: readonly string[];
  readonly cpuShare: number;
}> {
  const ticks = ticksOf(server.pid);
  const startedAt = performance.now();
  const refused: Answer[] = [];
  const accepted: string[] = [];
  const notReady = async (): Promise<boolean> => {
    const started = await client.post<Problem & { readonly workflowId: string }>(
      `/api/workflow/${definition}`,
      {},
    );
    if (started.status === 201) accepted.push(started.body.workflowId);
    else refused.push(started);
    const listed = await client.get('/api/workflow');
    if (listed.status !== 200) refused.push(listed);
    return (await client.get('/health/ready')).status === 503;
  };
  await eventually('the server counts as not ready', notReady, CHANGE_MS_MAX);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = (ticksOf(server.pid) - ticks) / CLOCK_TICKS_PER_SECOND;
  return { refused, accepted, cpuShare: cpuSeconds / seconds };
}

async function untilReady(client: Client): Promise<void> {
  const ready = async (): Promise<boolean> => (await client.get('/health/ready')).status === 200;
  await eventually('the server is ready', ready, CHANGE_MS_MAX);
}

/** User and system time of the process. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
