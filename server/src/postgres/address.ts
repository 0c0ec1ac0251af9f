/**
 * Addresses of PostgreSQL (`postgres://` or `postgresql://`) as libpq reads them: several hosts, `sslmode`, CA files.
 *
 * The driver's own parser supports only one host and gives `sslmode` another meaning. Unknown parameters are rejected, so
 * that none is silently ignored. Messages name parts of the address but never their values, because a password with an
 * unescaped character may end up in any of them.
 */

export const POSTGRES_SCHEMES = ['postgres', 'postgresql'] as const;

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

export interface PostgresHost {
  /** A name, an IP address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface PostgresAddress {
  /** At least one; they are tried in this order. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly password: string | null;
  /** Null if the address names none. */
  readonly database: string | null;
  readonly sslMode: SslMode;
  /** Paths of PEM files. `caFile` null: the public certificate authorities that Node trusts. */
  readonly caFile: string | null;
  readonly certificateFile: string | null;
  readonly keyFile: string | null;
  readonly applicationName: string | null;
  /** The schema of the tables; Stepwright's own parameter. */
  readonly schema: string;
  /** Null: the default. */
  readonly connectTimeoutMs: number | null;
}

const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'application_name',
  'target_session_attrs',
  'schema',
  'connect_timeout',
] as const;
type Parameter = (typeof PARAMETERS)[number];

/** Parameters that other programs need in the same address, and that have no effect here. */
const IGNORED: ReadonlySet<string> = new Set([
  'client_encoding',
  'connection_limit',
  'fallback_application_name',
  'gssencmode',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'pgbouncer',
  'pool_timeout',
  'sslsni',
  'tcp_user_timeout',
]);

/** Parameters that must not be ignored; a message may name them. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'channel_binding',
  'hostaddr',
  'options',
  'passfile',
  'replication',
  'require_auth',
  'service',
  'ssl',
  'sslcrl',
  'sslnegotiation',
  'sslpassword',
  'statement_timeout',
]);

const DEFAULT_PORT = 5432;
const HOSTS_MAX = 16;
const DEFAULT_SCHEMA = 'stepwright';
/** PostgreSQL truncates longer names. */
const SCHEMA_BYTES_MAX = 63;

/** Scheme, user and password, hosts, database, parameters. */
const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
/** A name or an address, or an IPv6 address in brackets, perhaps with a port. */
const HOST = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*))(?::(\d{0,5}))?$/;

export function isPostgresAddress(address: string): boolean {
  return POSTGRES_SCHEMES.some((scheme) => address.startsWith(`${scheme}://`));
}

/** @throws Error whose message completes a sentence that begins with the name of the setting */
export function readPostgresAddress(address: string): PostgresAddress {
  const [, login = '', hostList = '', path = '', query = ''] =
    FORM.exec(address) ??
    refuse(
      'must have the form postgres://user:password@host:port/database?sslmode=…, ' +
        'with special characters of the password percent-encoded',
    );
  const parameters = readParameters(query);
  const colon = login.indexOf(':');
  const user = decode(colon < 0 ? login : login.slice(0, colon));
  const password = colon < 0 ? null : decode(login.slice(colon + 1));
  const database = decode(path);
  checkSessionAttributes(parameters.get('target_session_attrs'));
  const read: PostgresAddress = {
    hosts: readHosts(hostList, parameters),
    user: parameters.get('user') ?? user,
    password: parameters.get('password') ?? password,
    database: parameters.get('dbname') ?? (database === '' ? null : database),
    sslMode: readSslMode(parameters.get('sslmode')),
    caFile: readCaFile(parameters.get('sslrootcert')),
    certificateFile: parameters.get('sslcert') ?? null,
    keyFile: parameters.get('sslkey') ?? null,
    applicationName: parameters.get('application_name') ?? null,
    schema: readSchema(parameters.get('schema')),
    connectTimeoutMs: readConnectTimeout(parameters.get('connect_timeout')),
  };
  checkTogether(read, parameters);
  return read;
}

