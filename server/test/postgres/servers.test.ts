/**
 * Goal: connections go to a writable host, with the TLS mode and the password of the address.
 * Method: a separate container with PostgreSQL and TLS, the shared one without TLS, and ports on which nothing listens.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPostgresAddress } from '../../src/postgres/address.js';
import { NoServerError, PostgresServers } from '../../src/postgres/servers.js';
import { postgresForTests, runOn, startPostgresContainer } from '../support/postgres-container.js';
import type { ServerContainer } from '../support/shared-server.js';
import { secureTestCertificate } from '../step-bodies/support/secure-test-certificate.js';
import { loopbackCertificate, loopbackKey } from './support/loopback-certificate.js';
import { startTestPooler, type SettingsHandling, type TestPooler } from './support/test-pooler.js';

const postgres = await postgresForTests();
const startsContainers = postgres !== null && (process.env['TEST_POSTGRES'] ?? '') === '';
const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-postgres-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const where = path.join(folder, name);
  writeFileSync(where, text);
  return where;
}

function serversAt(address: string, passwordFile: string | null = null): PostgresServers {
  return new PostgresServers({
    address: readPostgresAddress(address),
    databaseName: 'stepwright',
    passwordFile,
    connectTimeoutMs: 5000,
    limits: { statementTimeoutMs: 7000, lockTimeoutMs: 3000 },
  });
}

async function using<Result>(
  servers: PostgresServers,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await servers.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function valueOf(client: Client, expression: string): Promise<unknown> {
  const { rows } = await client.query<{ readonly value: unknown }>(`SELECT ${expression} AS value`);
  return rows[0]?.value;
}

const isEncrypted = (client: Client): Promise<unknown> =>
  valueOf(client, '(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())');

describe.skipIf(postgres === null)('PostgresServers', () => {
  const url = new URL(postgres?.url ?? 'postgres://u:p@h/d');
  const host = url.host;
  const addressOf = (hosts: string, query = ''): string =>
    `postgres://${url.username}:${url.password}@${hosts}${url.pathname}${query}`;

  it('skips a host that does not respond, and starts with the responsive one next time', async () => {
    const servers = serversAt(addressOf(`127.0.0.1:1,${host}`));
    await using(servers, async (client) => {
      expect(await valueOf(client, '1')).toBe(1);
    });
    expect(servers.config().port).toBe(Number(url.port));
  });

  it('reports the error of every host, but no password', async () => {
    const error: unknown = await serversAt('postgres://u:hunter2@127.0.0.1:1,[::1]:2/d')
      .connect()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NoServerError);
    expect(String(error)).toContain('127.0.0.1:1: ');
    expect(String(error)).toContain('[::1]:2: ');
    expect(String(error)).not.toContain('hunter2');
  });

  it('skips a read-only server', async () => {
    await runOn(url.href, `CREATE ROLE reader LOGIN PASSWORD 'p'`);
    await runOn(url.href, 'ALTER ROLE reader SET default_transaction_read_only = on');
    try {
      const reader = serversAt(`postgres://reader:p@${host}${url.pathname}`);
      await expect(reader.connect()).rejects.toThrow('can only be read');
    } finally {
      await runOn(url.href, 'DROP ROLE reader');
    }
  });

  it('reads the password from its file for each connection', async () => {
    const password = file('password', 'wrong\n');
    const servers = serversAt(`postgres://${url.username}@${host}${url.pathname}`, password);
    await expect(servers.connect()).rejects.toThrow('password authentication failed');
    writeFileSync(password, `${url.password}\n`);
    expect(await using(servers, (client) => valueOf(client, '1'))).toBe(1);
    rmSync(password);
    await expect(servers.connect()).rejects.toThrow('ENOENT');
  });

  it('ignores the environment', async () => {
    process.env['PGPASSWORD'] = url.password;
    try {
      const withoutPassword = serversAt(`postgres://${url.username}@${host}${url.pathname}`);
      await expect(withoutPassword.connect()).rejects.toThrow('asks for a password');
    } finally {
      delete process.env['PGPASSWORD'];
    }
  });

  it('connects without TLS if it is only preferred and the server has none', async () => {
    expect(await using(serversAt(addressOf(host)), isEncrypted)).toBe(false);
    await expect(serversAt(addressOf(host, '?sslmode=require')).connect()).rejects.toThrow(
      'does not support SSL',
    );
  });

  it('sets the time limits and the application name', async () => {
    const servers = serversAt(addressOf(host, '?application_name=mine'));
    await using(servers, async (client) => {
      expect(await valueOf(client, `current_setting('statement_timeout')`)).toBe('7s');
      expect(await valueOf(client, `current_setting('lock_timeout')`)).toBe('3s');
      expect(await valueOf(client, `current_setting('application_name')`)).toBe('mine');
    });
  });
});

describe.skipIf(postgres === null)('PostgresServers behind a pooler', () => {
  const poolers: TestPooler[] = [];
  afterAll(() => Promise.all(poolers.map((pooler) => pooler.stop())));
  const through = async (handling: SettingsHandling, user: string): Promise<PostgresServers> => {
    const url = new URL(postgres?.url ?? '');
    const pooler = await startTestPooler(url, handling);
    poolers.push(pooler);
    url.host = pooler.host;
    return serversAt(url.href.replace(/\/\/[^@]+@/, `//${user}@`));
  };
  const { password, username } = new URL(postgres?.url ?? 'postgres://u:p@h/d');

  it.each(['refuses', 'ignores'] as const)(
    'sets limits in transactions if it %s them for a connection',
    async (handling) => {
      const servers = await through(handling, `${username}:${password}`);
      await servers.find();
      expect(servers.transactionLimits).toEqual({ statementTimeoutMs: 7000, lockTimeoutMs: 3000 });
    },
  );

  it('notices a read-only server, although the pooler does not report it', async () => {
    const url = postgres?.url ?? '';
    await runOn(url, `CREATE ROLE pooled_reader LOGIN PASSWORD 'p'`);
    await runOn(url, 'ALTER ROLE pooled_reader SET default_transaction_read_only = on');
    try {
      const servers = await through('refuses', 'pooled_reader:p');
      await expect(servers.connect()).rejects.toThrow('can only be read');
    } finally {
      await runOn(url, 'DROP ROLE pooled_reader');
    }
  });
});

describe.skipIf(!startsContainers)('PostgresServers with TLS', () => {
  let server: ServerContainer;
  beforeAll(async () => {
    server = await startPostgresContainer({
      files: {
        '/docker-entrypoint-initdb.d/tls.sh': [
          'cd "$PGDATA"',
          `cat > server.crt <<'END'\n${loopbackCertificate}END`,
          `cat > server.key <<'END'\n${loopbackKey}END`,
          'chmod 600 server.key',
          'echo "ssl = on" >> postgresql.conf',
        ].join('\n'),
      },
    });
  });
  afterAll(() => server.container.stop());
  const own = (): string => file('own.pem', loopbackCertificate);
  const other = (): string => file('other.pem', secureTestCertificate);
  const serversWith = (query: string, hostname = '127.0.0.1'): PostgresServers => {
    const url = new URL(server.url);
    url.hostname = hostname;
    return serversAt(`${url.href}?${query}`);
  };

  it.each([
    ['', () => '', true],
    ['sslmode=disable', () => '', false],
    ['sslmode=require', () => '', true],
    ['sslmode=require&sslrootcert=', own, true],
    ['sslmode=verify-ca&sslrootcert=', own, true],
    ['sslmode=verify-full&sslrootcert=', own, true],
  ])('connects with %s', async (query, caFile, encrypted) => {
    expect(await using(serversWith(`${query}${caFile()}`), isEncrypted)).toBe(encrypted);
  });

  it.each([
    ['sslmode=verify-full', () => '', '127.0.0.1'],
    ['sslmode=require&sslrootcert=', other, '127.0.0.1'],
    ['sslmode=verify-ca&sslrootcert=', other, '127.0.0.1'],
    ['sslmode=verify-full&sslrootcert=', other, '127.0.0.1'],
    // The certificate is for the address only.
    ['sslmode=verify-full&sslrootcert=', own, 'localhost'],
  ])(
    'refuses to connect with %s if the certificate does not match',
    async (query, caFile, hostname) => {
      await expect(serversWith(`${query}${caFile()}`, hostname).connect()).rejects.toThrow(
        /certificate|altnames/i,
      );
    },
  );

  it('accepts the certificate of another name with verify-ca', async () => {
    const servers = serversWith(`sslmode=verify-ca&sslrootcert=${own()}`, 'localhost');
    expect(await using(servers, isEncrypted)).toBe(true);
  });
});
