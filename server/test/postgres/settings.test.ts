/** The settings for PostgreSQL, and the messages for invalid ones: each contains the setting, and none a secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/config-error.js';
import { readConfig, visibleEnvironment } from '../../src/config/read-config.js';
import { loopbackCertificate } from './support/loopback-certificate.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const where = path.join(folder, name);
  writeFileSync(where, text);
  return where;
}

const certificate = file('ca.pem', loopbackCertificate);
const password = file('password', 'hunter2\n');
const empty = file('empty', '\n');
const missing = path.join(folder, 'missing');
const dbhost = 'postgres://user@db/data';

describe('the PostgreSQL configuration', () => {
  it('has defaults', () => {
    expect(readConfig({ dbhost })).toMatchObject({
      dbhost,
      dbhost_listen: null,
      dbhost_password_file: null,
      dbhost_pool_max: 10,
      dbhost_statement_timeout_ms: 30_000,
    });
  });

  it.each([
    [{ dbhost: 'postgresql://user:hunter2@a,b:2/data?sslmode=verify-full' }],
    [{ dbhost, dbhost_password_file: password }],
    [{ dbhost: `${dbhost}?sslmode=verify-ca&sslrootcert=${certificate}` }],
    [{ dbhost, dbhost_listen: 'postgres://user@db-direct:5432/data' }],
    [{ dbhost, dbhost_pool_max: '1', dbhost_statement_timeout_ms: '1000' }],
  ])('accepts %j', (environment) => {
    expect(() => readConfig(environment)).not.toThrow();
  });

  it.each([
    [{ dbhost: 'postgres://user:hunter2@db:port/data' }, 'dbhost has a host that cannot be read'],
    [{ dbhost: 'postgres://user@db?sslmode=hunter2' }, 'dbhost must have an sslmode of disable'],
    [{ dbhost, dbhost_listen: 'mongodb://hunter2' }, 'dbhost_listen must begin with postgres://'],
    [{ dbhost, dbhost_listen: 'postgres://db' }, 'dbhost_listen must name a user'],
    [{ dbhost_listen: dbhost }, 'dbhost_listen requires a dbhost that begins with postgres://'],
    [
      { dbhost: 'mongodb://db', dbhost_password_file: password },
      'dbhost_password_file requires a dbhost that begins with postgres://',
    ],
    [{ dbhost, dbhost_password_file: missing }, 'dbhost_password_file cannot be read: ENOENT'],
    [{ dbhost, dbhost_password_file: empty }, 'dbhost_password_file names an empty file'],
    [
      { dbhost: 'postgres://user:hunter2@db', dbhost_password_file: password },
      'dbhost contains a password although dbhost_password_file is set',
    ],
    [
      { dbhost, dbhost_listen: 'postgres://user:hunter2@db', dbhost_password_file: password },
      'dbhost_listen contains a password although dbhost_password_file is set',
    ],
    [
      { dbhost: `${dbhost}?sslmode=verify-ca&sslrootcert=${missing}` },
      'dbhost names a file with sslrootcert that cannot be read: ENOENT',
    ],
    [
      { dbhost: `${dbhost}?sslmode=verify-ca&sslrootcert=${password}` },
      'dbhost names a file with sslrootcert that is not PEM',
    ],
    [{ dbhost, dbhost_pool_max: '0' }, 'dbhost_pool_max must be a whole number from 1 to 1000'],
    [{ dbhost, dbhost_statement_timeout_ms: '1s' }, 'dbhost_statement_timeout_ms must be a whole'],
  ])('rejects %j', (environment, message) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(message);
    expect(() => readConfig(environment)).not.toThrow('hunter2');
  });

  it('is hidden from expressions, like copies of the addresses', () => {
    const environment = {
      dbhost: 'postgres://user:hunter2@db',
      DBHOST_LISTEN: 'postgres://user:hunter2@direct',
      COPY: 'x postgres://user:hunter2@direct',
    };
    expect(visibleEnvironment(environment, { environment_allow: ['*'], auth: true })).toEqual({});
  });
});
