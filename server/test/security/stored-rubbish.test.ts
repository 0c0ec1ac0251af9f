/**
 * S-21: the store contains corrupt data. Unreadable instances are quarantined; the node and all other instances
 * continue.
 *
 * The rows are changed in the SQLite file while no server is running, as an attacker with access to the file, a broken
 * disk or another version could leave them.
 */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { Client } from '../behavior/support/client.js';
import { startServer, type TestServer } from '../behavior/support/server.js';
import { chain, mark, step } from '../behavior/support/steps.js';
import { expectCleanPrototypes, sqliteFile } from './support/secured-server.js';

interface Prepared {
  readonly client: Client;
  readonly server: TestServer;
  /** Waits for the event 'go'. */
  readonly victim: string;
  /** Like this one, which nobody changes. */
  readonly bystander: string;
}

/** Two waiting instances, of which one is corrupted while the server is down; then the checks of the test. */
async function withCorruptStore(
  spoil: (database: DatabaseSync, victim: string) => void,
  check: (prepared: Prepared) => Promise<void>,
): Promise<void> {
  const sqlite = await sqliteFile();
  const before = await startServer({ store: sqlite.open() });
  const first = new Client(before.url);
  const waiting = () =>
    first.define(
      chain(
        step('hold', 'WaitFor', { EventName: "'go'", EventKey: 'data.key' }),
        step('work', 'Activity', { ActivityName: 'data.key' }),
        mark('after'),
      ),
    );
  const victim = await first.start(await waiting(), { key: 'victim' });
  const bystander = await first.start(await waiting(), { key: 'bystander' });
  await first.untilWaiting(victim, 'hold');
  await first.untilWaiting(bystander, 'hold');
  await before.stop();
  const database = new DatabaseSync(sqlite.file);
  spoil(database, victim);
  database.close();
  const server = await startServer({ store: sqlite.open() });
  try {
    await check({ client: new Client(server.url), server, victim, bystander });
  } finally {
    await server.stop();
    await sqlite.remove();
    expectCleanPrototypes();
  }
}

/** The other instance ends, new ones run, and the node reports that it is ready. */
async function expectLife({ bystander, client }: Prepared): Promise<void> {
  await client.publish('go', 'bystander', null);
  const { token } = await client.work('bystander');
  await client.succeed(token, 1);
  expect((await client.ended(bystander)).status).toBe('Complete');
  expect((await client.run([mark('a')])).status).toBe('Complete');
  expect((await client.get('/health/ready')).status).toBe(200);
}

const setState = (state: string) => (database: DatabaseSync, victim: string) => {
  database.prepare('UPDATE instances SET state = ?, wakeAt = 0 WHERE id = ?').run(state, victim);
};

/** The original state with one change. */
const changeState =
  (change: (state: Record<string, unknown>) => void) =>
  (database: DatabaseSync, victim: string): void => {
    const row = database.prepare('SELECT state FROM instances WHERE id = ?').get(victim)!;
    const state = JSON.parse(row['state'] as string) as Record<string, unknown>;
    change(state);
    setState(JSON.stringify(state))(database, victim);
  };

const firstPointer = (state: Record<string, unknown>) =>
  (state['pointers'] as Record<string, unknown>[])[0]!;

describe('an instance with a corrupt state', () => {
  it.each<[string, (database: DatabaseSync, victim: string) => void]>([
    ['nothing', setState('')],
    ['invalid JSON', setState('{"data": {')],
    ['null', setState('null')],
    ['a list', setState('[]')],
    ['an empty object', setState('{}')],
    ['members of wrong types', setState('{"data":[],"pointers":{},"queue":"x","taken":1}')],
    ['deep nesting', setState('['.repeat(100_000) + ']'.repeat(100_000))],
    ['own __proto__', setState('{"__proto__":{"polluted":true},"data":{},"pointers":[null]}')],
    ['a null pointer', changeState((state) => (state['pointers'] = [null]))],
    ['a corrupt queue', changeState((state) => (state['queue'] = ['x', 99, null]))],
    ['corrupt taken events', changeState((state) => (state['taken'] = [1, null]))],
    ['a corrupt outbox', changeState((state) => (state['outbox'] = [1, { x: 1 }]))],
    ['corrupt recent steps', changeState((state) => (state['recent'] = [null, 7]))],
    [
      'a pointer to a missing step',
      changeState((state) => (firstPointer(state)['stepId'] = 'nowhere')),
    ],
    [
      'a pointer in an unknown state',
      changeState((state) => (firstPointer(state)['state'] = { kind: 'dancing' })),
    ],
    ['a pointer without a state', changeState((state) => delete firstPointer(state)['state'])],
    [
      'a pointer that is its own parent',
      changeState((state) => {
        const pointer = firstPointer(state);
        pointer['parentId'] = pointer['id'];
        pointer['parent'] = pointer['id'];
        pointer['scope'] = [pointer['id']];
      }),
    ],
  ])('affects no other instance if it consists of %s', async (_what, spoil) => {
    await withCorruptStore(spoil, async (prepared) => {
      const { client, victim } = prepared;
      // A due instance is loaded, and so is one with an event.
      await client.publish('go', 'victim', { x: 1 });
      await expectLife(prepared);
      const shown = await client.get<Problem>(`/api/workflow/${victim}`);
      expect([200, 500]).toContain(shown.status);
      expect(shown.text).not.toContain('    at ');
      const listed = await client.get<{ items: { workflowId: string }[] }>('/api/workflow');
      expect(listed.body.items.map(({ workflowId }) => workflowId)).toContain(victim);
      const steps = await client.get(`/api/workflow/${victim}/steps`);
      expect([200, 500]).toContain(steps.status);
      expect(steps.text).not.toContain('    at ');
    });
  });

  it('is suspended instead of being retried forever, and can be terminated', async () => {
    await withCorruptStore(setState('{"data": {'), async (prepared) => {
      const { client, server, victim } = prepared;
      await expectLife(prepared);
      const suspended = `/api/workflow?status=Suspended`;
      const listed = await client.get<{ items: { workflowId: string }[] }>(suspended);
      expect(listed.body.items.map(({ workflowId }) => workflowId)).toEqual([victim]);
      const logged = server.logLines.filter((line) => line['workflowId'] === victim);
      expect(logged.length).toBeGreaterThan(0);
      expect(logged.length).toBeLessThan(5);
      await client.terminate(victim);
      const terminated = await client.get<{ items: { workflowId: string }[] }>(
        '/api/workflow?status=Terminated',
      );
      expect(terminated.body.items.map(({ workflowId }) => workflowId)).toEqual([victim]);
    });
  });
});

