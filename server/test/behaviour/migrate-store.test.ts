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

it('runs continue on the new store', { timeout: 120_000 }, async () => {
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

it.each([
  [['--from=sqlite:.'], /--to is missing/],
  [['--from=oracle://user:secret@x', '--to=sqlite:.'], /--from must be the address of a store/],
  [['--from=sqlite:/nonexistent', '--to=sqlite:.'], /there is no directory \/nonexistent/],
  [['--from=sqlite:.', '--to=sqlite:.'], /are the same store/],
  [['--form=x'], /Unknown option '--form'/],
])('%j is refused with exit code 2', async (args, message) => {
  const { code, output } = await migrate(args);
  expect(code).toBe(2);
  expect(output).toMatch(message);
  expect(output).not.toContain('secret');
});
