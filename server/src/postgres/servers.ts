/**
 * Connections to PostgreSQL: which of the hosts of an address, with or without TLS, with which password.
 *
 * Owns: what is known about the hosts. A server that can only be read (a standby, a primary that was demoted) is passed
 * over. One caller at a time looks for a server; the store and the backplane decide when.
 *
 * A host may be a connection pooler (PgBouncer). It reports neither that its server can only be read nor that it dropped
 * a setting of the connection, so both are read from the server.
 *
 * Nothing is taken from the environment (`PGHOST` and the like) or from `.pgpass`: the settings say all.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { withoutByteOrderMark } from '../base/byte-order-mark.js';
import { Client, TypeOverrides, types, type ClientConfig } from 'pg';
import type { PostgresAddress, PostgresHost } from './address.js';

export interface PostgresServersOptions {
  readonly address: PostgresAddress;
  /** The database where the address names none. */
  readonly databaseName: string;
  /** Read for each new connection, so that a password can be changed while the server runs. Null: as the address says. */
  readonly passwordFile: string | null;
  /** A host that does not answer is passed over after this time, unless the address says another. */
  readonly connectTimeoutMs: number;
  /** The server ends statements that exceed them; null: none. */
  readonly limits: StatementLimits | null;
}

export interface StatementLimits {
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock. Statements that wait in vain would otherwise accumulate. */
  readonly lockTimeoutMs: number;
}

/** Idle connections are checked by the kernel, so that a peer that vanished is noticed. */
const KEEP_ALIVE_AFTER_MS = 10_000;

const READ_ONLY_PARAMETERS: ReadonlySet<string> = new Set([
  'in_hot_standby',
  'default_transaction_read_only',
]);

interface Place extends PostgresHost {
  /** False once the server has answered that it has no TLS, which only `sslmode=prefer` accepts. */
  hasTls: boolean;
}