describe('a definition with a corrupt body', () => {
  it.each([
    ['nothing', ''],
    ['invalid JSON', '{'],
    ['null', 'null'],
    ['a document that is not a definition', '{"Steps": 1}'],
    ['__proto__', '{"__proto__": {"Steps": []}}'],
  ])('stops only its own instances if it consists of %s', async (_what, body) => {
    const spoil = (database: DatabaseSync, victim: string): void => {
      const row = database.prepare('SELECT definitionId FROM instances WHERE id = ?').get(victim)!;
      database
        .prepare('UPDATE definitions SET body = ? WHERE id = ?')
        .run(body, row['definitionId'] as string);
      // As if the node had died, so that all of its instances are taken over together.
      database.prepare('UPDATE instances SET wakeAt = 0').run();
    };
    await withCorruptStore(spoil, async (prepared) => {
      const { client, victim } = prepared;
      await expectLife(prepared);
      const { definitionId, status } = await client.untilWorkflow(
        victim,
        (workflow) => workflow.status === 'Suspended',
      );
      expect(status).toBe('Suspended');
      const started = await client.post<Problem>(`/api/workflow/${definitionId}`, {});
      expect(started.status).toBe(500);
      expect(started.text).not.toContain('    at ');
      expect((await client.get('/api/definition')).status).toBe(200);
    });
  });
});

describe('a corrupt message in an inbox', () => {
  it.each([
    ['nothing', ''],
    ['invalid JSON', 'x'],
    ['a list', '[]'],
    ['an unknown kind', '{"kind":"constructor"}'],
    ['a kind that is a prototype member', '{"kind":"__proto__"}'],
    ['wrong types', '{"kind":"event","eventId":1,"name":[],"key":{},"publishedAt":"now"}'],
    ['an event without its record', '{"kind":"event-reference","eventId":"nowhere"}'],
    ['an activity that does not exist', '{"kind":"activity","activityId":"x","succeeded":true}'],
    [
      'a child that does not exist',
      '{"kind":"child","pointerId":77,"attempt":1,"workflowId":"x","status":"Complete"}',
    ],
  ])('is skipped if it consists of %s, and the instance continues', async (_what, body) => {
    const spoil = (database: DatabaseSync, victim: string): void => {
      database.prepare('INSERT INTO inbox VALUES (?, ?, 1, ?)').run(victim, 'rubbish', body);
      database
        .prepare('UPDATE instances SET wakeAt = 0, inSeq = inSeq + 1 WHERE id = ?')
        .run(victim);
    };
    await withCorruptStore(spoil, async (prepared) => {
      const { client, victim } = prepared;
      await expectLife(prepared);
      await client.publish('go', 'victim', null);
      await client.succeed((await client.work('victim')).token, 1);
      expect((await client.ended(victim)).status).toBe('Complete');
    });
  });
});

describe('a work item with corrupt parameters', () => {
  it.each([['x'], ['null'], ['[]'], ['{"stepId":1}'], ['']])(
    'fails its step, and affects no other item: %j',
    async (text) => {
      const sqlite = await sqliteFile();
      const before = await startServer({ store: sqlite.open() });
      const first = new Client(before.url);
      const definition = await first.define([
        step('a', 'Activity', { ActivityName: "'work'" }, { ErrorBehavior: 'Suspend' }),
      ]);
      const victim = await first.start(definition);
      const other = await first.start(definition);
      await before.stop();
      const database = new DatabaseSync(sqlite.file);
      database
        .prepare('UPDATE activities SET parameters = ? WHERE instanceId = ?')
        .run(text, victim);
      database.close();
      const server = await startServer({ store: sqlite.open() });
      try {
        const client = new Client(server.url);
        // The corrupt item is the older one.
        const { token, workflowId } = await client.work('work');
        expect(workflowId).toBe(other);
        await client.succeed(token, 1);
        expect((await client.ended(other)).status).toBe('Complete');
        const failed = await client.untilWorkflow(victim, ({ status }) => status === 'Suspended');
        expect(failed.lastError).toMatchObject({
          stepId: 'a',
          type: 'ActivityFailed',
          message: 'the stored parameters of the activity cannot be read',
        });
        // After the resume, the step offers its work again, and this time it can be read.
        await client.call('PUT', `/api/workflow/${victim}/resume`);
        const again = await client.work('work');
        expect(again.workflowId).toBe(victim);
        await client.succeed(again.token, 1);
        expect((await client.ended(victim)).status).toBe('Complete');
        expect((await client.get('/health/ready')).status).toBe(200);
      } finally {
        await server.stop();
        await sqlite.remove();
      }
    },
  );
});
