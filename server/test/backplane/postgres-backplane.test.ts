/**
 * Hints between nodes by LISTEN and NOTIFY of a real PostgreSQL in a container, with connections that are cut and
 * garbage on the channel. The tests wait for received hints, with vitest's deadline.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Hint, ChangedInstance } from '../../src/backplane/backplane.js';
import {
  createPostgresBackplane,
  type PostgresBackplane,
} from '../../src/backplane/postgres/postgres-backplane.js';
import { createLogger, type Logger } from '../../src/base/logger.js';
import { readPostgresAddress } from '../../src/postgres/address.js';
import { NOTIFY_STATEMENT } from '../../src/postgres/notify.js';
import { PostgresServers } from '../../src/postgres/servers.js';
import { postgresForTests } from '../support/postgres-container.js';

const postgres = await postgresForTests();
const url = postgres?.url ?? '';
const silent = createLogger({ level: 'silent' });
/** Longer than any wait of the backplane. */
const SOON = { timeout: 20_000 };

const pool = new pg.Pool({ connectionString: url, max: 4 });
const running: PostgresBackplane[] = [];

afterAll(async () => {
  await Promise.all(running.map((backplane) => backplane.stop()));
  await pool.end();
});

function serversAt(address: string): PostgresServers {
  return new PostgresServers({
    address: readPostgresAddress(address),
    databaseName: 'stepwright',
    passwordFile: null,
    connectTimeoutMs: 2000,
    limits: null,
  });
}

interface NodeOptions {
  readonly channel: string;
  readonly isShared?: () => boolean;
  readonly notify?: (channel: string, payloads: readonly string[]) => Promise<void>;
  readonly logger?: Logger;
}

async function notify(channel: string, payloads: readonly string[]): Promise<void> {
  await pool.query(NOTIFY_STATEMENT, [channel, payloads]);
}

interface Node {
  readonly backplane: PostgresBackplane;
  readonly heard: Hint[];
  /** The payloads of each statement. */
  readonly statements: (readonly string[])[];
}

async function node(nodeId: string, options: NodeOptions): Promise<Node> {
  const made = create(nodeId, options);
  await made.backplane.start();
  await vi.waitFor(() => expect(made.backplane.healthy).toBe(true), SOON);
  return made;
}

function create(nodeId: string, options: NodeOptions): Node {
  const statements: (readonly string[])[] = [];
  const servers = serversAt(`${url}?application_name=${options.channel}-${nodeId}`);
  const backplane = createPostgresBackplane({
    connect: () => servers.connect(),
    notify: async (channel, payloads) => {
      statements.push(payloads);
      await (options.notify ?? notify)(channel, payloads);
    },
    channel: options.channel,
    nodeId,
    logger: options.logger ?? silent,
  });
  running.push(backplane);
  const heard: Hint[] = [];
  backplane.subscribe((hint) => heard.push(hint), options.isShared ?? (() => true));
  return { backplane, heard, statements };
}

/** Closes the listening connection of a node. */
async function cut(channel: string, nodeId: string): Promise<void> {
  const { rowCount } = await pool.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
    [`${channel}-${nodeId}`],
  );
  expect(rowCount).toBe(1);
}