/** None of the hosts can be used now. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError' as const;
}

export class PostgresServers {
  readonly #options: PostgresServersOptions;
  readonly #places: readonly Place[];
  readonly #opened = new Set<ServerClient>();
  #current = 0;
  /** Connections of an earlier generation may lead to a server that can only be read. */
  #generation = 0;
  /** False once a connection pooler has refused or ignored the settings of a connection. */
  #hasSessionLimits = true;

  constructor(options: PostgresServersOptions) {
    this.#options = options;
    this.#places = options.address.hosts.map((host) => ({
      ...host,
      hasTls: options.address.sslMode !== 'disable' && !isSocket(host),
    }));
  }

  get connectTimeoutMs(): number {
    return this.#options.address.connectTimeoutMs ?? this.#options.connectTimeoutMs;
  }

  /** The limits to set in each transaction; null: there are none, or the connections have them. */
  get transactionLimits(): StatementLimits | null {
    return this.#hasSessionLimits ? null : this.#options.limits;
  }

  /**
   * Connects to the first host that can be written to, beginning with the one that was used last. Further connections made
   * with `config()` go there too.
   * @throws NoServerError with what every host answered
   */
  async connect(): Promise<ServerClient> {
    const failures: string[] = [];
    for (let tried = 0; tried < this.#places.length; tried += 1) {
      const index = (this.#current + tried) % this.#places.length;
      try {
        const client = await this.#connectTo(index);
        if (index !== this.#current) this.#generation += 1;
        this.#current = index;
        return client;
      } catch (error) {
        failures.push(`${nameOf(this.#place(index))}: ${textOf(error)}`);
      }
    }
    throw new NoServerError(`PostgreSQL cannot be used: ${failures.join('; ')}`);
  }

  /** Looks for a server, so that the next `config()` leads there. */
  async find(): Promise<void> {
    const client = await this.connect();
    await client.end();
  }

  /** For one connection to the server that was found last. */
  config(): ClientConfig {
    return this.#configOf(this.#place(this.#current));
  }

  /** For pools, which create their connections themselves: each leads to the server that was found last. */
  clientClass(): new () => ServerClient {
    const create = (): ServerClientOptions => this.#clientOptions(this.config());
    return class extends ServerClient {
      constructor() {
        super(create());
      }
    };
  }

  /** Whether a connection leads to the server that was found last, and can write as far as is known. */
  isCurrent(client: ServerClient): boolean {
    return client.generation === this.#generation && !client.isReadOnly;
  }

  /** The server of this connection can only be read: other connections that were opened before lead there, too. */
  abandon(client: ServerClient): void {
    if (client.generation === this.#generation) this.#generation += 1;
  }

  /** For the end: whatever the server does, no connection is left. */
  destroyConnections(): void {
    for (const client of this.#opened) client.destroy();
  }

  async #connectTo(index: number): Promise<ServerClient> {
    const place = this.#place(index);
    for (;;) {
      try {
        const client = new ServerClient(this.#clientOptions(this.#configOf(place)));
        const lockTimeoutMs = await connectWritable(client);
        const { limits } = this.#options;
        if (limits !== null && lockTimeoutMs !== limits.lockTimeoutMs) {
          this.#hasSessionLimits = false;
        }
        return client;
      } catch (error) {
        if (!this.#learnFrom(error, place)) throw error;
      }
    }
  }

  #clientOptions(config: ClientConfig): ServerClientOptions {
    return { config, opened: this.#opened, generation: this.#generation };
  }

  /** Whether another attempt on the same host makes sense; each reason applies once. */
  #learnFrom(error: unknown, place: Place): boolean {
    const text = textOf(error);
    if (place.hasTls && this.#options.address.sslMode === 'prefer' && NO_TLS.test(text)) {
      place.hasTls = false;
      return true;
    }
    if (this.#hasSessionLimits && UNSUPPORTED_PARAMETER.test(text)) {
      this.#hasSessionLimits = false;
      return true;
    }
    return false;
  }

  #configOf({ hasTls, host, port }: Place): ClientConfig {
    const { address, databaseName, limits } = this.#options;
    const sessionLimits = this.#hasSessionLimits ? limits : null;
    return {
      host,
      port,
      user: address.user,
      database: address.database ?? databaseName,
      // A function keeps the driver from looking in other places, too.
      password: () => passwordOf(this.#options),
      ssl: hasTls ? tlsOptions(address) : false,
      application_name: address.applicationName ?? 'stepwright',
      connectionTimeoutMillis: this.connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      statement_timeout: sessionLimits?.statementTimeoutMs ?? false,
      ...(sessionLimits !== null && { lock_timeout: sessionLimits.lockTimeoutMs }),
      // Statements of a transaction are sent without waiting for the answers that nothing depends on.
      pipeline: true,
      types: PARSERS,
    };
  }

  #place(index: number): Place {
    const place = this.#places[index];
    if (place === undefined) throw new RangeError('There is no such host');
    return place;
  }
}

function passwordOf({ address, passwordFile }: PostgresServersOptions): string {
  if (passwordFile === null) {
    if (address.password !== null && address.password !== '') return address.password;
    throw new Error(
      'it asks for a password; set dbhost_password_file, or put one into the address',
    );
  }
  // Editors end files with a line break, which is not part of the password.
  return withoutByteOrderMark(readFileSync(passwordFile, 'utf8')).replace(/\r?\n$/, '');
}

const NO_TLS = /does not support SSL connections/;
/** PgBouncer, unless its `ignore_startup_parameters` names the parameter. */
const UNSUPPORTED_PARAMETER = /unsupported startup parameter/;

interface ServerClientOptions {
  readonly config: ClientConfig;
  readonly opened: Set<ServerClient>;
  readonly generation: number;
}

/** Knows whether its server can be written to: servers from version 14 on report it, unless a pooler is in between. */
export class ServerClient extends Client {
  readonly generation: number;
  readonly #reported = new Map<string, boolean>();
  #isReadOnly = false;

  constructor({ config, generation, opened }: ServerClientOptions) {
    super(config);
    this.generation = generation;
    opened.add(this);
    this.once('end', () => opened.delete(this));
    this.connection.on('parameterStatus', (status: ParameterStatus) => {
      const { parameterName, parameterValue } = status;
      if (!READ_ONLY_PARAMETERS.has(parameterName)) return;
      this.#reported.set(parameterName, parameterValue === 'on');
      this.#isReadOnly = [...this.#reported.values()].includes(true);
    });
    // An error while nobody asks anything would otherwise end the process; the next statement fails with it.
    this.on('error', () => undefined);
  }

  /** As far as it has been reported. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** For a new connection. @throws Error if the server can only be read */
  async checkWritable(): Promise<void> {
    const isReported = this.#reported.size === READ_ONLY_PARAMETERS.size;
    if (isReported ? this.isReadOnly : (await this.readSession()).isReadOnly) {
      throw new Error(READ_ONLY);
    }
  }

  /** What a pooler does not report. */
  async readSession(): Promise<{ readonly isReadOnly: boolean; readonly lockTimeoutMs: number }> {
    // The driver reads query_timeout, although its types do not contain it.
    const query = { text: READ_SESSION, query_timeout: SESSION_TIMEOUT_MS };
    const { rows } = await this.query<SessionRow>(query);
    const [row] = rows;
    return { isReadOnly: row?.is_read_only !== false, lockTimeoutMs: row?.lock_timeout_ms ?? 0 };
  }

  /** Without saying goodbye to a server that may not listen. */
  destroy(): void {
    this.connection.stream.destroy();
  }
}

const READ_ONLY = 'the server can only be read';
const SESSION_TIMEOUT_MS = 2000;
/** `transaction_read_only` is on in standbys and where the default is read-only. */
const READ_SESSION = `
SELECT current_setting('transaction_read_only')::boolean AS is_read_only, setting::int AS lock_timeout_ms
  FROM pg_settings WHERE name = 'lock_timeout'`;

interface SessionRow {
  readonly is_read_only: boolean;
  readonly lock_timeout_ms: number;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Returns the limit for waiting for locks that the session has. */
async function connectWritable(client: ServerClient): Promise<number> {
  try {
    await client.connect();
    const { isReadOnly, lockTimeoutMs } = await client.readSession();
    if (isReadOnly || client.isReadOnly) throw new Error(READ_ONLY);
    return lockTimeoutMs;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

/** Times and counters are far below 2^53. */
const PARSERS = new TypeOverrides();
PARSERS.setTypeParser(types.builtins.INT8, Number);

/**
 * What libpq does: only the two `verify` modes, and `require` with a CA file, check the certificate. The files are small,
 * and connections few.
 */
function tlsOptions(address: PostgresAddress): ConnectionOptions {
  const { caFile, certificateFile, keyFile, sslMode } = address;
  const verifies =
    sslMode === 'verify-full' ||
    sslMode === 'verify-ca' ||
    (sslMode === 'require' && caFile !== null);
  return {
    rejectUnauthorized: verifies,
    ...(caFile !== null && { ca: lastReadable(caFile) }),
    ...(certificateFile !== null && { cert: lastReadable(certificateFile) }),
    ...(keyFile !== null && { key: lastReadable(keyFile) }),
    // Only `verify-full` compares the name in the certificate.
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

const readable = new Map<string, string>();

/** A file that is being replaced may be missing for a moment: then the connection is made with what it held before. */
function lastReadable(file: string): string {
  try {
    readable.set(file, withoutByteOrderMark(readFileSync(file, 'utf8')));
  } catch (error) {
    if (!readable.has(file)) throw error;
  }
  return readable.get(file) ?? '';
}

function isSocket({ host }: PostgresHost): boolean {
  return host.startsWith('/');
}

function nameOf({ host, port }: PostgresHost): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** An error of several addresses of one name has no message of its own. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}
