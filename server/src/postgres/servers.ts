/**
 * Connections to PostgreSQL: which of the hosts of an address, with or without TLS, with which password.
 *
 * Owns: what is known about the hosts. A server that can only be read (a standby, a primary that was demoted) is passed
 * over. One caller at a time looks for a server; the store and the backplane decide when.
 *
 * Nothing is taken from the environment (`PGHOST` and the like) or from `.pgpass`: the settings say all.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
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
  /** The server ends statements that run longer; null: it does not. */
  readonly statementTimeoutMs: number | null;
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
  /** False once a connection pooler has refused the parameter. */
  #sendsStatementTimeout: boolean;

  constructor(options: PostgresServersOptions) {
    this.#options = options;
    this.#sendsStatementTimeout = options.statementTimeoutMs !== null;
    this.#places = options.address.hosts.map((host) => ({
      ...host,
      hasTls: options.address.sslMode !== 'disable' && !isSocket(host),
    }));
  }

  get connectTimeoutMs(): number {
    return this.#options.address.connectTimeoutMs ?? this.#options.connectTimeoutMs;
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
    const create = (): ClientConfig => this.config();
    const opened = this.#opened;
    return class extends ServerClient {
      constructor() {
        super(create(), opened);
      }
    };
  }

  /** For the end: whatever the server does, no connection is left. */
  destroyConnections(): void {
    for (const client of this.#opened) client.destroy();
  }

  async #connectTo(index: number): Promise<ServerClient> {
    const place = this.#place(index);
    for (;;) {
      try {
        return await connectWritable(new ServerClient(this.#configOf(place), this.#opened));
      } catch (error) {
        if (!this.#learnFrom(error, place)) throw error;
      }
    }
  }

  /** Whether another attempt on the same host makes sense; each reason applies once. */
  #learnFrom(error: unknown, place: Place): boolean {
    const text = textOf(error);
    if (place.hasTls && this.#options.address.sslMode === 'prefer' && NO_TLS.test(text)) {
      place.hasTls = false;
      return true;
    }
    if (this.#sendsStatementTimeout && UNSUPPORTED_PARAMETER.test(text)) {
      this.#sendsStatementTimeout = false;
      return true;
    }
    return false;
  }

  #configOf({ hasTls, host, port }: Place): ClientConfig {
    const { address, databaseName, statementTimeoutMs } = this.#options;
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
      statement_timeout: this.#sendsStatementTimeout && (statementTimeoutMs ?? false),
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
  return readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '');
}

const NO_TLS = /does not support SSL connections/;
/** PgBouncer, unless its `ignore_startup_parameters` names the parameter. */
const UNSUPPORTED_PARAMETER = /unsupported startup parameter/;

/** Knows whether its server can be written to, without asking: servers from version 14 on tell by themselves. */
export class ServerClient extends Client {
  readonly #readOnly = new Set<string>();

  constructor(config: ClientConfig, opened: Set<ServerClient>) {
    super(config);
    opened.add(this);
    this.once('end', () => opened.delete(this));
    this.connection.on('parameterStatus', (status: ParameterStatus) => {
      if (!READ_ONLY_PARAMETERS.has(status.parameterName)) return;
      if (status.parameterValue === 'on') this.#readOnly.add(status.parameterName);
      else this.#readOnly.delete(status.parameterName);
    });
    // An error while nobody asks anything would otherwise end the process; the next statement fails with it.
    this.on('error', () => undefined);
  }

  get isReadOnly(): boolean {
    return this.#readOnly.size > 0;
  }

  /** Without saying goodbye to a server that may not listen. */
  destroy(): void {
    this.connection.stream.destroy();
  }
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

async function connectWritable(client: ServerClient): Promise<ServerClient> {
  try {
    await client.connect();
    if (client.isReadOnly) throw new Error('the server can only be read');
    return client;
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
    readable.set(file, readFileSync(file, 'utf8'));
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
