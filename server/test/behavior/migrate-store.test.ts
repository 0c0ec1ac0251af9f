/**
 * Goal: runs that wait on one store continue on another one after `migrate-store`, and the command says by its exit code what
 * happened.
 * Method: the built server on SQLite, the built command, and the built server on the copy: on PostgreSQL, or on SQLite where
 * this machine has no PostgreSQL.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { addressThrough, linkOf, TcpProxy } from '../../../e2e/faults/support/tcp-proxy.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { createTestDatabase, postgresForTests } from '../support/postgres-container.js';
import { SpawnedServer } from '../support/spawned-server.js';

const COMMAND = fileURLToPath(new URL('../../dist/migrate-store.js', import.meta.url));

const directory = await mkdtemp(join(tmpdir(), 'stepwright-migrate-'));
const postgres = await postgresForTests();
const database = postgres === null ? null : await createTestDatabase(postgres.url);
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true });
});

const source = join(directory, 'source');
const target = join(directory, 'target');
const targetSettings: Readonly<Record<string, string>> =
  database === null ? { DATA_DIR: target } : { dbhost: database.url };
const targetAddress = database?.url ?? `sqlite:${target}`;

/** Runs the command to its end. */
function migrate(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { PATH: process.env['PATH'] ?? '' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function onServer(
  settings: Readonly<Record<string, string>>,
  use: (call: (method: string, path: string, body?: unknown) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const server = await SpawnedServer.start({ PORT: '0', LOG_LEVEL: 'error', ...settings });
  try {
    await use(async (method, path, body) => {
      const response = await fetch(server.url + path, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
      expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
      const text = await response.text();
      const parsed: unknown = text === '' ? null : JSON.parse(text);
      return parsed;
    });
  } finally {
    await server.stop();
  }
}

const DEFINITIONS = {
  event: [{ Id: 'a', StepType: 'WaitFor', Inputs: { EventName: '"go"', EventKey: '"k"' } }],
  activity: [{ Id: 'a', StepType: 'Activity', Inputs: { ActivityName: '"work"' } }],
  timer: [{ Id: 'a', StepType: 'Delay', Inputs: { Period: '"00:00:02"' } }],
  parent: [{ Id: 'a', StepType: 'SubWorkflow', Inputs: { DefinitionId: '"event"' } }],
};

it('continues runs on the new store', { timeout: 120_000 }, async () => {
  const ids: string[] = [];
  await onServer({ DATA_DIR: source }, async (call) => {
    for (const [Id, Steps] of Object.entries(DEFINITIONS)) {
      await call('POST', '/api/definition', { Id, Steps });
      const started = (await call('POST', `/api/workflow/${Id}`, {})) as { workflowId: string };
      ids.push(started.workflowId);
    }
    // The child of `parent` waits for the event as well.
    await expect
      .poll(async () => {
        const page = (await call('GET', '/api/workflow?definitionId=event')) as { items: object[] };
        return page.items.length;
      })
      .toBe(2);
  });

  const copied = await migrate([`--from=sqlite:${source}`, `--to=${targetAddress}`]);
  expect(copied).toMatchObject({ code: 0 });
  expect(copied.output).toMatch(/^ {2}instance +5 {2}[0-9a-f]{32}$/m);
  expect(copied.output).not.toContain('secret');

  await onServer(targetSettings, async (call) => {
    await call('POST', '/api/event/go/k', true);
    const { token } = (await call('GET', '/api/activity/work?timeout=20')) as { token: string };
    await call('POST', `/api/activity/success/${token}`, { ok: true });
    for (const id of ids) {
      const ended = await call('GET', `/api/workflow/${id}?wait=30`);
      expect(ended).toMatchObject({ workflowId: id, status: 'Complete' });
    }
  });

  const again = await migrate([`--from=sqlite:${source}`, `--to=${targetAddress}`]);
  expect(again.code).toBe(3);
  expect(again.output).toMatch(/^migrate-store: The target is not empty: /m);
});

/** Kills the command with -9 while the database has a request of this text and its response is on the way. */
async function killDuringCopy(
  address: string,
  text: string,
  argsWith: (slowAddress: string) => readonly string[],
): Promise<void> {
  const proxy = await TcpProxy.start(linkOf(address));
  let isStuck = false;
  proxy.losesAnswer = (request) => {
    if (request.includes(text)) {
      proxy.mode = 'blackhole';
      isStuck = true;
    }
    return false;
  };
  const child = spawn(process.execPath, [COMMAND, ...argsWith(addressThrough(proxy, address))], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  await eventually('the copy is stuck', () => isStuck, 60_000);
  child.kill('SIGKILL');
  expect(await exited).toBe('SIGKILL');
  await proxy.close();
}

async function refusesToStart(settings: Readonly<Record<string, string>>): Promise<void> {
  const { code, output } = await SpawnedServer.runUntilExit({ PORT: '0', ...settings });
  expect(code).toBeGreaterThan(0);
  expect(output).toContain('unfinished copy of another store');
}

it.skipIf(postgres === null)(
  'lets no server start on a killed copy, and completes the next copy',
  { timeout: 240_000 },
  async () => {
    const origin = join(directory, 'killed-source');
    const last = join(directory, 'killed-target');
    const between = await createTestDatabase(postgres!.url);
    const settings = { dbhost: between.url };
    let id = '';
    try {
      await onServer({ DATA_DIR: origin }, async (call) => {
        await call('POST', '/api/definition', { Id: 'event', Steps: DEFINITIONS.event });
        id = ((await call('POST', '/api/workflow/event', {})) as { workflowId: string }).workflowId;
      });
      const into = (address: string): string[] => [`--from=sqlite:${origin}`, `--to=${address}`];
      await killDuringCopy(between.url, 'INSERT INTO "stepwright".definitions', into);
      await refusesToStart(settings);
      expect(await migrate(into(between.url))).toMatchObject({ code: 0 });

      const outOf = (address: string): string[] => [`--from=${address}`, `--to=sqlite:${last}`];
      await killDuringCopy(between.url, 'FROM "stepwright".instances AS t', outOf);
      await refusesToStart({ DATA_DIR: last });
      expect(await migrate(outOf(between.url))).toMatchObject({ code: 0 });
      await onServer({ DATA_DIR: last }, async (call) => {
        await call('POST', '/api/event/go/k', true);
        expect(await call('GET', `/api/workflow/${id}?wait=30`)).toMatchObject({
          status: 'Complete',
        });
      });
    } finally {
      await between.drop();
    }
  },
);

it.each([
  [['--from=sqlite:.'], /--to is missing/],
  [['--from=oracle://user:secret@x', '--to=sqlite:.'], /--from must be the address of a store/],
  [['--from=sqlite:/nonexistent', '--to=sqlite:.'], /there is no directory \/nonexistent/],
  [['--from=sqlite:.', '--to=sqlite:.'], /are the same store/],
  [['--form=x'], /Unknown option '--form'/],
])('refuses %j with exit code 2', async (args, message) => {
  const { code, output } = await migrate(args);
  expect(code).toBe(2);
  expect(output).toMatch(message);
  expect(output).not.toContain('secret');
});
