/** A real PgBouncer in transaction mode, on machines that have one. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { freePort } from '../../../../sdk/test/support/free-port.js';

/** Fewer than the stores of a test have clients, so that they share sessions of the database. */
const POOL_SIZE = 3;

export interface PgBouncer {
  /** The address of the same database, through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

export const HAS_PGBOUNCER = spawnSync('pgbouncer', ['--version']).status === 0;

export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-pgbouncer-'));
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
max_client_conn = 200
`,
  );
  // PgBouncer refuses to run as root, and the other user must be able to read its settings.
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), settings], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  server.hostname = '127.0.0.1';
  server.port = String(port);
  await eventually('PgBouncer accepts connections', () => responds(server.href)).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  return { url: server.href, stop };
}

async function responds(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
