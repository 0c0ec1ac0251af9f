/** Addresses of PostgreSQL as users write them, and the messages for invalid ones. */
import { describe, expect, it } from 'vitest';
import { readPostgresAddress } from '../../src/postgres/address.js';

const DEFAULTS = {
  hosts: [{ host: 'db', port: 5432 }],
  user: 'u',
  password: null,
  database: null,
  sslMode: 'prefer',
  caFile: null,
  certificateFile: null,
  keyFile: null,
  applicationName: null,
  schema: 'stepwright',
  connectTimeoutMs: null,
};

describe('readPostgresAddress', () => {
  it.each<[string, object]>([
    ['postgres://u@db', {}],
    ['postgresql://u@db/', {}],
    [
      'postgres://u:p%40ss%3A@db:6000/my%20data',
      {
        hosts: [{ host: 'db', port: 6000 }],
        password: 'p@ss:',
        database: 'my data',
      },
    ],
    ['postgres://u:a:b@db', { password: 'a:b' }],
    ['postgres://u:@db', { password: '' }],
    ['postgres://u@[::1]:1/d', { hosts: [{ host: '::1', port: 1 }], database: 'd' }],
    [
      'postgres://u@a,b:2,[fe80::1]/d',
      {
        hosts: [
          { host: 'a', port: 5432 },
          { host: 'b', port: 2 },
          { host: 'fe80::1', port: 5432 },
        ],
        database: 'd',
      },
    ],
    [
      'postgres://u@a,b?port=1,2',
      {
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
    [
      'postgres://u@/d?host=/var/run/postgresql',
      {
        hosts: [{ host: '/var/run/postgresql', port: 5432 }],
        database: 'd',
      },
    ],
    ['postgres://u@%2Fvar%2Frun/d', { hosts: [{ host: '/var/run', port: 5432 }], database: 'd' }],
    ['postgres://db?user=u&password=p&dbname=d', { password: 'p', database: 'd' }],
    [
      'postgres://u@db?sslmode=verify-full&sslrootcert=/ca.pem',
      {
        sslMode: 'verify-full',
        caFile: '/ca.pem',
      },
    ],
    ['postgres://u@db?sslmode=verify-full&sslrootcert=system', { sslMode: 'verify-full' }],
    ['postgres://u@db?sslcert=/c&sslkey=/k', { certificateFile: '/c', keyFile: '/k' }],
    [
      'postgres://u@db?application_name=x&schema=s&connect_timeout=3',
      {
        applicationName: 'x',
        schema: 's',
        connectTimeoutMs: 3000,
      },
    ],
    ['postgres://u@db?target_session_attrs=read-write&keepalives=1&pgbouncer=true', {}],
  ])('reads %s', (address, changes) => {
    expect(readPostgresAddress(address)).toEqual({ ...DEFAULTS, ...changes });
  });

  it.each([
    ['postgres://', 'name a host'],
    ['postgres://db', 'name a user'],
    ['postgres://u@', 'name a host'],
    ['postgres://u@a,,b', 'name a host'],
    ['postgres://u:sec/ret@db/d', 'percent-encoded'],
    ['postgres://u:sec#ret@db/d', 'percent-encoded'],
    ['postgres://u:secret@x@db/d', 'percent-encoded'],
    ['postgres://u:sec%ret@db/d', 'write %25'],
    ['postgres://u:sec%00ret@db/d', 'NUL'],
    ['postgres://u@db:0', 'ports from 1 to 65535'],
    ['postgres://u@db:65536', 'ports from 1 to 65535'],
    ['postgres://u@db:secret', 'host that cannot be read'],
    ['postgres://u@[secret]', 'host that cannot be read'],
    ['postgres://u@a,b,c?port=1,2', 'one for each'],
    ['postgres://u@a?host=b', 'names hosts twice'],
    [`postgres://u@${'a,'.repeat(16)}a`, 'more than 16 hosts'],
    ['postgres://u@db?sslmode=secret', 'sslmode of disable, prefer, require'],
    ['postgres://u@db?sslmode=verify-ca', 'verify-ca without sslrootcert'],
    ['postgres://u@db?sslmode=disable&sslrootcert=/ca', 'together with sslmode=disable'],
    ['postgres://u@db?sslcert=/c', 'sslcert and sslkey together'],
    ['postgres://u@db?sslmode=require&sslmode=disable', 'sslmode twice'],
    ['postgres://u@db?sslmode', 'sslmode without a value'],
    ['postgres://u@db?secret=1', 'a parameter that is not supported'],
    [
      'postgres://u@db?statement_timeout=1',
      'the parameter statement_timeout, which is not supported',
    ],
    ['postgres://u@db?target_session_attrs=standby', 'the server writes'],
    ['postgres://u@db?schema=pg_secret', 'reserves'],
    [`postgres://u@db?schema=${'x'.repeat(64)}`, '63 bytes'],
    ['postgres://u@db?connect_timeout=secret', 'whole seconds'],
  ])('rejects %s: %s', (address, problem) => {
    expect(() => readPostgresAddress(address)).toThrow(problem);
    expect(() => readPostgresAddress(address)).not.toThrow('secret');
  });
});
