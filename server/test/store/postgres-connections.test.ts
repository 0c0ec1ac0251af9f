/** Callers who wait for a connection to PostgreSQL alternate, and a wait that is too long is no outage. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runForCaller } from '../../src/base/limits/current-caller.js';
import { readPostgresAddress } from '../../src/postgres/address.js';
import { PostgresServers } from '../../src/postgres/servers.js';
import { Connections, ConnectionsBusyError } from '../../src/store/postgres/connect.js';
import { Database } from '../../src/store/postgres/database.js';
import { Outage } from '../../src/store/outage.js';
import { callerOf } from '../support/caller.js';
import { postgresForTests } from '../support/postgres-container.js';

const NEVER = new AbortController().signal;
const TIMEOUT_MS = 20_000;
const STATEMENTS = 100;
const server = await postgresForTests();

describe.skipIf(server === null)('connections to PostgreSQL', () => {
  const opened: Connections[] = [];
  afterEach(async () => {
    for (const connections of opened.splice(0)) await connections.close();
  });

  async function open(poolMax: number) {
    const address = readPostgresAddress(server?.url ?? '');
    const login = { databaseName: 'postgres', passwordFile: null, limits: null };
    const servers = new PostgresServers({ address, connectTimeoutMs: TIMEOUT_MS, ...login });
    await servers.find();
    const connections = new Connections({ servers, poolMax });
    opened.push(connections);
    const outage = new Outage(1000);
    const limits = { schema: 'public', timeoutMs: TIMEOUT_MS };
    return {
      connections,
      outage,
      servers,
      database: new Database({ connections, outage, ...limits }),
    };
  }

  it('lets another caller wait for a few statements of a flood, not for all', async () => {
    const { database } = await open(2);
    const ended: string[] = [];
    const call = (caller: string): Promise<unknown> =>
      runForCaller(callerOf(caller, NEVER), async () => {
        await database.query('SELECT 1 AS value');
        ended.push(caller);
      });
    const flood = Array.from({ length: STATEMENTS }, () => call('flood'));
    const other = call('other');
    await Promise.all([...flood, other]);
    expect(ended).toHaveLength(STATEMENTS + 1);
    expect(ended.indexOf('other')).toBeLessThan(6);
  });

  it('refuses a statement that waits too long, without an outage', async () => {
    const { connections, database, outage, servers } = await open(1);
    const client = await connections.take();
    const timeout = vi.spyOn(servers, 'connectTimeoutMs', 'get').mockReturnValue(50);
    const begins = vi.spyOn(outage, 'begin');
    await expect(database.query('SELECT 1 AS value')).rejects.toThrow(ConnectionsBusyError);
    expect(begins).not.toHaveBeenCalled();
    expect(connections.isLost).toBe(false);
    timeout.mockRestore();
    client.release();
    expect(await database.query('SELECT 1 AS value')).toHaveLength(1);
  });

  it('gives the turn of a failed connection to the next statement', async () => {
    const { connections, database } = await open(1);
    for (let at = 0; at < 3; at += 1) {
      const client = await connections.take();
      client.release(true);
      await expect(database.query('SELECT * FROM no_such_table')).rejects.toThrow('no_such_table');
    }
    expect(await database.query('SELECT 1 AS value')).toHaveLength(1);
  });
});