describe.skipIf(postgres === null)('the PostgreSQL backplane', () => {
  it('delivers every kind of hint to the other nodes, and not to the sender', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel });
    const b = await node('b', { channel });
    const hints: Hint[] = [
      { kind: 'instance', id: 'i' },
      { kind: 'activity', name: 'ä "\n\u0000\ud800 😀' },
      { kind: 'definition', id: 'd' },
      { kind: 'step', name: 's' },
      { kind: 'limit', name: 'l' },
      { kind: 'ended', id: 'e' },
      { kind: 'interest' },
      { kind: 'notifications' },
      { kind: 'changes', changes: { workflows: [], definitions: [], lagged: true } },
    ];
    for (const hint of hints) a.backplane.publish(hint);
    await vi.waitFor(() => expect(b.heard).toEqual(hints), SOON);
    expect(a.heard).toEqual([]);
  });

  it('separates the nodes of different channels', async () => {
    const [one, two] = [`t-${randomUUID()}`, `t-"${randomUUID()}`];
    const a = await node('a', { channel: one });
    const same = await node('b', { channel: one });
    const other = await node('c', { channel: two });
    a.backplane.publish({ kind: 'ended', id: 'x' });
    await vi.waitFor(() => expect(same.heard).toHaveLength(1), SOON);
    expect(other.heard).toEqual([]);
  });

  it('sends a burst of 10,000 hints with a few statements, one at a time', async () => {
    const channel = `t-${randomUUID()}`;
    let inFlight = 0;
    let inFlightMax = 0;
    const a = await node('a', {
      channel,
      notify: async (...sent) => {
        inFlight += 1;
        inFlightMax = Math.max(inFlightMax, inFlight);
        await notify(...sent);
        inFlight -= 1;
      },
    });
    const b = await node('b', { channel });
    const before = a.statements.length;
    const ids = Array.from({ length: 10_000 }, (_unused, index) => `instance-${index}`);
    for (const [index, id] of ids.entries()) {
      a.backplane.publish({ kind: 'ended', id });
      // Not all in one turn of the event loop, so that some come while a statement is in flight.
      if (index % 100 === 99) await setImmediate();
    }
    await vi.waitFor(() => expect(b.heard).toHaveLength(ids.length), SOON);
    expect(b.heard).toEqual(ids.map((id) => ({ kind: 'ended', id })));
    expect(a.backplane.dropped).toBe(0);
    expect(inFlightMax).toBe(1);
    const burst = a.statements.slice(before);
    expect(burst.length).toBeLessThanOrEqual(30);
    for (const payload of burst.flat()) expect(payload.length).toBeLessThan(8000);
  });

  it('sends a hint that is published repeatedly only once per statement', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel });
    const b = await node('b', { channel });
    for (let time = 0; time < 1000; time += 1) a.backplane.publish({ kind: 'activity', name: 'n' });
    a.backplane.publish({ kind: 'ended', id: 'last' });
    await vi.waitFor(() => expect(b.heard).toContainEqual({ kind: 'ended', id: 'last' }), SOON);
    expect(b.heard).toHaveLength(2);
  });

  it('splits changes that exceed a notification, and sends a lag for a change that is too large', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel });
    const b = await node('b', { channel });
    const workflows = Array.from({ length: 50 }, (_unused, index) =>
      workflow(`w${index}`, 'ü'.repeat(200)),
    );
    const definitions = [{ id: 'd', version: 3 }];
    a.backplane.publish({ kind: 'changes', changes: { workflows, definitions, lagged: false } });
    const tooLong = workflow('long', 'ü'.repeat(2000));
    a.backplane.publish({
      kind: 'changes',
      changes: { workflows: [tooLong], definitions: [], lagged: false },
    });
    await vi.waitFor(() => {
      const batches = b.heard.flatMap((hint) => (hint.kind === 'changes' ? [hint.changes] : []));
      expect(batches.flatMap((batch) => batch.workflows)).toEqual(workflows);
      expect(batches.flatMap((batch) => batch.definitions)).toEqual(definitions);
      expect(batches.at(-1)).toEqual({ workflows: [], definitions: [], lagged: true });
      expect(batches.filter(({ lagged }) => lagged)).toHaveLength(1);
    }, SOON);
  });

  it('drops and counts a hint that exceeds a notification', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel });
    a.backplane.publish({ kind: 'activity', name: '\u0001'.repeat(2000) });
    expect(a.backplane.dropped).toBe(1);
  });

  it('ignores and counts invalid hints, and logs that once', async () => {
    const channel = `t-${randomUUID()}`;
    const lines: string[] = [];
    const logger = createLogger({
      level: 'warn',
      destination: { write: (line: string) => void lines.push(line) },
    });
    const a = await node('a', { channel, logger });
    const garbage = [
      '',
      'null',
      '{',
      '[]',
      '{"sender":1,"hints":[]}',
      '{"sender":"x"}',
      '{"sender":"x","hints":{"length":3}}',
      '{"sender":"x","hints":[{"kind":"run","id":"x"}]}',
      '{"sender":"x","hints":[{"kind":"ended","id":{"$gt":""}}]}',
      `{"sender":"x","hints":[{"kind":"ended","id":"${'x'.repeat(5000)}"}]}`,
      '['.repeat(7000),
    ];
    for (const text of garbage) await pool.query('SELECT pg_notify($1, $2)', [channel, text]);
    const last = '{"sender":"x","hints":[{"kind":"ended","id":"last"}]}';
    await pool.query('SELECT pg_notify($1, $2)', [channel, last]);
    await vi.waitFor(() => expect(a.heard).toEqual([{ kind: 'ended', id: 'last' }]), SOON);
    expect(a.backplane.ignored).toBe(garbage.length);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(channel);
  });

  it('listens again after its connection was closed, and reports that it cannot be reached in the meantime', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel });
    const b = await node('b', { channel });
    for (let round = 0; round < 3; round += 1) {
      await cut(channel, 'b');
      await vi.waitFor(() => expect(b.backplane.healthy).toBe(false), { ...SOON, interval: 1 });
      await vi.waitFor(() => expect(b.backplane.healthy).toBe(true), SOON);
      a.backplane.publish({ kind: 'ended', id: `after ${round}` });
      await vi.waitFor(
        () => expect(b.heard).toContainEqual({ kind: 'ended', id: `after ${round}` }),
        SOON,
      );
    }
  });

  it('sends nothing while it is alone, until another node announces that it is listening', async () => {
    const channel = `t-${randomUUID()}`;
    const a = await node('a', { channel, isShared: () => false });
    const hello = a.statements.length;
    a.backplane.publish({ kind: 'ended', id: 'nobody hears it' });
    const b = await node('b', { channel, isShared: () => false });
    await vi.waitFor(() => {
      a.backplane.publish({ kind: 'ended', id: 'x' });
      expect(b.heard).toContainEqual({ kind: 'ended', id: 'x' });
    }, SOON);
    expect(b.heard).not.toContainEqual({ kind: 'ended', id: 'nobody hears it' });
    expect(a.statements.slice(hello).flat().join()).not.toContain('nobody hears it');
  });

  it('drops hints while the database rejects them, and limits its retries', async () => {
    const channel = `t-${randomUUID()}`;
    let fails = false;
    const a = await node('a', {
      channel,
      notify: async (...sent) => {
        if (fails) throw new Error('the database is away');
        await notify(...sent);
      },
    });
    const b = await node('b', { channel });
    fails = true;
    a.backplane.publish({ kind: 'ended', id: 'lost' });
    await vi.waitFor(() => expect(a.backplane.dropped).toBe(1), SOON);
    fails = false;
    a.backplane.publish({ kind: 'ended', id: 'found' });
    await vi.waitFor(() => expect(b.heard).toEqual([{ kind: 'ended', id: 'found' }]), SOON);
  });

  it('detects that it does not receive its own hints, as behind a pooler, and names the setting to change', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: 'warn',
      destination: { write: (line: string) => void lines.push(line) },
    });
    const channel = `t-${randomUUID()}`;
    // LISTEN works, but on a different session from the one that is notified.
    const deaf = create('a', {
      channel,
      logger,
      notify: () => notify(`${channel}-elsewhere`, ['x']),
    });
    await deaf.backplane.start();
    await vi.waitFor(() => expect(lines.join()).toContain('dbhost_listen'), SOON);
    expect(deaf.backplane.healthy).toBe(false);
    await deaf.backplane.stop();
  });
});

describe('a node without its PostgreSQL', () => {
  it(
    'starts anyway, reports that it cannot be reached, and stops',
    { timeout: 20_000 },
    async () => {
      const servers = serversAt('postgres://user:hunter2@127.0.0.1:1/x');
      const backplane = createPostgresBackplane({
        connect: () => servers.connect(),
        notify: () => Promise.reject(new Error('away')),
        channel: 'x',
        nodeId: 'n',
        logger: silent,
      });
      await backplane.start();
      expect(backplane.healthy).toBe(false);
      backplane.publish({ kind: 'ended', id: 'x' });
      await vi.waitFor(() => expect(backplane.dropped).toBe(1), SOON);
      await backplane.stop();
      await backplane.stop();
    },
  );
});

function workflow(id: string, reference: string): ChangedInstance {
  return {
    id,
    definitionId: 'd',
    version: 1,
    reference,
    status: 'Runnable',
    outcome: null,
    parent: null,
    startTime: 1,
    endTime: null,
    lastChangeTime: 2,
    failureTime: null,
    failingSince: null,
  };
}