function checkTogether(
  { certificateFile, keyFile, sslMode, user }: PostgresAddress,
  parameters: ReadonlyMap<Parameter, string>,
): void {
  if (user === '') refuse('must name a user, as in postgres://user@host/database');
  if (sslMode === 'verify-ca' && !parameters.has('sslrootcert')) {
    refuse('has sslmode=verify-ca without sslrootcert, the file with the certificate authority');
  }
  if (sslMode === 'disable' && parameters.has('sslrootcert')) {
    refuse('has sslrootcert together with sslmode=disable');
  }
  if ((certificateFile === null) !== (keyFile === null)) {
    refuse('must have sslcert and sslkey together');
  }
}

function readParameters(query: string): ReadonlyMap<Parameter, string> {
  const parameters = new Map<Parameter, string>();
  if (query === '') return parameters;
  for (const part of query.split('&')) {
    const [given = '', ...rest] = part.split('=');
    if (IGNORED.has(given)) continue;
    const name = PARAMETERS.find((known) => known === given);
    if (name === undefined) {
      // Anything else may be part of a password.
      const shown = UNSUPPORTED.has(given) ? `the parameter ${given}, which` : 'a parameter that';
      refuse(`has ${shown} is not supported; supported are ${PARAMETERS.join(', ')}`);
    }
    if (parameters.has(name)) refuse(`has the parameter ${name} twice`);
    if (rest.length !== 1) refuse(`has the parameter ${name} without a value`);
    parameters.set(name, decode(rest.join('=')));
  }
  return parameters;
}

function readHosts(
  hostList: string,
  parameters: ReadonlyMap<Parameter, string>,
): readonly PostgresHost[] {
  const named = parameters.get('host');
  if (named !== undefined && hostList !== '') refuse('names hosts twice');
  // A socket directory given as a parameter contains no port, and is already decoded.
  const entries =
    named === undefined ? hostList.split(',').map(readHost) : named.split(',').map(plainHost);
  if (entries.length > HOSTS_MAX) refuse(`names more than ${HOSTS_MAX} hosts`);
  const ports = parameters.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== entries.length) {
    refuse('must have one port for all hosts, or one for each');
  }
  return entries.map(({ host, port }, index) => {
    if (host === '') refuse('must name a host');
    return { host, port: port ?? readPort(ports[ports.length === 1 ? 0 : index]) ?? DEFAULT_PORT };
  });
}

function readHost(text: string): { readonly host: string; readonly port: number | null } {
  const [, bracketed, plain = '', port] =
    HOST.exec(text) ??
    refuse(
      'has a host that cannot be read; special characters of a password must be percent-encoded',
    );
  return { host: bracketed ?? decode(plain), port: readPort(port) };
}

function plainHost(host: string): { readonly host: string; readonly port: null } {
  return { host, port: null };
}

function readPort(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) refuse('must have ports from 1 to 65535');
  return port;
}

function readSslMode(text: string | undefined): SslMode {
  if (text === undefined) return 'prefer';
  return (
    SSL_MODES.find((mode) => mode === text) ??
    refuse(`must have an sslmode of ${SSL_MODES.join(', ')}`)
  );
}

/** `system` is libpq's term for the authorities that the machine trusts. */
function readCaFile(text: string | undefined): string | null {
  return text === undefined || text === 'system' ? null : text;
}

/** The server needs a database that it can write to, whatever the address says. */
function checkSessionAttributes(text: string | undefined): void {
  if (text === undefined || ['any', 'read-write', 'primary'].includes(text)) return;
  refuse('must have a target_session_attrs of read-write, primary or any: the server writes');
}

function readSchema(text = DEFAULT_SCHEMA): string {
  if (text === '' || Buffer.byteLength(text) > SCHEMA_BYTES_MAX) {
    refuse(`must have a schema of 1 to ${SCHEMA_BYTES_MAX} bytes`);
  }
  if (text.startsWith('pg_'))
    refuse('has a schema that begins with pg_, which PostgreSQL reserves');
  return text;
}

function readConnectTimeout(text: string | undefined): number | null {
  if (text === undefined || text === '0') return null;
  if (!/^[1-9]\d{0,3}$/.test(text)) refuse('must have a connect_timeout in whole seconds');
  return Number(text) * 1000;
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    return refuse('has a percent sign that encodes nothing; write %25 for a percent sign');
  }
  if (decoded.includes('\0')) refuse('contains a NUL character');
  return decoded;
}

function refuse(problem: string): never {
  throw new Error(problem);
}
