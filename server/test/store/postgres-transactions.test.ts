/** Transactions on PostgreSQL whose statements are sent without waiting for each other. */
import { afterEach, describe, expect, it } from 'vitest';
import { readPostgresAddress } from '../../src/postgres/address.js';
import { PostgresServers } from '../../src/postgres/servers.js';
import { Connections } from '../../src/store/postgres/connect.js';
import { Database } from '../../src/store/postgres/database.js';
import { Outage } from '../../src/store/outage.js';
import { postgresForTests } from '../support/postgres-container.js';

const TIMEOUT_MS = 20_000;
const TABLE = 'sent_values';
const server = await postgresForTests();

describe.skipIf(server === null)('a transaction on PostgreSQL', () => {
  const opened: Connections[] = [];
  afterEach(async () => {
    for (const connections of opened.splice(0)) await connections.close();
  });

  async function open(): Promise<Database> {
    const address = readPostgresAddress(server?.url ?? '');
    const login = { databaseName: 'postgres', passwordFile: null, limits: null };
    const servers = new PostgresServers({ address, connectTimeoutMs: TIMEOUT_MS, ...login });
    await servers.find();
    const connections = new Connections({ servers, poolMax: 1 });
    opened.push(connections);
    const outage = new Outage(1000);
    const database = new Database({ connections, outage, schema: 'public', timeoutMs: TIMEOUT_MS });
    await database.execute(`DROP TABLE IF EXISTS ${TABLE}`);
    await database.execute(`CREATE TABLE ${TABLE} (value bigint PRIMARY KEY)`);
    return database;
  }

  const valuesIn = async (database: Database): Promise<readonly number[]> =>
    (await database.query(`SELECT value FROM ${TABLE} ORDER BY value`)).map((row) =>
      row.number('value'),
    );
  const insert = `INSERT INTO ${TABLE} (value) VALUES ($1::bigint)`;

  it('executes what was sent in order, before what is asked next', async () => {
    const database = await open();
    const seen = await database.transaction(async (statements) => {
      for (let value = 1; value <= 50; value += 1) statements.send?.(insert, [value]);
      const [row] = await statements.query(`SELECT count(*) AS count FROM ${TABLE}`);
      return row?.number('count');
    });
    expect(seen).toBe(50);
    expect(await valuesIn(database)).toHaveLength(50);
  });

  it('fails with the error of a statement that was sent, and changes nothing', async () => {
    const database = await open();
    const failing = database.transaction(async (statements) => {
      statements.send?.(insert, [1]);
      statements.send?.(insert, [1]);
      await statements.query(`SELECT count(*) AS count FROM ${TABLE}`);
    });
    await expect(failing).rejects.toThrow(/duplicate key/);
    const unseen = database.transaction(async (statements) => {
      statements.send?.(insert, [2]);
      statements.send?.(insert, [2]);
      return Promise.resolve();
    });
    await expect(unseen).rejects.toThrow(/duplicate key/);
    // The same connection can be used again.
    expect(await valuesIn(database)).toEqual([]);
  });
});
